import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";

export type DialectName = "mcp" | "nvim" | "clawft";

/**
 * Where clients of older systems expect another answer than MCP's. `mcp` is what the specification says and the
 * only one to recommend.
 */
export interface Dialect {
  /** `result`: a result with `isError`, which the model can read. */
  unknownTool(name: string): RpcError | "result";
  parseError(): RpcError;
  /** What stands in for an id that could not be read. MCP's schemas have no null id. */
  readonly missingId: null | undefined;
  /** Legacy: may `ping` come before `initialize`? */
  readonly pingsEarly: boolean;
}

const parseError = (code: number): RpcError => new RpcError(code, "Parse error", { status: 400 });

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  mcp: {
    unknownTool: (name) => new RpcError(rpcErrors.invalidParams, `Unknown tool: ${name}`),
    parseError: () => parseError(rpcErrors.parseError),
    missingId: undefined,
    pingsEarly: true,
  },
  nvim: {
    unknownTool: (name) => new RpcError(rpcErrors.methodNotFound, `Tool not found: ${name}`),
    parseError: () => parseError(rpcErrors.parseError),
    missingId: null,
    pingsEarly: true,
  },
  clawft: {
    unknownTool: () => "result",
    parseError: () => parseError(rpcErrors.invalidRequest),
    missingId: null,
    pingsEarly: false,
  },
};

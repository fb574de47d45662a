/**
 * Why a call failed. The table is closed: a door maps each code to its own protocol, and a test pins it.
 * `as` says how a client learns of it: as a protocol error, or as a result with `isError` that the
 * model can act on (specification 2026-07-28, server/tools, Error Handling).
 */
export const toolErrorCodes = {
  /** There is no such tool, or this caller may not see it. */
  NotFound: { as: "error" },
  /** The arguments break the tool's schema. */
  InvalidArguments: { as: "result" },
  /** The tool's answer breaks its own output schema. */
  InvalidOutput: { as: "result" },
  /** The tool failed. */
  ExecutionFailed: { as: "result" },
  /** The caller sees the tool and may not do this now. */
  PermissionDenied: { as: "result" },
  /** The call took longer than its limit. */
  TimedOut: { as: "result" },
  /** The answer is larger than a limit. */
  ResultTooLarge: { as: "result" },
  /** An upstream cannot be reached now. */
  Unavailable: { as: "result" },
  /** Something is asked for that this build, tool or peer cannot do. */
  Unsupported: { as: "result" },
  /** The caller has too many calls in flight. */
  TooManyRequests: { as: "error" },
  /** It needs something of the client that the client did not declare; `data.requiredCapabilities` says what. */
  MissingClientCapability: { as: "error" },
  /** The client answered a question with an error; `data.error` is that error. */
  ClientRefused: { as: "result" },
  /** The caller cancelled. Nobody waits for an answer. */
  Cancelled: { as: "error" },
  /** An upstream answered with a protocol error of its own; `data.error` is that error. */
  UpstreamError: { as: "error" },
} as const satisfies Record<string, { as: "error" | "result" }>;

export type ToolErrorCode = keyof typeof toolErrorCodes;

export interface ToolErrorOptions {
  cause?: unknown;
  /** Travels to the client with a protocol error. */
  data?: unknown;
}

/**
 * The one error of the call path. Its message is written for the person or model that made the call;
 * a `cause` stays in the log.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly code: ToolErrorCode;
  readonly data: unknown;

  constructor(code: ToolErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
  }

  static notFound(name: string): ToolError {
    return new ToolError("NotFound", `Unknown tool: ${name}`);
  }
}

/** For the log. Anything can be thrown, even what has no text. */
export function describe(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.stack ?? thrown) : String(thrown);
  } catch {
    return "something was thrown that cannot be shown as text";
  }
}

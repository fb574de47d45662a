import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { needs, type Skip } from "./tools.ts";

export interface InspectorResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the MCP Inspector's command line (`--cli` is added), for example with
 * `["--server-url", url, "--transport", "http", "--method", "tools/list", "--protocol-era", "modern"]`.
 * Skips the test where the Inspector or the Node it wants is missing.
 */
export async function inspectorCli(args: readonly string[], skip: Skip): Promise<InspectorResult> {
  const node = needs("node24", skip);
  const script = needs("inspector", skip);
  // It keeps a catalogue of servers in its home, and starts helpers with the `node` it finds.
  const home = await mkdtemp(join(tmpdir(), "toolgate-inspector-"));
  const env = { HOME: home, PATH: `${dirname(node)}:${process.env["PATH"] ?? ""}` };
  try {
    return await new Promise((resolve) => {
      execFile(
        node,
        [script, "--cli", ...args],
        { env, cwd: home, timeout: 25_000 },
        (error, stdout, stderr) => {
          const code = typeof error?.code === "number" ? error.code : error ? -1 : 0;
          resolve({ code, stdout, stderr });
        },
      );
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

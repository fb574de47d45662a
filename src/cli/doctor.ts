import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { dirname } from "node:path";
import { stateFolder } from "../gateway/token.ts";
import type { Gateway, UpstreamStatus } from "../gateway/types.ts";
import { parseFlags } from "./flags.ts";
import { exitCodes, type Io } from "./io.ts";
import { count, oneLine, styleOf, writeLine, type Style } from "./output.ts";
import { withGateway } from "./session.ts";
import { describeUpstream } from "./upstreamLine.ts";

/** Kept equal to package.json's `engines` by a test. */
export const leastNode = "20.19";

/** `toolgate doctor`: what works here, each upstream, and why not. */
export async function doctor(argv: readonly string[], io: Io): Promise<number> {
  const { values } = parseFlags(argv, { config: { type: "string" } });
  const report = new Report(io);
  report.line("Toolgate", io.version);
  report.check("Node", isSupported(io.nodeVersion), io.nodeVersion, `Node ${leastNode} or newer is needed.`);
  const folder = stateFolder(io.env);
  report.check(
    "State",
    await isWritable(folder),
    folder,
    "This user cannot write there. Set XDG_STATE_HOME.",
  );
  return withGateway(io, values.config, async ({ gateway }) => {
    report.line("Processes", `${gateway.containment.level}: ${oneLine(gateway.containment.explain)}`);
    await reportUpstreams(io, gateway, report);
    return report.failed ? exitCodes.unreachable : exitCodes.done;
  });
}

async function reportUpstreams(io: Io, gateway: Gateway, report: Report): Promise<void> {
  const started = io.now().getTime();
  report.line("Upstreams", count(gateway.upstreams().length, "server"));
  const tell = (status: UpstreamStatus): void => {
    if (status.state !== "starting") report.upstream(status, io.now().getTime() - started);
  };
  gateway.upstreams().forEach(tell);
  const stop = gateway.onUpstream(tell);
  await gateway.settled();
  stop();
}

class Report {
  /** Something does not work. */
  failed = false;
  readonly #io: Io;
  readonly #style: Style;
  readonly #told = new Set<string>();

  constructor(io: Io) {
    this.#io = io;
    this.#style = styleOf(io.stdout, io.env);
  }

  line(label: string, text: string): void {
    writeLine(this.#io.stdout, `${this.#style.bold(label.padEnd(10))} ${text}`);
  }

  check(label: string, works: boolean, text: string, otherwise: string): void {
    if (!works) this.failed = true;
    this.line(label, works ? text : `${text} ${this.#style.red(otherwise)}`);
  }

  /** Only the first state counts: an upstream may end while others still start. */
  upstream(status: UpstreamStatus, ms: number): void {
    if (this.#told.has(status.namespace)) return;
    this.#told.add(status.namespace);
    if (status.state === "failed") this.failed = true;
    writeLine(this.#io.stdout, `  ${describeUpstream(status, this.#style)} ${this.#style.dim(`(${ms} ms)`)}`);
  }
}

function isSupported(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, "").split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = leastNode.split(".").map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** Whether a folder could be made or used; nothing is made. */
async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return missing && dirname(folder) !== folder && isWritable(dirname(folder));
  }
}

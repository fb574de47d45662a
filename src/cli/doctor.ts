import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { stateFolder } from "../gateway/token.ts";
import type { ParsedConfig } from "../gateway/config.ts";
import type { Gateway, UpstreamStatus } from "../gateway/types.ts";
import { parseFlags } from "./flags.ts";
import { exitCodes, type Io } from "./io.ts";
import { count, oneLine, styleOf, writeLine, type Style } from "./output.ts";
import { upstreamSettled, withGateway } from "./session.ts";
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
  return withGateway(io, { configPath: values.config }, async ({ gateway, parsed }) => {
    await reportConfig(parsed, report);
    report.line("Processes", `${gateway.containment.level}: ${oneLine(gateway.containment.explain)}`);
    await reportUpstreams(io, gateway, report);
    return report.failed ? exitCodes.unreachable : exitCodes.done;
  });
}

async function reportConfig({ config, file, notes }: ParsedConfig, report: Report): Promise<void> {
  report.line(
    "Config",
    file ?? "none: ./toolgate.json is not there, so the file tools work in the current folder",
  );
  const workspace = config.tools?.workspace;
  if (workspace !== undefined)
    report.check("Workspace", await isFolder(workspace), workspace, "There is no such folder. Make it.");
  for (const { message } of notes) report.line("Note", oneLine(message));
}

/** In the order of the configuration, each as soon as it and those before it have settled. */
async function reportUpstreams(io: Io, gateway: Gateway, report: Report): Promise<void> {
  const started = io.now().getTime();
  const upstreams = gateway.upstreams();
  report.line("Upstreams", count(upstreams.length, "server"));
  const settling = upstreams.map(async ({ namespace }, at) => {
    await upstreamSettled(gateway, namespace);
    return { status: gateway.upstreams()[at]!, ms: io.now().getTime() - started };
  });
  for (const settled of settling) {
    const { status, ms } = await settled;
    report.upstream(status, ms);
  }
}

class Report {
  /** Something does not work. */
  failed = false;
  readonly #io: Io;
  readonly #style: Style;

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

  upstream(status: UpstreamStatus, ms: number): void {
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

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

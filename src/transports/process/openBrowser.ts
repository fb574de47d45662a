import { spawn } from "node:child_process";
import { platform } from "node:os";

export interface BrowserOptions {
  /** `BROWSER`, and what the browser itself is to have. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: this machine's. */
  readonly platform?: NodeJS.Platform;
}

/**
 * Shows a page in the person's browser: `$BROWSER`, else what the desktop opens pages with. False where there is
 * none; whether one that starts then shows it is not known. It outlives this process.
 */
export async function openBrowser(url: URL, options: BrowserOptions): Promise<boolean> {
  const [command = "", ...args] = commandFor(url.href, options);
  const child = spawn(command, args, { env: options.env, detached: true, stdio: "ignore" });
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

/** `BROWSER` may be a list with colons between, each with a `%s` for the page; the first is taken, and no shell. */
function commandFor(page: string, { env, platform: system = platform() }: BrowserOptions): string[] {
  const [own = ""] = (env["BROWSER"] ?? "").split(":");
  const words = own.split(" ").filter((word) => word !== "");
  if (words.length === 0) return [system === "darwin" ? "open" : "xdg-open", page];
  const filled = words.map((word) => word.replaceAll("%s", () => page));
  return own.includes("%s") ? filled : [...filled, page];
}

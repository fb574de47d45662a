/** What is wrong with a text: a variable that is not set, or a reference that nobody can follow. */
export type VariableProblem = { readonly unset: string } | { readonly mistake: string };

export interface Expanded {
  readonly text: string;
  /** Empty: `text` is whole. */
  readonly problems: readonly VariableProblem[];
}

/** Replaces `${env:NAME}`, `${NAME}` and `${NAME:-default}`, once: a value that looks like one of them stays. */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): Expanded {
  const problems: VariableProblem[] = [];
  const expanded = text.replace(/\$\{([^}]*)\}/g, (whole, inside: string) => {
    const { prefix, name, fallback } = reference.exec(inside)?.groups ?? {};
    if (name === undefined || (prefix === undefined && foreign.has(name))) {
      problems.push({ mistake: explain(whole, inside) });
      return "";
    }
    const value = (Object.hasOwn(env, name) ? env[name] : undefined) ?? fallback;
    if (value === undefined) problems.push({ unset: name });
    return value ?? "";
  });
  return { text: expanded, problems };
}

/** A default goes with the bare name only: it is the shell's and Claude Code's way to write both. */
const reference = /^(?:(?<prefix>env:)(?=\w+$))?(?<name>[A-Za-z_]\w*)(?::-(?<fallback>.*))?$/s;

/** Predefined variables of VS Code and Cursor, which look like environment variables and are none. */
const foreign: ReadonlySet<string> = new Set([
  "userHome",
  "workspaceFolder",
  "workspaceFolderBasename",
  "workspaceRoot",
  "pathSeparator",
  "cwd",
  "execPath",
  "file",
  "fileDirname",
  "fileWorkspaceFolder",
]);

function explain(whole: string, inside: string): string {
  if (inside.startsWith("input:"))
    return `Toolgate cannot prompt for "${whole}". Set an environment variable and write \${env:NAME}.`;
  if (inside === "userHome") return 'Toolgate has no "${userHome}". Write ${env:HOME}.';
  if (inside === "pathSeparator" || inside === "/") return `Toolgate has no "${whole}". Write "/".`;
  if (inside === "env:") return "${env:} names no variable. Write ${env:NAME}.";
  if (foreign.has(inside.split(":")[0]!))
    return `Toolgate has no "${whole}". Write a path: "cwd" and "workspace" may be relative to this file.`;
  return `"${whole}" is not understood. For an environment variable write \${NAME} or \${NAME:-default}.`;
}

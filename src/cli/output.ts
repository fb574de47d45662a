import type { Io, Output } from "./io.ts";

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

/** Colours on a terminal only, and never where `NO_COLOR` is set (https://no-color.org). */
export function styleOf(output: Output, env: Io["env"]): Style {
  const on = output.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const paint =
    (code: number) =>
    (text: string): string =>
      on ? `\u001B[${code}m${text}\u001B[0m` : text;
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33) };
}

/** Text that an upstream wrote, on one line and without a way to command the terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

/** As `oneLine`, with its lines and tabs kept. */
export function printable(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(/(?![\n\t])\p{Cc}/gu, "");
}

/** Cuts to `width` characters, the last of which says that something is missing. */
export function cut(text: string, width: number): string {
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  return `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Rows as columns, each as wide as its widest cell; the last one is cut to the terminal's width. */
export function table(rows: readonly (readonly string[])[], width: number | undefined): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) => {
    const head = row.slice(0, -1).map((cell, column) => cell.padEnd(widths[column]! + 2));
    const start = head.join("");
    const last = row.at(-1) ?? "";
    const room = width === undefined ? Infinity : Math.max(width - start.length, 10);
    return (start + cut(last, room)).trimEnd();
  });
}

export function writeLine(output: Output, line: string): void {
  output.write(`${line}\n`);
}

/** `1 tool`, `2 tools`. */
export function count(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? "" : "s"}`;
}

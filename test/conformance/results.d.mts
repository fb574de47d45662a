/** As the suite writes it to `checks.json`. */
export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly description: string;
  readonly errorMessage?: string;
}

export type Leg = "server" | "client";

export interface Judgement {
  readonly verdict: "passed" | "warned" | "failed" | "missing";
  readonly messages: readonly string[];
}

export interface Cell {
  readonly mark: string;
  readonly counts: "passed" | "failed" | "excepted" | "unscored";
  readonly messages: readonly string[];
}

/** Why a scenario may fail. */
export interface Exception {
  readonly reason: string;
  readonly always: boolean;
}

type Reasons = Readonly<Record<string, string>>;

export interface Section {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly Cell[] }[];
}

export function readResults(folder: string, leg: Leg): Promise<Map<string, readonly Check[]>>;
export function scenarioOf(folder: string, leg: Leg): string;
export function judge(checks: readonly Check[] | undefined, leg: Leg): Judgement;
export function toCell(
  judgement: Judgement,
  of: { scored: boolean; exception?: Exception | undefined },
): Cell;
export function formatTable(sections: readonly Section[]): string;
export function explain(sections: readonly Section[]): string;
export function countCells(sections: readonly Section[]): Record<Cell["counts"], number>;
export function readExceptions(
  file: { readonly always: Reasons; readonly sometimes: Reasons },
  scored: readonly string[],
): ReadonlyMap<string, Exception>;

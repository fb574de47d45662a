import { isBuiltin } from "node:module";
import { parseSync } from "oxc-parser";
import { importsOf, resolveImport } from "./imports.ts";

/**
 * The names that an entry point exports, sorted, types as `type Name`. Throws an `Error` where it is not a plain
 * list: with `export *` or a declaration nobody sees in one place what is public.
 */
export function exportedNames(path: string, source: string): string[] {
  const names: string[] = [];
  for (const statement of parseSync(path, source).program.body) {
    if (statement.type !== "ExportNamedDeclaration" || statement.declaration)
      throw new Error(
        `${path} holds "${source.slice(statement.start, statement.end)}". List names: export { a } from "...".`,
      );
    for (const { exported, exportKind } of statement.specifiers) {
      const name = exported.type === "Identifier" ? exported.name : exported.value;
      names.push(statement.exportKind === "type" || exportKind === "type" ? `type ${name}` : name);
    }
  }
  return names.toSorted();
}

/** The built-ins that loading `entry` loads, each with the file that names it. Paths are those of `files`. */
export function builtinsReachedFrom(entry: string, files: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  const reached = new Set([entry]);
  // The set grows while it is walked.
  for (const path of reached)
    for (const { specifier, erased } of importsOf(path, files.get(path) ?? "")) {
      const target = resolveImport(path, specifier);
      if (erased) continue;
      if (target !== undefined) reached.add(target);
      else if (isBuiltin(specifier)) found.push(`${path} imports ${specifier}`);
    }
  return found;
}

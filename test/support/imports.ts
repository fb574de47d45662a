import { dirname, join } from "node:path/posix";
import { parseSync, Visitor } from "oxc-parser";

/** One import, `export ... from`, dynamic `import()` or `import("...")` type. */
export interface Import {
  readonly specifier: string;
  /** True if nothing of it is left at run time: `import type`, not `import { type X }`, which still loads the module. */
  readonly erased: boolean;
}

/** Every module that a TypeScript source names. Throws an `Error` if the source does not parse. */
export function importsOf(path: string, source: string): Import[] {
  const { program, errors } = parseSync(path, source);
  if (errors[0]) throw new Error(`${path} does not parse: ${errors[0].message}`);
  const found: Import[] = [];
  new Visitor({
    ImportDeclaration: (node) => add(node.source.value, node.importKind === "type"),
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind === "type"),
    ExportNamedDeclaration: (node) => node.source && add(node.source.value, node.exportKind === "type"),
    ImportExpression: (node) => node.source.type === "Literal" && add(String(node.source.value), false),
    TSImportType: (node) => add(node.source.value, true),
  }).visit(program);
  return found;

  function add(specifier: string, erased: boolean): void {
    found.push({ specifier, erased });
  }
}

/** The file that a relative specifier means, or undefined for a package or a built-in. Paths are posix. */
export function resolveImport(from: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? join(dirname(from), specifier) : undefined;
}

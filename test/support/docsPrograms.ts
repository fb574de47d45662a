import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { Block } from "./docs.ts";
import { root } from "./paths.ts";

const run = promisify(execFile);

/** The programs of the pages, as compiled. */
export interface Programs {
  /** Runs one in `cwd` and resolves with what it printed; rejects if it fails. */
  run(block: Block, cwd: string): Promise<string>;
  remove(): Promise<void>;
}

/** `README.md:66` -> `README-66.mts`. */
const nameOf = ({ place, language }: Block): string =>
  `${basename(place).replace(".md:", "-")}.m${language.slice(0, 1)}s`;

/**
 * Compiles programs against the built package, as its users do: strictly, in JavaScript as well. They lie inside the
 * repository, where `import "toolgate"` means this package. Rejects with what the compiler says.
 */
export async function compilePrograms(blocks: readonly Block[]): Promise<Programs> {
  // Not in node_modules: there a package does not know itself.
  await mkdir(join(root, ".cache"), { recursive: true });
  const folder = await mkdtemp(join(root, ".cache/docs-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true });
  const config = {
    extends: "../../tsconfig.json",
    compilerOptions: { noEmit: false, outDir: "out", rootDir: ".", allowJs: true, checkJs: true },
    include: ["*.mts", "*.mjs"],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  await Promise.all(blocks.map((block) => writeFile(join(folder, nameOf(block)), block.text)));
  try {
    await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], {
      cwd: folder,
    });
  } catch (error) {
    await remove();
    throw new Error(`Programs in the pages do not compile:\n${(error as { stdout?: string }).stdout}`, {
      cause: error,
    });
  }
  return {
    async run(block, cwd) {
      const file = join(folder, "out", nameOf(block).replace(".mts", ".mjs"));
      return (await run(process.execPath, [file], { cwd })).stdout;
    },
    remove,
  };
}

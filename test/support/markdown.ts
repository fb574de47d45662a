/** The targets of a document's links and pictures, without those in code. */
export function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^(`{3,}|~{3,})[^]*?^\1/gm, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)/g)].map((match) => match[1] ?? "");
}

/** The anchors that GitHub gives to a document's headings. */
export function anchorsOf(markdown: string): string[] {
  const prose = markdown.replace(/^(`{3,}|~{3,})[^]*?^\1/gm, "");
  return [...prose.matchAll(/^#{1,6} +(.*?) *#*$/gm)].map((match) =>
    (match[1] ?? "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The scripts of package.json that a document tells its reader to run. */
export function scriptsOf(markdown: string): string[] {
  return [...markdown.matchAll(/\bnpm run (?:--?[\w-]+ )*([\w:]+)/g)].map((match) => match[1] ?? "");
}

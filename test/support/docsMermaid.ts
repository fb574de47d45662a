const node = String.raw`\w+(?:\["[^"]*"\])?`;
const arrow = String.raw`-->(?:\|[^|]*\|)?`;
const statement = new RegExp(`^${node}(?: *${arrow} *${node})*$`);

/**
 * What is wrong with a flowchart, a line each. Mermaid itself needs a browser and hundreds of packages; this takes only
 * the part of its language that the pages use, so that what is drawn there is known to be well-formed.
 */
export function flowchartProblems(text: string): string[] {
  const [first = "", ...rest] = text.split("\n");
  const problems = /^flowchart (?:TD|LR)$/.test(first) ? [] : [`no flowchart: ${first}`];
  const lines = rest.map((line) => line.trim()).filter((line) => line !== "");
  if (!lines.some((line) => line.includes("-->"))) problems.push("it has no arrow");
  return [
    ...problems,
    ...lines.filter((line) => !statement.test(line)).map((line) => `not understood: ${line}`),
  ];
}

/**
 * Cycles of a directed graph, each as the path round it with the first node again at the end. At least one
 * for every knot; none if there is none. Edges to nodes that the graph does not have are ignored.
 */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  for (const node of graph.keys()) visit(node);
  return cycles;

  function visit(node: string): void {
    if (done.has(node) || !graph.has(node)) return;
    const at = path.indexOf(node);
    if (at >= 0) {
      cycles.push([...path.slice(at), node]);
      return;
    }
    path.push(node);
    for (const next of graph.get(node) ?? []) visit(next);
    path.pop();
    done.add(node);
  }
}

// Import cycles of a source tree: groups of files that reach each other through their imports,
// imports of types included. It reads files as text and decides nothing.
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { filesUnder, importsOf } from './layers.ts';

type Graph = ReadonlyMap<string, readonly string[]>;

const graphOf = (root: string): Graph => {
  const files = new Set(filesUnder(root));
  return new Map(
    [...files].map((file) => {
      const imports = importsOf(readFileSync(file, 'utf8'));
      return [file, imports.map((one) => resolve(file, '..', one)).filter((to) => files.has(to))];
    }),
  );
};

/** Every file that `from` reaches in one or more steps. */
const reachOf = (graph: Graph, from: string): ReadonlySet<string> => {
  const reached = new Set<string>();
  const open = [from];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    for (const to of graph.get(file) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      open.push(to);
    }
  }
  return reached;
};

/** One row per group, sorted, with paths relative to `root`; and the number of imports followed. */
export const importCycles = (
  root: string,
): { readonly imports: number; readonly cycles: readonly (readonly string[])[] } => {
  const graph = graphOf(root);
  const reach = new Map([...graph.keys()].map((file) => [file, reachOf(graph, file)]));
  const placed = new Set<string>();
  const cycles: (readonly string[])[] = [];
  for (const [file, reached] of reach) {
    if (placed.has(file) || !reached.has(file)) continue;
    const group = [...reached].filter((other) => reach.get(other)?.has(file) === true);
    for (const one of group) placed.add(one);
    cycles.push(group.map((one) => relative(root, one)).toSorted());
  }
  const imports = [...graph.values()].reduce((sum, to) => sum + to.length, 0);
  return { imports, cycles: cycles.toSorted((a, b) => String(a).localeCompare(String(b))) };
};

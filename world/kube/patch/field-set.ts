// Sets of field paths in the form of metav1.FieldsV1: a JSON tree whose keys are path elements
// (`f:name`, `k:{"name":"c"}`, `v:"x"`). `.`, or an empty tree, means that the path itself is in
// the set. Trees are immutable and shared: equal ones are usually the same object. `undefined` is
// the empty set. Knows no schema and no managers.
import type { JsonObject } from '../../../src/api/json.ts';

export type FieldSet = JsonObject;

/** The path itself without anything below it. */
export const leafSet: FieldSet = {};
const self = '.';

/**
 * Cache of recent trees, so that thousands of similar objects share one: a trie whose steps are
 * element, tree below it, next element. Never state.
 */
interface Step {
  readonly next: Map<string | FieldSet, Step>;
  tree: FieldSet | undefined;
}
const newStep = (): Step => ({ next: new Map(), tree: undefined });
const maximumKnownTrees = 20_000;
let knownTrees = 0;
let roots = { member: newStep(), path: newStep() };

function stepTo(from: Step, by: string | FieldSet): Step {
  const known = from.next.get(by);
  if (known !== undefined) return known;
  const made = newStep();
  from.next.set(by, made);
  return made;
}

type Entry = readonly [element: string, below: FieldSet];

const byElement = (a: Entry, b: Entry): number => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);

function sort(children: Entry[]): void {
  for (let i = 1; i < children.length; i++) {
    const [before, after] = [children[i - 1], children[i]];
    if (before !== undefined && after !== undefined && before[0] > after[0]) {
      children.sort(byElement);
      return;
    }
  }
}

/** The tree of these children; undefined when it would be the empty set. */
export function treeOf(member: boolean, children: Entry[]): FieldSet | undefined {
  if (children.length === 0) return member ? leafSet : undefined;
  sort(children);
  let step = member ? roots.member : roots.path;
  for (const [element, below] of children) {
    step = stepTo(step, element);
    if (below !== leafSet) step = stepTo(step, below);
  }
  if (step.tree !== undefined) return step.tree;
  const made: FieldSet = Object.fromEntries(
    member ? [[self, leafSet] as const, ...children] : children,
  );
  step.tree = made;
  knownTrees++;
  if (knownTrees > maximumKnownTrees) {
    knownTrees = 0;
    roots = { member: newStep(), path: newStep() };
  }
  return made;
}

/** Whether the path of this tree's root is in the set. Never called for the root of an object. */
export function isMember(tree: FieldSet | undefined): boolean {
  if (tree === undefined) return false;
  if (tree === leafSet || Object.hasOwn(tree, self)) return true;
  for (const _ in tree) return false;
  return true;
}

export function below(tree: FieldSet | undefined, element: string): FieldSet | undefined {
  if (tree === undefined || !Object.hasOwn(tree, element)) return undefined;
  return tree[element] as FieldSet;
}

export const elementsOf = (tree: FieldSet): readonly string[] =>
  Object.keys(tree).filter((element) => element !== self);

type Combine = (a: FieldSet | undefined, b: FieldSet | undefined) => FieldSet | undefined;

/** The root of an object is never a member: only paths below it count. */
const atRoot =
  (
    combine: (
      a: FieldSet | undefined,
      b: FieldSet | undefined,
      root: boolean,
    ) => ReturnType<Combine>,
  ) =>
  (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined => {
    const result = combine(a, b, true);
    return result === leafSet ? undefined : result;
  };

function unionAt(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === b || b === undefined) return a;
  if (a === undefined) return b;
  const entries: Entry[] = [];
  for (const element of elementsOf(a)) {
    const both = unionAt(below(a, element), below(b, element));
    if (both !== undefined) entries.push([element, both]);
  }
  for (const element of elementsOf(b)) {
    const added = below(b, element);
    if (added !== undefined && !Object.hasOwn(a, element)) entries.push([element, added]);
  }
  return treeOf(isMember(a) || isMember(b), entries);
}

function differenceAt(
  a: FieldSet | undefined,
  b: FieldSet | undefined,
  root = false,
): FieldSet | undefined {
  if (a === undefined || b === undefined) return a;
  const entries: Entry[] = [];
  for (const element of elementsOf(a)) {
    const rest = differenceAt(below(a, element), below(b, element));
    if (rest !== undefined) entries.push([element, rest]);
  }
  return treeOf(!root && isMember(a) && !isMember(b), entries);
}

function intersectionAt(
  a: FieldSet | undefined,
  b: FieldSet | undefined,
  root = false,
): FieldSet | undefined {
  if (a === undefined || b === undefined) return undefined;
  const entries: Entry[] = [];
  for (const element of elementsOf(a)) {
    const both = intersectionAt(below(a, element), below(b, element));
    if (both !== undefined) entries.push([element, both]);
  }
  return treeOf(!root && isMember(a) && isMember(b), entries);
}

/** `a` without the members of `b` and everything below them. */
function withoutTreesAt(
  a: FieldSet | undefined,
  b: FieldSet | undefined,
  root = false,
): FieldSet | undefined {
  if (a === undefined || b === undefined) return a;
  if (!root && isMember(b)) return undefined;
  const entries: Entry[] = [];
  for (const element of elementsOf(a)) {
    const rest = withoutTreesAt(below(a, element), below(b, element));
    if (rest !== undefined) entries.push([element, rest]);
  }
  return treeOf(!root && isMember(a), entries);
}

/** In the four functions below, both sets belong to complete objects. */
export const union: Combine = (a, b) => unionAt(a, b);
export const difference: Combine = atRoot(differenceAt);
export const intersection: Combine = atRoot(intersectionAt);
export const withoutTrees: Combine = atRoot(withoutTreesAt);

/** `.spec.containers[name="c"].image`, as the API server prints a path. */
function elementText(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${rest}]`;
  if (element.startsWith('i:')) return `[${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as JsonObject);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
}

/** Every path of the set; members of one level precede what is below them. */
export function pathsOf(tree: FieldSet | undefined, prefix = ''): readonly string[] {
  if (tree === undefined) return [];
  const elements = elementsOf(tree);
  const here = elements.filter((element) => isMember(below(tree, element)));
  return [
    ...here.map((element) => prefix + elementText(element)),
    ...elements.flatMap((element) => pathsOf(below(tree, element), prefix + elementText(element))),
  ];
}

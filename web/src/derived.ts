// Values derived from the rows: the order of the cells, the list of blockers, the summary sentence.
import { computed } from '@preact/signals';
import type { PageGroup, PageNode, PageUpdate, PageWait, PhaseLetter } from '../../src/api/page.ts';
import { now } from './clock.ts';
import { duration, plural, visible } from './format.ts';
import { filter } from './route.ts';
import { tables } from './store.ts';

export const noGroup = '';

export interface ZoneOf {
  readonly zone: string;
  /** Names of the nodes, oldest first. */
  readonly nodes: readonly string[];
}

/** By age: the order is stable while no node joins or leaves, so cells do not move. */
const byAge = (a: PageNode, b: PageNode): number =>
  a.created < b.created ? -1 : a.created > b.created ? 1 : a.key < b.key ? -1 : 1;

/** By group, then by zone. */
export const layout = computed(() => {
  const groups = new Map<string, Map<string, string[]>>();
  for (const node of [...tables.node.members.value].sort(byAge)) {
    const zones = groups.get(node.group ?? noGroup) ?? new Map<string, string[]>();
    groups.set(node.group ?? noGroup, zones);
    const zone = node.zone ?? 'no zone';
    const names = zones.get(zone) ?? [];
    zones.set(zone, names);
    names.push(node.key);
  }
  const sorted = (zones: Map<string, string[]>): readonly ZoneOf[] =>
    [...zones].map(([zone, nodes]) => ({ zone, nodes })).sort((a, b) => (a.zone < b.zone ? -1 : 1));
  return new Map([...groups].map(([name, zones]) => [name, sorted(zones)] as const));
});

/** The names of all zones, if there are few: they then form the same columns in every group. */
const maxAligned = 4;
export const zoneColumns = computed((): readonly string[] => {
  const names = new Set<string>();
  for (const zones of layout.value.values()) for (const { zone } of zones) names.add(zone);
  return names.size <= maxAligned ? [...names].sort() : [];
});

/** Groups with a NodeGroup first, then by name; nodes without a group last. */
export const groupsInOrder = computed((): readonly PageGroup[] =>
  [...tables.group.all.value].sort(
    (a, b) => Number(b.isManaged) - Number(a.isManaged) || (a.key < b.key ? -1 : 1),
  ),
);

export interface WaitGroup {
  readonly cause: string;
  /** The row that has waited longest. */
  readonly oldest: PageWait;
  readonly nodes: readonly string[];
  readonly updates: readonly string[];
}

const started = ({ since }: PageWait): string => since ?? '9';

/**
 * Everything that waits, grouped by its cause, the longest wait first. Work in progress is not
 * listed.
 */
export const waits = computed((): readonly WaitGroup[] => {
  const found = new Map<string, { oldest: PageWait; nodes: string[]; updates: string[] }>();
  const add = (wait: PageWait | null, kind: 'nodes' | 'updates', key: string): void => {
    if (wait === null || wait.cause === 'progress') return;
    const known = found.get(wait.cause) ?? { oldest: wait, nodes: [], updates: [] };
    found.set(wait.cause, known);
    if (started(wait) < started(known.oldest)) known.oldest = wait;
    known[kind].push(key);
  };
  for (const node of tables.node.all.value) add(node.wait, 'nodes', node.key);
  for (const update of tables.update.all.value) add(update.wait, 'updates', update.key);
  return [...found]
    .map(([cause, rest]) => ({ cause, ...rest }))
    .sort((a, b) => (started(a.oldest) < started(b.oldest) ? -1 : 1));
});

export const letterCounts = computed((): ReadonlyMap<PhaseLetter, number> => {
  const counts = new Map<PhaseLetter, number>();
  for (const { letter } of tables.node.all.value) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  return counts;
});

const openUpdates = computed(() =>
  tables.update.all.value.filter(({ status }) => status === 'InProgress'),
);
export const openDrains = computed(() =>
  tables.drain.all.value.filter(({ phase }) => phase !== 'Ended'),
);
const openRepairs = computed(() => tables.repair.all.value.filter(({ ended }) => ended === null));

/** For the navigation. */
export const counts = computed(() => ({
  updates: openUpdates.value.length,
  drains: openDrains.value.length + openRepairs.value.length,
  budgets: tables.budget.all.value.length,
}));

const progressOf = ({ done, total }: PageUpdate): string =>
  total === null ? 'not started' : `${done} of ${total} done`;

/** The state of the fleet in one or two sentences. */
export const headline = computed((): { readonly state: string; readonly wait: string } => {
  const nodes = plural(tables.node.members.value.length, 'node');
  const groups = plural(groupsInOrder.value.length, 'group');
  const [update] = openUpdates.value;
  const drains = openDrains.value.length;
  const unhealthy = letterCounts.value.get('X') ?? 0;
  const work = [
    ...(update === undefined ? [] : [`update of ${visible(update.group)}: ${progressOf(update)}`]),
    ...(drains === 0 ? [] : [`${plural(drains, 'drain')} under way`]),
    ...(unhealthy === 0 ? [] : [`${unhealthy} unhealthy`]),
  ];
  const [longest] = waits.value;
  if (longest === undefined) {
    return { state: [`${nodes} in ${groups}`, ...work].join('; '), wait: 'Nothing is waiting.' };
  }
  const since = longest.oldest.since;
  const forTime = since === null ? '' : ` for ${duration(now.value - Date.parse(since))}`;
  const count = longest.nodes.length + longest.updates.length;
  const what = longest.nodes.length > 0 ? plural(count, 'node') : plural(count, 'update');
  const verb = count === 1 ? 'waits' : 'wait';
  return {
    state: [`${nodes} in ${groups}`, ...work].join('; '),
    wait: `${what} ${verb} for ${visible(longest.cause)}${forTime}.`,
  };
});

const haystack = (node: PageNode): string =>
  [node.key, node.group, node.zone, node.type, node.instance, node.version, node.health]
    .concat(node.finding, node.wait?.text ?? '', node.wait?.cause ?? '')
    .join('\n')
    .toLowerCase();

/** Words that every match contains. */
export const wanted = computed(() => filter.value.toLowerCase().split(/\s+/).filter(Boolean));

export const matches = (node: PageNode): boolean => {
  const words = wanted.value;
  if (words.length === 0) return true;
  const text = haystack(node);
  return words.every((word) => text.includes(word));
};

/** Every word of the filter occurs in the row's own text. */
export const fits = (row: object): boolean => {
  const words = wanted.value;
  if (words.length === 0) return true;
  const text = JSON.stringify(row).toLowerCase();
  return words.every((word) => text.includes(word));
};

/** Nodes that wait, in the order of the cells: for [ and ]. */
export const waitingNodes = computed((): readonly string[] =>
  [...layout.value.values()]
    .flatMap((zones) => zones.flatMap(({ nodes }) => nodes))
    .filter((name) => tables.node.of(name)?.wait != null),
);

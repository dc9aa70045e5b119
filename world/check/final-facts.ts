// The end state of a trace in a form that is comparable between two runs: without times, versions,
// uids and random names. A run with lost, duplicated or delayed messages must end in the same
// state; a difference is a defect.
import { objectOr } from '../../src/api/json.ts';
import type { Trace } from '../../src/api/trace.ts';
import { Book } from './state/book.ts';
import { markKinds } from './state/nodes.ts';
import { isHealthy } from './state/pods.ts';
import { isReleased, numberOf, textOf } from './state/read.ts';

export interface FinalFacts {
  /** By instance id, or by node name if the node has no instance. */
  readonly nodes: Readonly<
    Record<string, { readonly ready: boolean; readonly marks: readonly string[] }>
  >;
  /** By namespace and owner; for a Deployment, without the hash of its ReplicaSet. */
  readonly apps: Readonly<Record<string, { readonly pods: number; readonly ready: number }>>;
  /** Managed groups: number of instances by lifecycle state, without terminated instances. */
  readonly groups: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Desired sizes from the status of the NodeGroups. */
  readonly desired: Readonly<Record<string, number>>;
  /**
   * `instance hook` for each of the controller's hooks that timed out; instances in an open wait.
   */
  readonly hooksRunOut: readonly string[];
  readonly openWaits: readonly string[];
  /** By instance: phase, outcome and the kinds of its causes. */
  readonly disruptions: Readonly<Record<string, string>>;
}

const sorted = <T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

const appOf = (kind: string, name: string): string =>
  kind === 'ReplicaSet' ? `Deployment/${name.replace(/-[a-z0-9]+$/, '')}` : `${kind}/${name}`;

const nodesOf = (book: Book): FinalFacts['nodes'] =>
  sorted(
    [...book.nodes.byName.values()]
      .filter((node) => node.goneAt === undefined)
      .map((node) => {
        const marks = markKinds.filter((kind) => node.marks.has(kind));
        const key = node.instanceId === '' ? node.name : node.instanceId;
        return [key, { ready: node.ready, marks }] as const;
      }),
  );

const appsOf = (book: Book): FinalFacts['apps'] => {
  const apps = new Map<string, { pods: number; ready: number }>();
  for (const pod of book.pods.byKey.values()) {
    if (pod.goneAt !== undefined || pod.terminatingAt !== undefined) continue;
    const key = `${pod.namespace}/${appOf(pod.ownerKind, pod.ownerName)}`;
    const app = apps.get(key) ?? { pods: 0, ready: 0 };
    apps.set(key, { pods: app.pods + 1, ready: app.ready + (isHealthy(pod) ? 1 : 0) });
  }
  return sorted(apps);
};

const groupsOf = (book: Book): FinalFacts['groups'] => {
  const groups = new Map<string, Record<string, number>>();
  for (const name of book.facts.managedGroups) groups.set(name, {});
  for (const { group, state } of book.cloud.instances.values()) {
    const counts = groups.get(group);
    if (counts === undefined || state === 'Terminated' || state === '') continue;
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return sorted([...groups].map(([name, counts]) => [name, sorted(Object.entries(counts))]));
};

const disruptionsOf = (book: Book): FinalFacts['disruptions'] =>
  sorted(
    [...book.disruptions.living()].map((one) => {
      const kinds = [...new Set(one.causes.map((cause) => cause.kind))].sort().join('+');
      return [one.name, `${one.phase} ${one.outcome} ${kinds}`] as const;
    }),
  );

/** The state at the end of the trace. */
export const finalFacts = (trace: Trace): FinalFacts => {
  const book = new Book(trace.facts);
  const desired = new Map<string, number>();
  for (const entry of trace.entries) {
    book.take(entry);
    book.settle(entry);
    if (entry.kind !== 'object' || entry.resource !== 'nodegroups') continue;
    const { metadata, status } = entry.object;
    const name = textOf(objectOr(metadata).name);
    if (entry.type === 'DELETED' || isReleased(entry.object)) desired.delete(name);
    else desired.set(name, numberOf(objectOr(status).desired) ?? 0);
  }
  const own = book.cloud.waits.filter((wait) => book.isManaged(wait.group));
  const ranOut = own.flatMap((wait) =>
    [...wait.ended]
      .filter(([hook, by]) => by === 'timeout' && book.isOwnHook(wait.group, hook, wait.startedAt))
      .map(([hook]) => `${wait.instanceId} ${hook}`),
  );
  const open = own.filter((wait) => wait.leftAt === undefined).map((wait) => wait.instanceId);
  return {
    nodes: nodesOf(book),
    apps: appsOf(book),
    groups: groupsOf(book),
    desired: sorted(desired),
    hooksRunOut: ranOut.sort(),
    openWaits: open.sort(),
    disruptions: disruptionsOf(book),
  };
};

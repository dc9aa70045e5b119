// Updates and their gates: an update begins, and takes a further node, only while a window is open
// and no freeze is active. It takes no further node while a health probe fails. Rollbacks pass all
// gates.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { ObjectEntry } from '../state/book.ts';
import { type Pacing, pacingOf, pacingText } from '../state/pacing.ts';
import { keyOf, microsPerSecond, objectsOf, textOf } from '../state/read.ts';

/** Time between the decision and the write: a pass calls the cloud, reads pods and may retry. */
const passMicros = 20 * microsPerSecond;
const ownStrategies = new Set(['SURGE', 'BLUE_GREEN']);

interface Told {
  readonly text: string;
  /** Oldest first; includes versions that a late watch may still show. */
  readonly versions: readonly Pacing[];
}

/** By condition type: its status, and the time since which it has that status. */
type Conditions = ReadonlyMap<string, { readonly status: string; readonly since: number }>;

class Gates {
  readonly #context: Context;
  readonly #groups = new Map<string, Told>();
  readonly #deployments = new Map<string, Conditions>();
  readonly #phases = new Map<string, string>();
  readonly #ways = new Map<string, string>();
  readonly #begun = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  object(entry: ObjectEntry): void {
    const { resource, object } = entry;
    if (resource === 'nodegroups') this.#group(object);
    else if (resource === 'deployments') this.#deployment(object);
    else if (resource === 'nodegroupupdates') this.#update(object);
    else if (resource === 'nodedisruptions') this.#disruption(entry);
  }

  #group(object: JsonObject): void {
    const name = textOf(objectOr(object.metadata).name);
    const text = pacingText(object);
    const known = this.#groups.get(name);
    if (known?.text === text) return;
    const versions = [...(known?.versions ?? []), pacingOf(object, this.#context.book.now)];
    this.#groups.set(name, { text, versions: versions.slice(-8) });
  }

  #deployment({ metadata, status }: JsonObject): void {
    const { namespace, name } = objectOr(metadata);
    const key = keyOf(textOf(namespace), textOf(name));
    const before = this.#deployments.get(key);
    const now = this.#context.book.now;
    const next = objectsOf(objectOr(status).conditions).map((one) => {
      const known = before?.get(textOf(one.type));
      const is = textOf(one.status);
      const since = known?.status === is ? known.since : now;
      return [textOf(one.type), { status: is, since }] as const;
    });
    this.#deployments.set(key, new Map(next));
  }

  /** An update begins when it leaves Pending. */
  #update({ metadata, spec, status }: JsonObject): void {
    const name = textOf(objectOr(metadata).name);
    const { nodeGroup, action, type } = objectOr(spec);
    if (type !== 'VersionUpdate') return;
    this.#ways.set(name, textOf(action));
    const phase = textOf(objectOr(status).phase);
    const before = this.#phases.get(name);
    this.#phases.set(name, phase);
    const begins = (before === '' || before === 'Pending') && phase === 'Preparing';
    if (!begins || action === 'Rollback') return;
    this.#judgeTime(textOf(nodeGroup), `update ${name}`, 'began');
  }

  #disruption(entry: ObjectEntry): void {
    const { book } = this.#context;
    const one = book.disruptionIn(entry);
    for (const { id, kind, isHolding, isCancelled } of one?.causes ?? []) {
      if (one === undefined || kind !== 'Update' || isCancelled) continue;
      const update = book.updates.byName.get(id.slice('update/'.length));
      const key = `${one.name} ${id}`;
      if (update === undefined || this.#begun.has(key)) continue;
      // EKS' strategies hold all nodes before the first drain, so their holds do not count as a
      // step. Drover's strategies hold only a node whose hook has begun.
      if (isHolding && !ownStrategies.has(update.strategy)) continue;
      this.#begun.add(key);
      const isBack =
        update.isAborted || update.isEnding || this.#ways.get(update.name) === 'Rollback';
      if (update.phase !== 'Rolling' || isBack) continue;
      const message = `taken by update ${update.name}`;
      this.#judgeTime(update.nodeGroup, one.name, message);
      this.#judgeProbes(update.nodeGroup, one.name, message);
    }
  }

  /** Versions of the group's pacing that the controller may have known at the decision. */
  #versions(nodeGroup: string, from: number): readonly Pacing[] {
    const all = this.#groups.get(nodeGroup)?.versions ?? [];
    return all.filter((_, i) => (all[i + 1]?.since ?? Number.POSITIVE_INFINITY) >= from);
  }

  #judgeTime(nodeGroup: string, subject: string, what: string): void {
    const { book, saw, report } = this.#context;
    const skew = book.facts.clockSkew ?? 0;
    const from = book.now - book.lagMicros - passMicros - skew;
    const versions = this.#versions(nodeGroup, from);
    saw();
    if (versions.every(({ isTimed }) => !isTimed)) return;
    const isOpenNow = versions.every(({ isOpenAt }) => isOpenAt(book.now));
    if (isOpenNow) return;
    const mayBeOpen = (at: number): boolean => versions.some(({ isOpenAt }) => isOpenAt(at));
    // By a fast clock, or within the time of a pass, a window may have been open.
    if (mayBeOpen(book.now + skew)) return;
    for (let at = from; at < book.now + skew; at += microsPerSecond) if (mayBeOpen(at)) return;
    report({ subject, message: `${what} outside the times of node group ${nodeGroup}` });
  }

  #judgeProbes(nodeGroup: string, subject: string, what: string): void {
    const { book, saw, report } = this.#context;
    const last = this.#groups.get(nodeGroup)?.versions.at(-1);
    for (const { deployment, type, status, intervalMicros } of last?.probes ?? []) {
      const condition = this.#deployments.get(deployment)?.get(type);
      saw();
      if (last === undefined || condition === undefined || condition.status === status) continue;
      const since = Math.max(condition.since, last.since);
      if (book.now - since <= book.lagMicros + passMicros + intervalMicros) continue;
      const seconds = Math.round((book.now - since) / microsPerSecond);
      const message =
        `${what} although the probe of ${type} of ${deployment} ` + `has failed for ${seconds} s`;
      report({ subject, message });
    }
  }
}

export const updateGates: Oracle = {
  name: 'updates-stop-at-gates',
  what:
    'no update begins or takes a further node outside its windows, in a freeze, or while its ' +
    'probes fail',
  strategies: both,
  needs: ['object'],
  watch: (context) => {
    const gates = new Gates(context);
    return { object: (entry) => gates.object(entry) };
  },
};

// An update begins, and starts a further node, only while a window is open and no freeze is active.
// It starts no further node while a health probe fails. Rollbacks are exempt.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../../oracle.ts';
import type { ObjectEntry } from '../../state/book.ts';
import { textOf } from '../../state/read.ts';
import { Probes } from './probes.ts';
import { Times } from './times.ts';

const ownStrategies = new Set(['SURGE', 'BLUE_GREEN']);

class Steps {
  readonly #context: Context;
  readonly #times: Times;
  readonly #probes: Probes;
  readonly #phases = new Map<string, string>();
  readonly #ways = new Map<string, string>();
  readonly #begun = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
    this.#times = new Times(context);
    this.#probes = new Probes(context);
  }

  object(entry: ObjectEntry): void {
    const { resource, object } = entry;
    if (resource === 'nodegroups') this.#times.group(object);
    else if (resource === 'deployments') this.#probes.deployment(object);
    else if (resource === 'nodegroupupdates') this.#update(object);
    else if (resource === 'nodedisruptions') this.#disruption(entry);
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
    this.#times.judge(textOf(nodeGroup), `update ${name}`, 'began');
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
      this.#times.judge(update.nodeGroup, one.name, message);
      this.#probes.judge(this.#times.newest(update.nodeGroup), one.name, message);
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
    const steps = new Steps(context);
    return { object: (entry) => steps.object(entry) };
  },
};

// Runs update sequences: observes groups, updates and nodes, asks core/update for the next steps,
// records them and then runs them. One pass at a time for all sequences, since two may share a
// group.

import { type EpochMs, epochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import { autoScalingGroupNameOf } from '../../api/nodegroup.ts';
import {
  awaitingTaint,
  type NodeGroupUpdateSequence,
  sequenceFinalizer,
} from '../../api/update-sequence.ts';
import { decideSequence, type SequenceNode } from '../../core/update/index.ts';
import { allSynced, type PassResult, WorkQueue } from '../../runtime/index.ts';
import { GroupDirectory } from '../group-directory.ts';
import { nodeOfInstance } from '../informers.ts';
import type { SequenceDeps } from './deps.ts';
import { hold, runSteps, writeStatus } from './steps.ts';

/**
 * Interval while a sequence is active; joining nodes and changed updates trigger earlier passes.
 */
const lookEveryMs = 15_000;
const sharedLookMs = 5_000;
/** Many nodes change together: their changes are batched into one pass. */
const gatherMs = 1_000;

export const createSequenceController = (
  deps: SequenceDeps,
): { run(signal: AbortSignal): Promise<void> } => {
  const controller = new Sequences(deps);
  return { run: (signal) => controller.run(signal) };
};

const isActive = ({ metadata, status }: NodeGroupUpdateSequence): boolean =>
  status?.phase !== 'Ended' || metadata.deletionTimestamp !== undefined;

/**
 * A sequence that is ending needs only the tainted nodes, not the cloud. One that continues needs
 * all nodes.
 */
const needsGroups = ({ metadata, spec, status }: NodeGroupUpdateSequence): boolean => {
  if (metadata.deletionTimestamp !== undefined || spec.abort !== undefined) return false;
  if (status?.phase !== 'Ended') return status?.phase !== 'Restoring';
  return (metadata.generation ?? 0) > (status.endedGeneration ?? 0);
};

class Sequences {
  readonly #deps: SequenceDeps;
  /** For each sequence: why the API server last refused an update. Input of the next decision. */
  readonly #refused = new Map<string, string>();
  readonly #directory: GroupDirectory;
  readonly #queue: WorkQueue<string>;

  constructor(deps: SequenceDeps) {
    this.#deps = deps;
    this.#directory = new GroupDirectory(deps);
    this.#queue = new WorkQueue({ ...deps, name: 'sequence', concurrency: 1 });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodeGroups, nodes, sequences, updates } = this.#deps;
    const all = [nodeGroups, nodes, sequences, updates];
    if (!(await allSynced(all, signal))) return;
    const stopListening = this.#listen();
    await this.#queue.run((name, inner) => this.#reconcile(name, inner), signal);
    for (const stop of stopListening) stop();
  }

  #listen(): readonly (() => void)[] {
    const { nodes, sequences, updates, clock } = this.#deps;
    const wake = (): void => {
      const soon = epochMs(clock.now() + gatherMs);
      for (const one of sequences.list()) {
        if (isActive(one)) this.#queue.addAfter(one.metadata.name, soon);
      }
    };
    return [
      sequences.onChange(({ object }) => {
        this.#queue.add(object.metadata.name);
        // Another sequence may have waited for it.
        wake();
      }),
      updates.onChange(wake),
      nodes.onChange(({ kind, object }) => {
        if (kind === 'added') wake();
        // The queue also gets a sequence that no longer exists, so that its taints are removed.
        const mark = markOf(object.spec);
        if (mark !== undefined && sequences.get(mark) === undefined) this.#queue.add(mark);
      }),
    ];
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<PassResult | undefined> {
    const sequence = this.#deps.sequences.get(name);
    if (sequence !== undefined) return this.#pass(sequence, signal);
    this.#refused.delete(name);
    await this.#forget(name, signal);
    return undefined;
  }

  async #pass(
    sequence: NodeGroupUpdateSequence,
    signal: AbortSignal,
  ): Promise<PassResult | undefined> {
    const deps = this.#deps;
    const { clock, sequences, nodeGroups, updates } = deps;
    const { metadata } = sequence;
    if (!(metadata.finalizers ?? []).includes(sequenceFinalizer)) {
      // Without the finalizer no node is marked.
      if (metadata.deletionTimestamp !== undefined) return undefined;
      await hold(deps, sequence, signal);
      return { nextAt: this.#in(gatherMs) };
    }
    const refused = this.#refused.get(metadata.name);
    const members = new Set(sequence.spec.groups.map((group) => group.name));
    const alive = nodeGroups.list().filter((one) => one.metadata.deletionTimestamp === undefined);
    const decided = decideSequence({
      sequence,
      others: sequences.list(),
      groups: new Set(alive.map((one) => one.metadata.name)),
      updates: updates.list().filter(({ spec }) => members.has(spec.nodeGroup)),
      nodes: needsGroups(sequence) ? await this.#nodes(signal) : this.#marked(),
      ...defined({ refused }),
      now: clock.now(),
    });
    if (!(await writeStatus(deps, sequence, decided.status, signal))) {
      return { nextAt: this.#in(gatherMs) };
    }
    const now = sequences.get(metadata.name) ?? sequence;
    const refusal = await runSteps(deps, now, decided.steps, signal);
    if (refusal === undefined) this.#refused.delete(metadata.name);
    else this.#refused.set(metadata.name, refusal);
    // A permanent refusal is reported at once, but not retried every second.
    if (refusal !== undefined && refusal === refused) return { nextAt: this.#in(lookEveryMs) };
    if (decided.steps.length > 0) return { nextAt: this.#in(gatherMs) };
    return isActive(now) ? { nextAt: this.#in(lookEveryMs) } : undefined;
  }

  #in(ms: number): EpochMs {
    return epochMs(this.#deps.clock.now() + ms);
  }

  /** The object was deleted despite its finalizer; only this cleanup still knows of its taints. */
  async #forget(name: string, signal: AbortSignal): Promise<void> {
    const left = this.#marked().filter(({ mark }) => mark === name);
    if (left.length === 0) return;
    const gone = { metadata: { name } } as NodeGroupUpdateSequence;
    const steps = left.map((node) => ({ kind: 'Unmark', nodeName: node.name }) as const);
    await runSteps(this.#deps, gone, steps, signal);
  }

  #marked(): readonly SequenceNode[] {
    return this.#deps.nodes.list().flatMap(({ metadata, spec }) => {
      const mark = markOf(spec);
      return mark === undefined ? [] : [{ name: metadata.name, mark }];
    });
  }

  /** The cloud, not a label, says which group a node belongs to. */
  async #nodes(signal: AbortSignal): Promise<readonly SequenceNode[]> {
    const { nodeGroups, nodes, clock } = this.#deps;
    const found = await this.#directory.groups(clock.now() - sharedLookMs, signal);
    const groupOf = new Map<string, string>();
    for (const group of nodeGroups.list()) {
      for (const { instanceId } of found.get(autoScalingGroupNameOf(group))?.instances ?? []) {
        const node = nodeOfInstance(nodes, instanceId);
        if (node !== undefined) groupOf.set(node.metadata.name, group.metadata.name);
      }
    }
    return nodes.list().flatMap(({ metadata: { name }, spec }) => {
      const [group, mark] = [groupOf.get(name), markOf(spec)];
      if (group === undefined && mark === undefined) return [];
      return [
        {
          name,
          ...defined({ group, mark }),
        },
      ];
    });
  }
}

const markOf = ({ taints }: { readonly taints?: readonly SequenceTaint[] }): string | undefined =>
  taints?.find(({ key }) => key === awaitingTaint)?.value;

interface SequenceTaint {
  readonly key: string;
  readonly value?: string;
}

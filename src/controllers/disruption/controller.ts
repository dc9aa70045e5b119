// Takes instances out of service: observes a NodeDisruption and its surroundings, lets core decide,
// runs the steps, reports. One queue key per disruption handles marks, heartbeats, status and
// completion. One key handles all evictions, which are allocated over every drain together.

import { durationMs, epochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Plan, Step } from '../../api/plan.ts';
import { BudgetIndex, Ledger } from '../../core/drain/index.ts';
import {
  decideDisruption,
  defaultDrainTimeoutSeconds,
  isHeld,
  marksAreVisible,
  type Observation,
  phaseOf,
  podsInTheWay,
  type TerminationOptions,
} from '../../core/termination/index.ts';
import { allSynced, type PassResult, WorkQueue } from '../../runtime/index.ts';
import { isInService } from '../informers.ts';
import { Applier } from './apply.ts';
import { Attachments } from './attachments.ts';
import type { DisruptionDeps } from './deps.ts';
import { DrainTable, type RowSource } from './drain-table.ts';
import { Evictions } from './evictions.ts';
import { Heartbeats } from './hooks.ts';
import {
  createBudgetInformer,
  createDaemonSetInformer,
  createNodePodInformer,
} from './informers.ts';
import { Lookups } from './lookups.ts';
import { Owners } from './owners.ts';
import { PodWatches } from './pod-watches.ts';
import { type Recollection, Recollections } from './recollection.ts';
import { Surges } from './surges.ts';
import { endSurgesLeft } from './surges-left.ts';
import { Targets } from './targets.ts';
import { Teller } from './tell.ts';
import { Turns } from './turns.ts';

export interface DisruptionController {
  /**
   * Runs until `signal` aborts, then waits for calls in flight. Never rejects for a port's error.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** EKS waits about this long for pods before it terminates anyway. */
const defaultDrainTimeoutMs = durationMs(defaultDrainTimeoutSeconds * 1000);
/**
 * Maximum number of parallel passes: a pass is a few calls, and 500 nodes may need marks at once.
 */
const concurrency = 64;
/** The informer must show a write within this time; after that the controller reads the object. */
const unseenWriteMs = 1_000;
/** The status write with the number of pods waits at most this long for their first list. */
const firstListWithinMs = 1_000;
/** Interval for checking whether waiting nodes have their marks. */
const urgentAgainMs = 20;
const everyDrain = 'all';

export const createDisruptionController = (deps: DisruptionDeps): DisruptionController => ({
  run: (signal) => new Run(deps, signal).run(),
});

class Run {
  readonly #deps: DisruptionDeps;
  readonly #signal: AbortSignal;
  readonly #options: TerminationOptions;
  readonly #queue: WorkQueue<string>;
  readonly #shard: WorkQueue<string>;
  readonly #budgets = new BudgetIndex();
  readonly #budgetInformer: ReturnType<typeof createBudgetInformer>;
  readonly #daemonSets: ReturnType<typeof createDaemonSetInformer>;
  readonly #ledger = new Ledger();
  readonly #watches: PodWatches;
  readonly #lookups: Lookups;
  readonly #turns: Turns;
  readonly #recollections = new Recollections();
  readonly #heartbeats: Heartbeats;
  readonly #applier: Applier;
  readonly #evictions: Evictions;
  readonly #owners: Owners | undefined;
  readonly #teller: Teller;
  readonly #attachments: Attachments;
  readonly #targets: Targets;
  readonly #surges: Surges | undefined;
  /** Disruptions that may be part of an allocation: not ended and not being undone. */
  readonly #active: DrainTable;
  #daemonSetVersion = 0;

  constructor(deps: DisruptionDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    const { compat, drainTimeoutMs = defaultDrainTimeoutMs, clock, epoch } = deps;
    this.#options = { compat, drainTimeoutMs, ...defined({ epoch }) };
    this.#queue = new WorkQueue({ ...deps, name: 'disruption', concurrency });
    this.#shard = new WorkQueue({ ...deps, name: 'eviction', concurrency: 1 });
    this.#budgetInformer = createBudgetInformer(deps);
    this.#daemonSets = createDaemonSetInformer(deps);
    this.#lookups = new Lookups(deps);
    this.#turns = new Turns(deps, this.#lookups, drainTimeoutMs);
    this.#heartbeats = new Heartbeats(deps, (name) => this.#queue.add(name));
    this.#teller = new Teller(deps, signal);
    this.#applier = new Applier(deps, this.#heartbeats, (event) => this.#teller.tell(event));
    this.#attachments = new Attachments(deps, (node) => {
      for (const name of this.#watches.usersOf(node)) this.#queue.add(name);
    });
    this.#targets = new Targets(deps, (name) => {
      this.#queue.add(name);
      this.#shard.add(everyDrain);
    });
    this.#watches = new PodWatches(
      {
        create: (node, initial) => createNodePodInformer(deps, node, initial),
        onPod: (node, pod, gone) => {
          this.#ledger.observePod(pod, gone);
          const now = clock.now();
          for (const name of this.#watches.usersOf(node)) {
            this.#recollections.podSeen(name, pod, { gone, now });
          }
          this.#nodeChanged(node);
        },
        onListed: (node) => this.#nodeChanged(node),
      },
      signal,
    );
    this.#active = new DrainTable({
      compat,
      source: (name) => this.#source(name),
      observe: (disruption) => this.#observe(disruption),
      targets: (name) => this.#targets.of(name),
    });
    const again = (): void => this.#shard.add(everyDrain);
    this.#owners = deps.limits?.holdLastReplicas === true ? new Owners(deps, again) : undefined;
    this.#surges = deps.surge === true ? new Surges(deps, again) : undefined;
    this.#evictions = new Evictions({
      deps,
      budgets: this.#budgets,
      ledger: this.#ledger,
      watches: this.#watches,
      owners: this.#owners,
      surges: this.#surges,
      drains: () => this.#active.entries(deps.clock.now()),
      marksFirst: () => this.#queue.hasUrgent,
      isActive: (drain) => this.#active.has(drain),
      onBlockers: (drain) => this.#queue.add(drain),
      again,
    });
  }

  async run(): Promise<void> {
    const signal = this.#signal;
    const { nodes, nodeGroups, disruptions } = this.#deps;
    const informers = Promise.all([
      this.#budgetInformer.run(signal),
      this.#daemonSets.run(signal),
      this.#attachments.run(signal),
      this.#targets.run(signal),
      this.#surges?.run(signal) ?? endSurgesLeft(this.#deps, signal),
      this.#owners?.run(signal),
    ]);
    const stops = this.#listen();
    try {
      if (await allSynced([nodes, nodeGroups, disruptions, this.#budgetInformer], signal)) {
        await Promise.all([
          this.#queue.run((name, inner) => this.#reconcile(name, inner), signal),
          this.#shard.run((_key, inner) => this.#evictions.pass(inner), signal),
        ]);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const stop of stops) stop();
    }
    await Promise.all([
      informers,
      this.#watches.closed(),
      this.#evictions.settled(),
      this.#heartbeats.settled(),
      this.#teller.settled(),
    ]);
  }

  /** Listeners record and enqueue; nothing is done inside a watch callback. */
  #listen(): readonly (() => void)[] {
    const { nodes, nodeGroups, disruptions } = this.#deps;
    return [
      disruptions.onChange(({ kind, object }) => {
        this.#lookups.note(object, kind === 'removed');
        this.#turns.changed();
        this.#enqueue(object, kind === 'removed');
        for (const name of this.#turns.waitingIn(object.spec.nodeGroup)) this.#queue.add(name);
        this.#shard.add(everyDrain);
      }),
      nodes.onChange((change) => {
        const { object } = change;
        this.#turns.changed();
        for (const name of this.#lookups.concernedBy(object)) this.#queue.add(name);
        const isSame =
          change.kind === 'changed' && isInService(change.previous) === isInService(object);
        const waiting = isSame ? [] : this.#turns.waitingIn(undefined);
        for (const name of waiting) this.#queue.add(name);
        if (this.#active.size > 0) this.#shard.add(everyDrain);
      }),
      nodeGroups.onChange(({ object }) => {
        this.#turns.changed();
        for (const name of this.#turns.waitingIn(object.metadata.name)) this.#queue.add(name);
        for (const name of this.#active.names()) {
          const group = disruptions.get(name)?.spec.nodeGroup;
          if (group === object.metadata.name) this.#queue.add(name);
        }
      }),
      this.#budgetInformer.onChange((change) => {
        const { kind, object } = change;
        if (kind === 'changed') this.#evictions.budgetChanged(change.previous, object);
        if (kind === 'removed') this.#budgets.delete(object);
        else this.#budgets.set(object);
        this.#ledger.observeBudget(object);
        if (this.#active.size > 0) this.#shard.add(everyDrain);
      }),
      this.#daemonSets.onChange(({ kind }) => {
        if (kind === 'changed') return;
        this.#daemonSetVersion++;
        for (const name of this.#active.names()) this.#queue.add(name);
      }),
    ];
  }

  /**
   * New nodes are cordoned and tainted first: until then, pods are placed on them that must be
   * evicted again.
   */
  #enqueue(disruption: NodeDisruption, removed: boolean): void {
    const { name } = disruption.metadata;
    if (removed || phaseOf(disruption) !== 'Pending') {
      this.#queue.add(name);
      return;
    }
    // The allocation is informed immediately, so that it moves no evicted pod to this node.
    this.#active.add(name);
    this.#queue.addUrgent(name);
  }

  /** A pod of the node was added, removed or changed. */
  #nodeChanged(node: string): void {
    for (const name of this.#watches.usersOf(node)) {
      this.#recollections.podsChanged(name);
      this.#queue.add(name);
    }
    this.#shard.add(everyDrain);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<PassResult | undefined> {
    const disruption = this.#deps.disruptions.get(name);
    if (disruption === undefined) {
      this.#close(name);
      this.#turns.forget(name);
      this.#recollections.forget(name);
      return undefined;
    }
    const recollection = this.#recollections.of(name, disruption.status?.episode ?? 1);
    if (recollection.unsureOf !== undefined) {
      await this.#heartbeatsOnly(disruption, recollection, signal);
      await this.#applier.readBack(recollection, signal);
    }
    if (!this.#hasSeenOwnWrites(recollection)) {
      await this.#heartbeatsOnly(disruption, recollection, signal);
      return { nextAt: epochMs(this.#deps.clock.now() + unseenWriteMs) };
    }
    const observation = this.#observe(disruption, recollection);
    const waitMs = this.#keepWatch(observation);
    if (waitMs > 0) {
      await this.#heartbeatsOnly(disruption, recollection, signal);
      return { nextAt: epochMs(this.#deps.clock.now() + waitMs) };
    }
    const seen = podsInTheWay(observation);
    if (seen !== undefined) {
      const { memory } = recollection;
      memory.mostPods = Math.max(memory.mostPods ?? 0, seen);
      memory.stopTimes = recollection.stops.times();
    }
    const plan: Plan = decideDisruption(observation);
    if (plan.steps.some(isBeginning)) this.#turns.begin(name);
    const pass = { disruption, node: observation.node, recollection, signal };
    // Set even if the pass fails: an unreachable server must not delay heartbeats.
    if (plan.nextCheckAt !== undefined) this.#queue.addAfter(name, epochMs(plan.nextCheckAt));
    const { learned } = await this.#applier.run(plan, pass);
    if (learned) this.#queue.add(name);
    return undefined;
  }

  /** Heartbeats need only the hook: an unreachable API server does not stop them. */
  async #heartbeatsOnly(
    disruption: NodeDisruption,
    recollection: Recollection,
    signal: AbortSignal,
  ): Promise<void> {
    if (!disruption.spec.causes.some(({ hook }) => hook !== undefined)) return;
    const observation = this.#observe(disruption, recollection);
    const plan = decideDisruption(observation);
    const steps = plan.steps.filter(({ kind }) => kind === 'HeartbeatHook');
    const { node } = observation;
    await this.#applier.run({ ...plan, steps }, { disruption, node, recollection, signal });
  }

  /** Decides only after it has observed its own writes. */
  #hasSeenOwnWrites({ disruptionVersion, nodeVersion }: Recollection): boolean {
    const { disruptions, nodes } = this.#deps;
    const seen = disruptionVersion === undefined || disruptions.hasObserved(disruptionVersion);
    return seen && (nodeVersion === undefined || nodes.hasObserved(nodeVersion));
  }

  #observe(disruption: NodeDisruption, known?: Recollection): Observation {
    const { name } = disruption.metadata;
    const recollection = known ?? this.#recollections.of(name, disruption.status?.episode ?? 1);
    recollection.memory.firstLookAt ??= this.#deps.clock.now();
    const node = this.#lookups.nodeOf(disruption);
    const ledger = this.#turns.ledgerFor(disruption);
    return {
      disruption,
      node,
      ...this.#watches.observed(node?.metadata.name),
      daemonSetIsGone: (uid) =>
        this.#daemonSets.hasSynced() && this.#daemonSets.index('uid', uid).length === 0,
      blockers: this.#evictions.blockersOf(disruption),
      group: this.#lookups.groupOf(disruption),
      ...(node === undefined ? {} : { attached: this.#attachments.of(node.metadata.name) }),
      ...defined({ ledger, targets: this.#targets.of(name) }),
      memory: recollection.memory,
      now: this.#deps.clock.now(),
      options: this.#options,
    };
  }

  /**
   * Watches the node's pods from the time it is marked to the end. Returns how long to delay the
   * decision: the pods are listed only when no other node waits to be marked, and the next status
   * write contains their number.
   */
  #keepWatch({ disruption, node, pods }: Observation): number {
    const { name } = disruption.metadata;
    const phase = phaseOf(disruption);
    if (phase !== 'Pending' && phase !== 'Marking' && phase !== 'Draining') {
      this.#close(name);
      return 0;
    }
    const held = isHeld(disruption);
    // A held node belongs to no batch, and its pods are not needed before its turn.
    if (held && phase === 'Draining') {
      this.#close(name);
      // No pod was evicted yet: this process starts the evictions when the hold ends.
      this.#recollections.of(name, disruption.status?.episode ?? 1).resumed = false;
      return 0;
    }
    this.#active.add(name);
    if (held) return 0;
    this.#targets.want(disruption, this.#lookups.groupOf(disruption));
    const recollection = this.#recollections.of(name, disruption.status?.episode ?? 1);
    recollection.resumed ??= phase === 'Draining';
    this.#watches.release(name, node?.metadata.name);
    if (node === undefined || phase === 'Pending' || pods !== undefined) return 0;
    const marked = marksAreVisible(node, this.#options.compat);
    if (phase === 'Marking' && !marked) return 0;
    const now = this.#deps.clock.now();
    recollection.markedAt ??= now;
    const leftMs = recollection.markedAt + firstListWithinMs - now;
    if (leftMs > 0 && this.#queue.hasUrgent) return Math.min(leftMs, urgentAgainMs);
    this.#watches.open(node.metadata.name, name, recollection.resumed ? now : undefined);
    return phase === 'Marking' ? Math.max(0, leftMs) : 0;
  }

  #close(name: string): void {
    this.#active.delete(name);
    this.#watches.release(name);
    this.#targets.release(name);
    this.#ledger.drop(name);
  }

  /** The input from which an allocation's row of this disruption is built. */
  #source(name: string): RowSource | undefined {
    const disruption = this.#deps.disruptions.get(name);
    if (disruption === undefined) return undefined;
    const node = this.#lookups.nodeOf(disruption);
    return {
      disruption,
      node,
      group: this.#lookups.groupOf(disruption),
      podsVersion: node === undefined ? undefined : this.#watches.version(node.metadata.name),
      daemonSetVersion: this.#daemonSetVersion,
      hooksVersion: this.#recollections.of(name, disruption.status?.episode ?? 1).hooksVersion,
    };
  }
}

/** The write of the intent to mark a node. */
const isBeginning = (step: Step): boolean =>
  step.kind === 'WriteStatus' && step.status.phase === 'Marking';

// Reads what target groups report about instances that are being drained. One call per target group
// covers all instances; after the first answers, only target groups that list one of them are
// asked. Asks only while a drain needs the states; without an answer they stay unknown. Decides
// nothing.
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../../api/brand.ts';
import type { TargetGroup, TargetState } from '../../api/cloud.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { needsTargets } from '../../core/termination/index.ts';
import { CloudError } from '../../ports/index.ts';
import { type PassResult, WorkQueue } from '../../runtime/index.ts';
import type { DisruptionDeps } from './deps.ts';

/** How long a list of target groups is reused; Services and Ingresses create and delete them. */
const groupsForMs = 300_000;
/** Deregistration begins seconds after the marks: while a first eviction waits, ask often. */
const soonMs = durationMs(2_000);
const laterMs = durationMs(10_000);
const soonForMs = 30_000;
/** Elastic Load Balancing limits Describe calls per second. */
const callsAtOnce = 8;

interface Wanted {
  readonly cluster: string;
  readonly instanceId: string;
  readonly since: EpochMs;
}

interface Known {
  /** Time of the last query of all target groups; some may have been queried later. */
  readonly askedAt: EpochMs;
  readonly of: readonly TargetGroup[];
  readonly byInstance: ReadonlyMap<string, readonly TargetState[]>;
}

export class Targets {
  readonly #deps: DisruptionDeps;
  readonly #queue: WorkQueue<string>;
  readonly #onAnswer: (disruption: string) => void;
  readonly #wanted = new Map<string, Wanted>();
  readonly #groups = new Map<string, { at: EpochMs; groups: readonly TargetGroup[] }>();
  readonly #known = new Map<string, Known>();

  constructor(deps: DisruptionDeps, onAnswer: (disruption: string) => void) {
    this.#deps = deps;
    this.#onAnswer = onAnswer;
    this.#queue = new WorkQueue({ ...deps, name: 'targets', concurrency: 1 });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run((cluster, inner) => this.#look(cluster, inner), signal);
  }

  /**
   * Call once the intent to mark the node is recorded, so that the states are known when its batch
   * is marked.
   */
  want(disruption: NodeDisruption, group: NodeGroup | undefined): void {
    const { name } = disruption.metadata;
    const { instanceId } = disruption.spec;
    const { cloud, clock, compat } = this.#deps;
    if (cloud === undefined || group === undefined || instanceId === undefined) return;
    if (this.#wanted.has(name) || !needsTargets(disruption, group, compat)) return;
    const { clusterName: cluster } = group.spec;
    this.#wanted.set(name, { cluster, instanceId, since: clock.now() });
    this.#queue.add(cluster);
  }

  release(disruption: string): void {
    this.#wanted.delete(disruption);
  }

  /** Undefined: not read. A result that was read before the drain began does not count. */
  of(disruption: string): readonly TargetState[] | 'unknown' | undefined {
    const wanted = this.#wanted.get(disruption);
    if (wanted === undefined) return undefined;
    const { cluster, instanceId, since } = wanted;
    if (this.#groupsNow(cluster)?.length === 0) return [];
    const known = this.#known.get(cluster);
    if (known === undefined || known.askedAt < since) return 'unknown';
    return known.byInstance.get(instanceId) ?? [];
  }

  #groupsNow(cluster: string): readonly TargetGroup[] | undefined {
    const known = this.#groups.get(cluster);
    const isFresh = known !== undefined && this.#deps.clock.now() - known.at < groupsForMs;
    return isFresh ? known.groups : undefined;
  }

  /** Throws CloudError: the queue asks again. */
  async #look(cluster: string, signal: AbortSignal): Promise<PassResult | undefined> {
    const { clock } = this.#deps;
    if (this.#of(cluster).length === 0) return undefined;
    const askedAt = clock.now();
    const groups = this.#groupsNow(cluster) ?? (await this.#find(cluster, signal));
    const before = this.#known.get(cluster);
    const isWhole =
      before?.of !== groups || this.#of(cluster).some(([, { since }]) => before.askedAt < since);
    const asked = isWhole ? groups : groups.filter(({ name }) => this.#lists(cluster, name));
    const byInstance = await this.#health(cluster, asked, signal);
    this.#known.set(cluster, {
      askedAt: isWhole ? askedAt : before.askedAt,
      of: groups,
      byInstance,
    });
    const wanted = this.#of(cluster);
    for (const [name] of wanted) this.#onAnswer(name);
    if (this.#groupsNow(cluster)?.length === 0) return undefined;
    return { nextAt: epochMs(clock.now() + pauseOf(wanted, clock.now())) };
  }

  /** Whether the target group listed an instance that is wanted. */
  #lists(cluster: string, targetGroup: string): boolean {
    const { byInstance } = this.#known.get(cluster) ?? {};
    return this.#of(cluster).some(([, { instanceId }]) =>
      byInstance?.get(instanceId)?.some(({ group }) => group === targetGroup),
    );
  }

  #of(cluster: string): readonly (readonly [string, Wanted])[] {
    return [...this.#wanted].filter(([, wanted]) => wanted.cluster === cluster);
  }

  /**
   * Only target groups of instances: an IP target is deregistered with its pod. Without permission
   * to read them drains do not wait, so that an IAM policy of an earlier release delays none.
   */
  async #find(cluster: string, signal: AbortSignal): Promise<readonly TargetGroup[]> {
    const { cloud, clock } = this.#deps;
    const found =
      (await this.#unlessDenied(cluster, async () =>
        cloud?.describeTargetGroups(cluster, { signal }),
      )) ?? [];
    const groups = found.filter(({ targetType }) => targetType === 'instance');
    this.#groups.set(cluster, { at: clock.now(), groups });
    return groups;
  }

  /** Undefined where Drover may not ask. Throws CloudError for all other reasons. */
  async #unlessDenied<T>(
    cluster: string,
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      const isFinal =
        error instanceof CloudError &&
        (error.code === 'AccessDenied' || error.code === 'Unsupported');
      if (!isFinal) throw error;
      const { log, clock } = this.#deps;
      log.warn('target groups not read: drains do not wait for load balancers', {
        cluster,
        error: error.message,
      });
      this.#groups.set(cluster, { at: clock.now(), groups: [] });
      return undefined;
    }
  }

  async #health(
    cluster: string,
    groups: readonly TargetGroup[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly TargetState[]>> {
    const { cloud } = this.#deps;
    const states = new Map<string, TargetState[]>();
    for (let from = 0; from < groups.length; from += callsAtOnce) {
      const some = groups.slice(from, from + callsAtOnce);
      const answers = await this.#unlessDenied(cluster, () =>
        Promise.all(
          some.map(async ({ arn, name }) => ({
            name,
            targets: (await cloud?.describeTargets(arn, { signal })) ?? [],
          })),
        ),
      );
      if (answers === undefined) return new Map();
      for (const { name, targets } of answers) {
        for (const { id, state } of targets) {
          states.set(id, [...(states.get(id) ?? []), { group: name, state }]);
        }
      }
    }
    return states;
  }
}

const pauseOf = (wanted: readonly (readonly [string, Wanted])[], now: EpochMs): DurationMs =>
  wanted.some(([, { since }]) => now - since < soonForMs) ? soonMs : laterMs;

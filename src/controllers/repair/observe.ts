// The input of the repair controller: informers, the members of a group, launch times of instances
// without a node, EC2's status checks. Remembers which nodes it has seen. Decides nothing.
import { type EpochMs, epochMs, instanceIdOfProviderId, parseTime } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { ImpairedCheck } from '../../core/health/index.ts';
import {
  checksByInstance,
  membersWithoutNode,
  type RepairObservation,
  repairObservation,
} from '../../core/repair/index.ts';
import { CloudError } from '../../ports/index.ts';
import { type Change, describeError } from '../../runtime/index.ts';
import { nodeOfInstance } from '../informers.ts';
import type { RepairDeps } from './deps.ts';

/** EC2 runs its status checks every minute. */
const checksKeptMs = 60_000;
const maxRemembered = 20_000;

type Impaired = ReadonlyMap<string, readonly ImpairedCheck[]>;

export class Observer {
  readonly #deps: RepairDeps;
  /** Instances whose Node's deletion this process observed, and when. */
  readonly #missed = new Map<string, EpochMs>();
  readonly #launched = new Map<string, EpochMs>();
  #checks: { readonly at: EpochMs; readonly impaired: Impaired } | undefined;

  constructor(deps: RepairDeps) {
    this.#deps = deps;
  }

  /** Call for each change of a node. */
  saw({ kind, object }: Change<Node>): void {
    const id = instanceIdOfProviderId(object.spec.providerID);
    if (id === undefined) return;
    if (kind !== 'removed') {
      this.#missed.delete(id);
      return;
    }
    if (this.#missed.size >= maxRemembered) this.#missed.clear();
    this.#missed.set(id, this.#deps.clock.now());
  }

  /** Throws CloudError. */
  async observe(
    group: NodeGroup,
    of: { readonly scaling: ScalingGroup; readonly repairs: readonly NodeRepair[] },
    signal: AbortSignal,
  ): Promise<RepairObservation> {
    const { nodes, disruptions, clock } = this.#deps;
    const { scaling, repairs } = of;
    await this.#askLaunches(scaling, signal);
    const impaired = await this.#impaired(signal);
    const gone = await this.#gone(repairs, signal);
    return repairObservation({
      group,
      scaling,
      repairs,
      nodeOf: (id) => nodeOfInstance(nodes, id),
      nodes: nodes.list(),
      disruptionOf: (id) => disruptions.get(id),
      launchedAt: this.#launched,
      missedSince: this.#missed,
      impaired,
      gone,
      now: clock.now(),
    });
  }

  /** Launch times of members without a Node. There are few, and each is read once. */
  async #askLaunches(scaling: ScalingGroup, signal: AbortSignal): Promise<void> {
    const { cloud, nodes } = this.#deps;
    const unknown = membersWithoutNode(scaling, (id) => nodeOfInstance(nodes, id)).filter(
      (id) => !this.#launched.has(id),
    );
    if (unknown.length === 0) return;
    if (this.#launched.size >= maxRemembered) this.#launched.clear();
    for (const { instanceId, launchTime } of await cloud.describeInstances(unknown, { signal })) {
      const at = parseTime(launchTime);
      if (at !== undefined) this.#launched.set(instanceId, at);
    }
  }

  /** Instances of verified quarantines that no longer run. There are few, each for minutes only. */
  async #gone(repairs: readonly NodeRepair[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const ids = repairs.filter(isVerifiedQuarantine).map(({ spec }) => spec.instanceId);
    if (ids.length === 0) return new Set();
    const found = await this.#deps.cloud.describeInstances(ids, { signal });
    const alive = found.filter(({ state }) => state !== 'shutting-down' && state !== 'terminated');
    const existing = new Set(alive.map(({ instanceId }) => instanceId));
    return new Set(ids.filter((id) => !existing.has(id)));
  }

  /**
   * EC2's failing status checks. If EC2 does not answer, the last known ones: repairs do not wait
   * for EC2.
   */
  async #impaired(signal: AbortSignal): Promise<Impaired> {
    const { cloud, clock, log } = this.#deps;
    const now = clock.now();
    if (this.#checks !== undefined && now - this.#checks.at < checksKeptMs) {
      return this.#checks.impaired;
    }
    try {
      const found = await cloud.describeImpairedInstances({ signal });
      this.#checks = { at: now, impaired: checksByInstance(found) };
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      log.warn('status checks not read', { error: describeError(error) });
      this.#checks = { at: epochMs(now), impaired: this.#checks?.impaired ?? new Map() };
    }
    return this.#checks.impaired;
  }
}

const isVerifiedQuarantine = ({ status }: NodeRepair): boolean =>
  status?.phase === 'Verifying' && status.attempts?.at(-1)?.action === 'Quarantine';

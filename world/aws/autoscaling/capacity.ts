// Brings the number of a group's instances to desired capacity: how many to launch, which to
// terminate, when to retry, with the service's sentences as causes. Never changes a member's state.
import { type Span, sentence } from '../scope.ts';
import type { Balancer } from './balancer.ts';
import { type Candidate, scaleInChoice } from './choose.ts';
import type { Launcher } from './launcher.ts';
import { capacityOf, type GroupRow, type MemberRow } from './rows.ts';
import type { SpotRebalancer } from './spot-rebalancer.ts';
import type { GroupStore } from './store.ts';
import type { WarmPools } from './warm-pool.ts';

const maxBackoffSteps = 4;

export interface CapacityParts {
  readonly store: GroupStore;
  readonly launcher: Launcher;
  readonly warmPools: WarmPools;
  readonly balancer: Balancer;
  readonly rebalancer: SpotRebalancer;
  readonly terminate: (member: MemberRow, cause: string) => void;
  /** Schedules an event of the engine; returns its handle. */
  readonly later: (kind: string, args: Readonly<Record<string, string>>, span: Span) => number;
}

export class Capacity {
  readonly #parts: CapacityParts;
  readonly #store: GroupStore;

  constructor(parts: CapacityParts) {
    this.#parts = parts;
    this.#store = parts.store;
  }

  /** Stores new sizes with the cause of the request, and schedules the scaling. */
  change(name: string, sizes: Partial<GroupRow>, cause: string): void {
    const before = this.#store.needGroup(name);
    const after = this.#store.patchGroup(name, sizes);
    if (after.desired !== before.desired) {
      const told = sentence(
        `${cause} changing the desired capacity from ${before.desired} to`,
        `${after.desired}.`,
      );
      this.#store.patchGroup(name, { cause: told });
    }
    this.queue(name);
  }

  queue(name: string): void {
    const group = this.#store.group(name);
    if (group === undefined || group.isScalingQueued) return;
    this.#store.patchGroup(name, { isScalingQueued: true });
    this.#parts.later('scale', { group: name }, this.#store.scope.timings.scalingMs);
  }

  /** Compares desired with actual capacity and launches or terminates the difference. */
  scale(name: string): void {
    const group = this.#store.group(name);
    if (group === undefined) return;
    this.#store.patchGroup(name, { isScalingQueued: false });
    const wanted = group.desired + capacityOf(group, this.#parts.rebalancer.replaced(name));
    const missing = wanted - capacityOf(group, this.#store.counted(name));
    // The additional instance is gone, or desired capacity has grown by it: zone balancing has no
    // surplus left.
    if (missing >= 0 && this.#parts.balancer.surplusCause(name) !== '') {
      this.#parts.balancer.settled(name);
    }
    if (missing > 0 && !group.isDeleting && !group.suspended.includes('Launch')) {
      this.#scaleOut(group, missing);
    } else if (missing < 0 && !group.suspended.includes('Terminate')) {
      this.#shrink(group, -missing);
    }
    this.#store.patchGroup(name, { cause: '' });
    if (!group.suspended.includes('Launch')) this.#parts.warmPools.adjust(group);
    this.#parts.balancer.watch(group);
  }

  /** The surplus of zone balancing is terminated once its replacement is in service. */
  #shrink(group: GroupRow, count: number): void {
    const cause = this.#parts.balancer.surplusCause(group.name);
    if (cause === '') {
      this.#scaleIn(group, count);
      return;
    }
    const isReady = this.#store.counted(group.name).every((one) => one.state === 'InService');
    if (!isReady) return;
    this.#parts.balancer.settled(group.name);
    this.#scaleIn({ ...group, cause }, count);
  }

  #scaleOut(group: GroupRow, count: number): void {
    const cause = this.startCause(group, count);
    let { replacing } = group;
    const goal = capacityOf(group, this.#store.counted(group.name)) + count;
    while (capacityOf(group, this.#store.counted(group.name)) < goal) {
      const why = replacing > 0 ? replacementCause(this.#store.at()) : cause;
      if (this.#parts.warmPools.take(group, why) !== undefined) continue;
      if (this.#parts.launcher.launch(group, why).kind === 'failed') {
        this.#store.patchGroup(group.name, { replacing });
        this.#retryLater(group.name);
        return;
      }
      replacing = Math.max(0, replacing - 1);
    }
    this.#store.scope.kernel.cancel(group.retry);
    this.#store.patchGroup(group.name, { replacing, failures: 0, retry: 0 });
  }

  /** Why instances are launched, in the service's sentences. */
  startCause(group: GroupRow, count: number): string {
    const actual = capacityOf(group, this.#store.counted(group.name));
    const started = sentence(
      `${this.#store.at()} an instance was started in response to a difference between`,
      `desired and actual capacity, increasing the capacity from ${actual} to`,
      `${actual + count}.`,
    );
    return group.cause === '' ? started : `${group.cause}  ${started}`;
  }

  #retryLater(name: string): void {
    const group = this.#store.needGroup(name);
    this.#store.scope.kernel.cancel(group.retry);
    const [from, to] = this.#store.scope.timings.launchRetryMs;
    const factor = 2 ** Math.min(group.failures, maxBackoffSteps);
    const retry = this.#parts.later('scale', { group: name }, [from * factor, to * factor]);
    this.#store.patchGroup(name, { retry, failures: group.failures + 1 });
  }

  #scaleIn(group: GroupRow, count: number): void {
    let left = this.#store.counted(group.name);
    const before = capacityOf(group, left);
    const victims: MemberRow[] = [];
    while (capacityOf(group, left) > before - count) {
      const choice = scaleInChoice(left.map(candidateOf));
      if (choice === undefined) break;
      const rest = left.filter((member) => member.instanceId !== choice.instanceId);
      // A member stays if its weight exceeds the surplus: terminating it would leave less than
      // desired.
      if (capacityOf(group, rest) < before - count) break;
      victims.push(...left.filter((member) => member.instanceId === choice.instanceId));
      left = rest;
    }
    const at = this.#store.at();
    const cause = [
      ...(group.cause === '' ? [] : [group.cause]),
      sentence(
        `${at} an instance was taken out of service in response to a difference between`,
        'desired and actual capacity, shrinking the capacity from',
        `${before} to ${capacityOf(group, left)}.`,
      ),
      ...victims.map((one) => `${at} instance ${one.instanceId} was selected for termination.`),
    ].join('  ');
    for (const victim of victims) this.#parts.terminate(victim, cause);
  }
}

const replacementCause = (at: string): string =>
  `${at} an instance was launched in response to an unhealthy instance needing to be replaced.`;

const candidateOf = (member: MemberRow): Candidate => ({
  instanceId: member.instanceId,
  zone: member.zone,
  isProtected: member.isProtected,
  joinedAt: member.joinedAt,
  templateVersion: Number(member.template.version),
  health: member.health,
});

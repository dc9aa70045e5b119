// Warm pools: stopped or running instances beside a group that enter service faster. Sizes the
// pool, moves its members, hands them out. Launch hooks run when an instance enters the pool and
// when it leaves it; none run when it is terminated there (inferred).
import type { Table } from '../../kernel/index.ts';
import type { InstanceRow } from '../ec2/instance-row.ts';
import type { Instances } from '../ec2/instances.ts';
import { sentence } from '../scope.ts';
import type { Actions } from './actions.ts';
import type { Launcher } from './launcher.ts';
import { type GroupRow, launching, type MemberRow } from './rows.ts';
import type { GroupStore } from './store.ts';

export type WarmPoolRow = {
  readonly group: string;
  readonly minSize: number;
  /** Largest sum of group and pool; default: the group's maximum. */
  readonly maxPrepared?: number;
  readonly state: 'Stopped' | 'Running';
  readonly isDeleting: boolean;
};

export interface WarmPoolParts {
  readonly store: GroupStore;
  readonly instances: Instances;
  readonly launcher: Launcher;
  readonly actions: Actions;
  /** Schedules the step after Warmed:Pending:Proceed. */
  readonly proceedLater: (instanceId: string) => void;
}

export class WarmPools {
  readonly #parts: WarmPoolParts;
  readonly #rows: Table<WarmPoolRow>;

  constructor(parts: WarmPoolParts) {
    this.#parts = parts;
    this.#rows = parts.store.scope.kernel.tables.open<WarmPoolRow>('aws/autoscaling/warm-pools');
  }

  find(group: string): WarmPoolRow | undefined {
    return this.#rows.get(group);
  }
  put(pool: WarmPoolRow): void {
    this.#rows.put(pool.group, pool);
  }
  forget(group: string): void {
    this.#rows.delete(group);
  }

  /** Terminates the pool's instances; the row is deleted with the last of them. */
  remove(group: string): void {
    const pool = this.#rows.get(group);
    if (pool === undefined) return;
    this.#rows.put(group, { ...pool, isDeleting: true });
    const cause = `${this.#parts.store.at()} a user request deleted the warm pool.`;
    for (const member of this.#parts.store.warmed(group)) this.#end(member, cause);
    if (this.#parts.store.warmed(group).length === 0) this.forget(group);
  }

  /** Launches or terminates instances until the pool has its size. */
  adjust(group: GroupRow): void {
    const pool = this.#rows.get(group.name);
    if (pool === undefined || pool.isDeleting || group.isDeleting) return;
    const { store, launcher } = this.#parts;
    const staying = store
      .warmed(group.name)
      .filter((member) => member.state !== 'Warmed:Terminating');
    const prepared = pool.maxPrepared ?? group.max;
    const wanted = Math.max(pool.minSize, prepared - group.desired);
    const difference = sentence(
      'in response to a difference between desired and actual warm pool size, changing the size',
      `from ${staying.length} to ${wanted}.`,
    );
    for (let i = staying.length; i < wanted; i++) {
      const cause = `${store.at()} an instance was started ${difference}`;
      if (launcher.launch(group, cause, { kind: 'warm' }).kind === 'failed') return;
    }
    for (const member of staying.slice(wanted)) {
      this.#end(member, `${store.at()} an instance was taken out of service ${difference}`);
    }
  }

  /** Moves a ready instance of the pool towards the group; undefined if there is none. */
  take(group: GroupRow, cause: string): MemberRow | undefined {
    const { store, instances, proceedLater } = this.#parts;
    const member = store
      .warmed(group.name)
      .find((one) => one.state === 'Warmed:Stopped' || one.state === 'Warmed:Running');
    if (member === undefined) return undefined;
    const { instanceId, subnetId, zone } = member;
    const activity = store.beginActivity(group, {
      description: `Launching a new EC2 instance from warm pool: ${instanceId}`,
      cause,
      status: 'PreInService',
      subnetId,
      zone,
    });
    store.moveMember(instanceId, 'Pending');
    store.patchMember(instanceId, { activityId: activity.id, joinedAt: store.scope.now() });
    if (instances.unwarm(instanceId)) proceedLater(instanceId);
    else instances.start(instanceId);
    return member;
  }

  /** Continues with a pool member whose instance has changed state. */
  instanceChanged(member: MemberRow, instance: InstanceRow): void {
    const { store, actions, proceedLater } = this.#parts;
    const { instanceId } = member;
    if (instance.state === 'running' && member.state === 'Warmed:Pending') {
      const group = store.needGroup(member.group);
      if (store.hooks(group.name, launching).length === 0) {
        store.moveMember(instanceId, 'Warmed:Pending:Proceed');
        proceedLater(instanceId);
        return;
      }
      store.moveMember(instanceId, 'Warmed:Pending:Wait');
      store.patchActivity(member.activityId, { status: 'MidLifecycleAction', progress: 50 });
      actions.open(group, instanceId, launching);
    } else if (instance.state === 'stopped' && member.state === 'Warmed:Pending:Proceed') {
      store.moveMember(instanceId, 'Warmed:Stopped');
      store.endActivity(member.activityId, 'Successful');
    } else if (instance.state === 'terminated') {
      this.#gone(member);
    }
  }

  /** The result of a hook of an instance that enters the pool. */
  actionEnded(member: MemberRow, result: 'CONTINUE' | 'ABANDON'): void {
    if (member.state !== 'Warmed:Pending:Wait') return;
    const { store, proceedLater } = this.#parts;
    if (result === 'ABANDON') {
      const why = 'was taken out of service in response to an abandoned launch lifecycle action.';
      this.#end(member, `${store.at()} instance ${member.instanceId} ${why}`);
      return;
    }
    store.moveMember(member.instanceId, 'Warmed:Pending:Proceed');
    proceedLater(member.instanceId);
  }

  proceed(member: MemberRow): void {
    if (member.state !== 'Warmed:Pending:Proceed') return;
    const { store, instances } = this.#parts;
    if (this.#rows.get(member.group)?.state === 'Running') {
      store.moveMember(member.instanceId, 'Warmed:Running');
      store.endActivity(member.activityId, 'Successful');
    } else {
      instances.stop(member.instanceId);
    }
  }

  #end(member: MemberRow, cause: string): void {
    if (member.state === 'Warmed:Terminating') return;
    const { store, instances, actions } = this.#parts;
    const { instanceId, subnetId, zone } = member;
    actions.cancel(instanceId);
    store.endActivity(member.activityId, 'Cancelled');
    const activity = store.beginActivity(store.needGroup(member.group), {
      description: `Terminating EC2 instance from warm pool: ${instanceId}`,
      cause,
      status: 'InProgress',
      subnetId,
      zone,
    });
    store.moveMember(instanceId, 'Warmed:Terminating');
    store.patchMember(instanceId, { activityId: activity.id });
    instances.terminate(instanceId);
  }

  #gone(member: MemberRow): void {
    const { store } = this.#parts;
    const isExpected = member.state === 'Warmed:Terminating';
    store.endActivity(member.activityId, isExpected ? 'Successful' : 'Cancelled');
    store.dropMember(member.instanceId);
    const pool = this.#rows.get(member.group);
    if (pool?.isDeleting === true && store.warmed(member.group).length === 0) {
      this.forget(member.group);
    }
    const group = store.group(member.group);
    if (group !== undefined && !isExpected) this.adjust(group);
  }
}

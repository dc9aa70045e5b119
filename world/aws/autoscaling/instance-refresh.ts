// Instance refreshes: replaces a group's instances in batches that the minimum healthy percentage
// allows, at least one. Rolling only: no checkpoints, alarms, rollback or bake time. Source: EC2
// Auto Scaling user guide, "instance refresh".
import { microsPerSecond, type Table, type WorldEvent } from '../../kernel/index.ts';
import { refuse } from '../scope.ts';
import type { Engine } from './engine.ts';
import { isLeaving, isWarm, type MemberRow } from './rows.ts';
import type { GroupStore } from './store.ts';

export type RefreshStatus = 'Pending' | 'InProgress' | 'Cancelling' | 'Successful' | 'Cancelled';

export type RefreshRow = {
  readonly id: string;
  readonly group: string;
  readonly status: RefreshStatus;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly minHealthyPercentage: number;
  readonly warmupSeconds: number;
  readonly skipMatching: boolean;
  /** The number of instances to replace, and those whose termination has not begun. */
  readonly total: number;
  readonly left: readonly string[];
};

const component = 'aws.autoscaling.refresh';
/** Interval between checks for more capacity to replace. */
const lookSeconds = 5;
/** Auto Scaling keeps the history of a group's refreshes for six weeks. */
const keptSeconds = 42 * 24 * 3600;

const isOver = ({ status }: RefreshRow): boolean =>
  status === 'Successful' || status === 'Cancelled';

export class InstanceRefreshes {
  readonly #store: GroupStore;
  readonly #engine: Engine;
  readonly #rows: Table<RefreshRow>;

  constructor(store: GroupStore, engine: Engine) {
    this.#store = store;
    this.#engine = engine;
    const { kernel } = store.scope;
    this.#rows = kernel.tables.open<RefreshRow>('aws/autoscaling/refreshes');
    kernel.register({ name: component, handle: (event) => this.#handle(event) });
  }

  /** Latest first. */
  of(group: string): readonly RefreshRow[] {
    return [...this.#rows.values()]
      .filter((row) => row.group === group)
      .sort((a, b) => b.startedAt - a.startedAt);
  }

  start(
    wanted: Pick<RefreshRow, 'group' | 'minHealthyPercentage' | 'warmupSeconds' | 'skipMatching'>,
  ): RefreshRow {
    if (this.of(wanted.group).some((row) => !isOver(row))) {
      throw refuse(
        'InstanceRefreshInProgress',
        'An Instance Refresh is already in progress and blocks the execution of this ' +
          'Instance Refresh.',
      );
    }
    const { scope } = this.#store;
    const { template } = this.#store.needGroup(wanted.group);
    const matches = (member: MemberRow): boolean =>
      wanted.skipMatching &&
      member.template.id === template.id &&
      member.template.version === template.version;
    const left = this.#members(wanted.group)
      .filter((member) => !matches(member))
      .map(({ instanceId }) => instanceId);
    const row: RefreshRow = {
      ...wanted,
      id: scope.uuid(component),
      status: 'Pending',
      startedAt: scope.now(),
      total: left.length,
      left,
    };
    this.#rows.put(row.id, row);
    this.#later('look', row, 1);
    return row;
  }

  /** Stops further replacements; the refresh ends when those in progress end. */
  cancel(group: string): RefreshRow {
    const row = this.of(group).find((one) => !isOver(one) && one.status !== 'Cancelling');
    if (row === undefined) {
      throw refuse(
        'ActiveInstanceRefreshNotFound',
        `No in progress or pending Instance Refresh found for Auto Scaling group ${group}`,
      );
    }
    const cancelling: RefreshRow = { ...row, status: 'Cancelling' };
    this.#rows.put(row.id, cancelling);
    return cancelling;
  }

  /** Instances left to replace: not yet terminating, or with a replacement that is not ready. */
  toUpdate(row: RefreshRow): number {
    if (isOver(row)) return row.left.length;
    const desired = this.#store.group(row.group)?.desired ?? 0;
    const missing = Math.max(0, desired - this.#warm(row).length);
    return Math.min(row.total, row.left.length + missing);
  }

  #members(group: string): readonly MemberRow[] {
    return this.#store
      .members(group)
      .filter(({ state }) => !isLeaving(state) && !isWarm(state) && !state.endsWith('Standby'));
  }

  /** In service, healthy and, if launched by the refresh, past their warm-up. */
  #warm({ group, startedAt, warmupSeconds }: RefreshRow): readonly MemberRow[] {
    const now = this.#store.scope.now();
    return this.#members(group).filter(
      ({ state, health, joinedAt }) =>
        state === 'InService' &&
        health === 'Healthy' &&
        (joinedAt <= startedAt || joinedAt + warmupSeconds * 1000 <= now),
    );
  }

  #handle({ kind, args }: WorldEvent): void {
    const row = this.#rows.get(String(args.id));
    if (row === undefined) return;
    if (kind === 'forget') this.#rows.delete(row.id);
    else if (!isOver(row)) this.#look(row);
  }

  #look(row: RefreshRow): void {
    const group = this.#store.group(row.group);
    if (group === undefined) {
      this.#rows.delete(row.id);
      return;
    }
    const present = new Set(this.#members(row.group).map(({ instanceId }) => instanceId));
    const left = row.left.filter((id) => present.has(id));
    const warm = this.#warm(row).length;
    const isWhole = warm >= group.desired;
    if (row.status === 'Cancelling' || left.length === 0) {
      if (isWhole) this.#end({ ...row, left });
      else this.#again({ ...row, left });
      return;
    }
    const floor = Math.ceil((group.desired * row.minHealthyPercentage) / 100);
    // At least one, so that small groups are refreshed; none while an instance is missing.
    const room = Math.max(isWhole ? 1 : 0, warm - floor);
    const [going, staying] = [left.slice(0, room), left.slice(room)];
    for (const id of going) this.#replace(id);
    this.#again({ ...row, status: 'InProgress', left: staying });
  }

  #replace(instanceId: string): void {
    const member = this.#store.needMember(instanceId);
    this.#engine.terminate(
      member,
      `${this.#store.at()} an instance was taken out of service in response to an instance ` +
        'refresh.',
    );
    this.#engine.queueScaling(member.group);
  }

  #again(row: RefreshRow): void {
    this.#rows.put(row.id, row);
    this.#later('look', row, lookSeconds);
  }

  #end(row: RefreshRow): void {
    const status = row.status === 'Cancelling' ? 'Cancelled' : 'Successful';
    const ended: RefreshRow = { ...row, status, endedAt: this.#store.scope.now() };
    this.#rows.put(row.id, ended);
    this.#later('forget', ended, keptSeconds);
  }

  #later(kind: string, { id }: RefreshRow, seconds: number): void {
    const afterMicros = seconds * microsPerSecond;
    this.#store.scope.kernel.schedule({ afterMicros, actor: component, kind, args: { id } });
  }
}

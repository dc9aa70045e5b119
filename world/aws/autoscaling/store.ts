// The tables of Auto Scaling with their look-ups, and the only function that changes the state of a
// member. Decides nothing.
import type { Table } from '../../kernel/index.ts';
import { isoSeconds, type Scope, validationError } from '../scope.ts';
import {
  type ActionRow,
  type ActivityEnd,
  type ActivityRow,
  type GroupRow,
  type HookRow,
  isCounted,
  isWarm,
  type LifecycleState,
  type MemberRow,
  type Transition,
  transitions,
} from './rows.ts';

/** Auto Scaling keeps activities for six weeks; the world keeps this many per group. */
const maxActivitiesPerGroup = 200;
export const component = 'aws.autoscaling';

export class GroupStore {
  readonly scope: Scope;
  readonly #groups: Table<GroupRow>;
  readonly #members: Table<MemberRow>;
  readonly #hooks: Table<HookRow>;
  readonly #actions: Table<ActionRow>;
  readonly #activities: Table<ActivityRow>;
  /** Derived: group -> instance ids in order of joining, group -> activity ids, oldest first. */
  readonly #membersOf = new Map<string, Set<string>>();
  readonly #activitiesOf = new Map<string, string[]>();

  constructor(scope: Scope) {
    this.scope = scope;
    const { tables } = scope.kernel;
    this.#groups = tables.open<GroupRow>('aws/autoscaling/groups');
    this.#members = tables.open<MemberRow>('aws/autoscaling/instances');
    this.#hooks = tables.open<HookRow>('aws/autoscaling/hooks');
    this.#actions = tables.open<ActionRow>('aws/autoscaling/actions');
    this.#activities = tables.open<ActivityRow>('aws/autoscaling/activities');
    for (const row of this.#members.values()) this.#indexMember(row);
    const activities = [...this.#activities.values()].sort((a, b) => a.startedAt - b.startedAt);
    for (const row of activities) this.#indexActivity(row);
  }

  // ---- groups ----

  groups(): readonly GroupRow[] {
    return [...this.#groups.values()];
  }
  group(name: string): GroupRow | undefined {
    return this.#groups.get(name);
  }
  /** Throws Auto Scaling's error for a name that does not exist. */
  needGroup(name: string): GroupRow {
    const row = this.#groups.get(name);
    if (row !== undefined) return row;
    throw validationError(`AutoScalingGroup name not found - AutoScalingGroup: ${name} not found`);
  }
  putGroup(row: GroupRow): void {
    this.#groups.put(row.name, row);
  }
  patchGroup(name: string, change: Partial<GroupRow>): GroupRow {
    const row = { ...this.needGroup(name), ...change };
    this.#groups.put(name, row);
    return row;
  }
  dropGroup(name: string): void {
    this.#groups.delete(name);
    for (const hook of this.hooks(name)) this.dropHook(hook);
    this.#membersOf.delete(name);
  }

  // ---- members ----

  /** Without the warm pool. */
  members(group: string): readonly MemberRow[] {
    return this.#all(group).filter((member) => !isWarm(member.state));
  }
  warmed(group: string): readonly MemberRow[] {
    return this.#all(group).filter((member) => isWarm(member.state));
  }
  #all(group: string): readonly MemberRow[] {
    const ids = [...(this.#membersOf.get(group) ?? [])];
    return ids.flatMap((id) => this.#members.get(id) ?? []);
  }
  /** Members that count towards desired capacity. */
  counted(group: string): readonly MemberRow[] {
    return this.#all(group).filter((member) => isCounted(member.state));
  }
  allMembers(): readonly MemberRow[] {
    return [...this.#members.values()];
  }
  member(instanceId: string): MemberRow | undefined {
    return this.#members.get(instanceId);
  }
  needMember(instanceId: string): MemberRow {
    const row = this.#members.get(instanceId);
    if (row !== undefined) return row;
    throw validationError(
      `Instance Id not found - No managed instance found for instance ID: ${instanceId}`,
    );
  }
  addMember(row: MemberRow): void {
    this.#members.put(row.instanceId, row);
    this.#indexMember(row);
  }
  patchMember(instanceId: string, change: Omit<Partial<MemberRow>, 'state'>): void {
    this.#members.put(instanceId, { ...this.needMember(instanceId), ...change });
  }
  /** The only way a member changes state. */
  moveMember(instanceId: string, to: LifecycleState): MemberRow {
    const row = this.needMember(instanceId);
    if (!transitions[row.state].includes(to)) {
      throw new Error(`${instanceId} cannot go from ${row.state} to ${to}`);
    }
    const next = { ...row, state: to };
    this.#members.put(instanceId, next);
    return next;
  }
  dropMember(instanceId: string): void {
    const row = this.#members.get(instanceId);
    if (row !== undefined) this.#membersOf.get(row.group)?.delete(instanceId);
    this.#members.delete(instanceId);
  }

  // ---- hooks and their open actions ----

  hooks(group: string, transition?: Transition): readonly HookRow[] {
    return [...this.#hooks.values()].filter(
      (hook) =>
        hook.group === group && (transition === undefined || hook.transition === transition),
    );
  }
  hook(group: string, name: string): HookRow | undefined {
    return this.#hooks.get(`${group}/${name}`);
  }
  putHook(hook: HookRow): void {
    this.#hooks.put(`${hook.group}/${hook.name}`, hook);
  }
  dropHook(hook: HookRow): void {
    this.#hooks.delete(`${hook.group}/${hook.name}`);
  }
  actionsOf(instanceId: string): readonly ActionRow[] {
    return [...this.#actions.values()].filter((action) => action.instanceId === instanceId);
  }
  action(token: string): ActionRow | undefined {
    return this.#actions.get(token);
  }
  actions(): readonly ActionRow[] {
    return [...this.#actions.values()];
  }
  putAction(action: ActionRow): void {
    this.#actions.put(action.token, action);
  }
  dropAction(token: string): void {
    this.#actions.delete(token);
  }

  // ---- activities ----

  activities(group?: string): readonly ActivityRow[] {
    if (group === undefined) return [...this.#activities.values()];
    return (this.#activitiesOf.get(group) ?? []).flatMap((id) => this.#activities.get(id) ?? []);
  }
  activity(id: string): ActivityRow | undefined {
    return this.#activities.get(id);
  }

  beginActivity(
    group: GroupRow,
    facts: Pick<ActivityRow, 'description' | 'cause' | 'status'> & {
      readonly subnetId: string;
      readonly zone: string;
      readonly progress?: number;
    },
  ): ActivityRow {
    const { subnetId, zone, progress = 0, ...told } = facts;
    const row: ActivityRow = {
      ...told,
      id: this.scope.uuid(component),
      group: group.name,
      groupArn: group.arn,
      startedAt: this.scope.now(),
      progress,
      details: JSON.stringify({ 'Subnet ID': subnetId, 'Availability Zone': zone }),
    };
    this.#activities.put(row.id, row);
    this.#indexActivity(row);
    return row;
  }

  patchActivity(id: string, change: Pick<ActivityRow, 'status' | 'progress'>): void {
    const row = this.#activities.get(id);
    if (row !== undefined && row.endedAt === undefined) {
      this.#activities.put(id, { ...row, ...change });
    }
  }

  endActivity(id: string, status: ActivityEnd, message?: string): void {
    const row = this.#activities.get(id);
    if (row === undefined || row.endedAt !== undefined) return;
    const told =
      message === undefined
        ? {}
        : { message, description: `${row.description}.  Status Reason: ${message}` };
    const ended = { status, progress: 100, endedAt: this.scope.now() };
    this.#activities.put(id, { ...row, ...ended, ...told });
  }

  /** `At 2022-09-25T13:58:43Z `, the start of a sentence in a cause. */
  at(): string {
    return `At ${isoSeconds(this.scope.now())}`;
  }

  #indexMember(row: MemberRow): void {
    const ids = this.#membersOf.get(row.group) ?? new Set();
    this.#membersOf.set(row.group, ids.add(row.instanceId));
  }

  #indexActivity(row: ActivityRow): void {
    const ids = this.#activitiesOf.get(row.group) ?? [];
    this.#activitiesOf.set(row.group, ids);
    ids.push(row.id);
    while (ids.length > maxActivitiesPerGroup) {
      const oldest = ids.shift();
      if (oldest !== undefined) this.#activities.delete(oldest);
    }
  }
}

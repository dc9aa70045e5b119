// ELBv2 target groups: their targets, and the progress of registration and deregistration. A target
// group counts as used with or without a load balancer: users cannot create one.
import { hexString, type Table, type WorldEvent } from '../../kernel/index.ts';
import type { Instances } from '../ec2/instances.ts';
import type { Tags } from '../filters.ts';
import { refuse, type Scope } from '../scope.ts';

export type TargetGroupRow = {
  readonly arn: string;
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly vpcId: string;
  readonly targetType: string;
  readonly healthCheck: {
    readonly protocol: string;
    readonly port: string;
    readonly path: string;
    readonly intervalSeconds: number;
    readonly timeoutSeconds: number;
    readonly healthyCount: number;
    readonly unhealthyCount: number;
  };
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Tags;
};

export type TargetRow = {
  readonly group: string;
  readonly id: string;
  readonly port: number;
  readonly state: 'initial' | 'healthy' | 'draining';
  /** Changes with each registration, so that events of an earlier one are stale. */
  readonly generation: number;
};

const component = 'aws.elb';
const delayKey = 'deregistration_delay.timeout_seconds';

export const defaultAttributes: Readonly<Record<string, string>> = {
  [delayKey]: '300',
  'stickiness.enabled': 'false',
  'load_balancing.algorithm.type': 'round_robin',
  'slow_start.duration_seconds': '0',
};

export class TargetGroups {
  readonly scope: Scope;
  readonly #instances: Instances;
  readonly #groups: Table<TargetGroupRow>;
  readonly #targets: Table<TargetRow>;

  constructor(scope: Scope, instances: Instances) {
    this.scope = scope;
    this.#instances = instances;
    this.#groups = scope.kernel.tables.open<TargetGroupRow>('aws/elb/target-groups');
    this.#targets = scope.kernel.tables.open<TargetRow>('aws/elb/targets');
    scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
  }

  all(): readonly TargetGroupRow[] {
    return [...this.#groups.values()];
  }
  get(arn: string): TargetGroupRow | undefined {
    return this.#groups.get(arn);
  }
  need(arn: string): TargetGroupRow {
    const row = this.#groups.get(arn);
    if (row !== undefined) return row;
    throw refuse('TargetGroupNotFound', `One or more target groups not found: ${arn}`);
  }
  add(group: Omit<TargetGroupRow, 'arn'>): TargetGroupRow {
    const suffix = hexString(this.scope.kernel.random(component), 16);
    const arn = this.scope.arn('elasticloadbalancing', `targetgroup/${group.name}/${suffix}`);
    const row = { ...group, arn };
    this.#groups.put(arn, row);
    return row;
  }
  put(row: TargetGroupRow): void {
    this.#groups.put(row.arn, row);
  }
  remove(arn: string): void {
    for (const target of this.targets(arn)) this.#targets.delete(keyOf(target));
    this.#groups.delete(arn);
  }

  targets(arn: string): readonly TargetRow[] {
    return [...this.#targets.values()].filter((target) => target.group === arn);
  }

  register(arn: string, id: string, port: number | undefined): void {
    const group = this.#groups.get(arn);
    if (group === undefined) return;
    const named = { group: arn, id, port: port ?? group.port };
    const before = this.#targets.get(keyOf(named));
    if (before !== undefined && before.state !== 'draining') return;
    const target: TargetRow = {
      ...named,
      state: 'initial',
      generation: (before?.generation ?? 0) + 1,
    };
    this.#targets.put(keyOf(target), target);
    const { healthyCount, intervalSeconds } = group.healthCheck;
    // A new target is healthy after its first passed checks (ELB user guide, "target health").
    const seconds = Math.min(intervalSeconds, healthyCount * intervalSeconds);
    this.#later('healthy', target, seconds);
  }

  /** Deregisters every port of the target if none is given. */
  deregister(arn: string, id: string, port?: number): void {
    const delay = Number(this.#groups.get(arn)?.attributes[delayKey] ?? 0);
    for (const target of this.targets(arn)) {
      if (target.id !== id || (port !== undefined && target.port !== port)) continue;
      if (target.state === 'draining') continue;
      const generation = target.generation + 1;
      const draining: TargetRow = { ...target, state: 'draining', generation };
      this.#targets.put(keyOf(draining), draining);
      this.#later('gone', draining, delay);
    }
  }

  /** The health of a target in the shape of DescribeTargetHealth. */
  healthOf(target: TargetRow): {
    readonly state: string;
    readonly reason?: string;
    readonly description?: string;
  } {
    if (target.state === 'draining') {
      return {
        state: 'draining',
        reason: 'Target.DeregistrationInProgress',
        description: 'Target deregistration is in progress',
      };
    }
    const instance = this.#instances.get(target.id);
    if (target.id.startsWith('i-') && instance?.state !== 'running') {
      return {
        state: 'unused',
        reason: 'Target.InvalidState',
        description: `Target is in the ${instance?.state ?? 'terminated'} state`,
      };
    }
    if (target.state === 'healthy') return { state: 'healthy' };
    return {
      state: 'initial',
      reason: 'Elb.RegistrationInProgress',
      description: 'Target registration is in progress',
    };
  }

  #handle({ kind, args }: WorldEvent): void {
    const key = String(args.key);
    const target = this.#targets.get(key);
    if (target === undefined || target.generation !== args.generation) return;
    if (kind === 'gone') this.#targets.delete(key);
    else if (kind === 'healthy') this.#targets.put(key, { ...target, state: 'healthy' });
    else throw new Error(`${component}: unknown event ${kind}`);
  }

  #later(kind: string, target: TargetRow, seconds: number): void {
    const args = { key: keyOf(target), generation: target.generation };
    const afterMicros = Math.max(1, Math.round(seconds * 1_000_000));
    this.scope.kernel.schedule({ afterMicros, actor: component, kind, args });
  }
}

const keyOf = (target: Pick<TargetRow, 'group' | 'id' | 'port'>): string =>
  `${target.group}/${target.id}:${target.port}`;

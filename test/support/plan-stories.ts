// Clusters with one problem each: the plan of their update, and the update's actual course. For
// tests of the preflight's checks: one row each, evaluated alike.

import { expect } from 'vitest';
import { type PlanWish, planOf, settle } from '../../bench/support/calibration.ts';
import { defined } from '../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { UpdateStrategy } from '../../src/api/nodegroup-update.ts';
import type { PlanFinding, UpdatePlan } from '../../src/core/update/plan/index.ts';
import type { RolloutApp } from '../../src/sim/rollout/cluster.ts';
import {
  type RolloutOptions,
  type RolloutOutcome,
  type RolloutSources,
  runRollout,
} from '../../src/sim/rollout/run.ts';
import type { WorkloadObject } from '../../src/sim/rollout/workload.ts';
import type { WorldClient } from '../../world/contracts.ts';
import type { World } from '../../world/index.ts';

export interface Scene
  extends Pick<RolloutOptions, 'objects' | 'prepare' | 'look' | 'updateConfig'> {
  readonly nodes?: number;
  readonly zones?: readonly string[];
  readonly maxUnavailable?: number;
  readonly apps?: readonly RolloutApp[];
  readonly strategy?: UpdateStrategy;
  readonly asked?: RolloutOptions['asked'];
  readonly wish?: PlanWish;
}

/** Pods with a label `app` or `k8s-app`. */
interface Seen {
  /** Seconds in which one of its pods had no node. */
  readonly pending: number;
  /** Seconds in which none of its pods was Ready. */
  readonly gap: number;
  readonly isPendingAtEnd: boolean;
  readonly readyAtEnd: number;
}

export interface Story {
  readonly plan: UpdatePlan;
  readonly found: PlanFinding;
  readonly outcome: RolloutOutcome;
  readonly seen: (app: string) => Seen;
  /** In its final state. */
  readonly world: World;
}

export const app = (more: Partial<RolloutApp> = {}): RolloutApp => ({
  name: 'web',
  kind: 'Deployment',
  replicas: 3,
  readySeconds: 10,
  stopSeconds: 3,
  ...more,
});

const lookSeconds = 2;

const nameOfApp = ({ metadata }: JsonObject): string => {
  const labels = objectOr(objectOr(metadata).labels);
  return String(labels.app ?? labels['k8s-app'] ?? '');
};

const isReady = ({ status }: JsonObject): boolean =>
  ([objectOr(status).conditions ?? []].flat() as readonly JsonObject[]).some(
    (one) => one.type === 'Ready' && one.status === 'True',
  );

/** Follows the pods of every application. */
class Watcher {
  readonly #pending = new Map<string, number>();
  readonly #gaps = new Map<string, number>();
  readonly #apps = new Set<string>();
  #pods: readonly JsonObject[] = [];
  #world: World | undefined;

  get world(): World {
    if (this.#world === undefined) throw new Error('nothing was looked at');
    return this.#world;
  }

  look(world: World): void {
    this.#world = world;
    this.#pods = [...world.kube.readAll({ group: '', resource: 'pods' })];
    for (const pod of this.#pods) this.#apps.add(nameOfApp(pod));
    for (const name of this.#apps) {
      const pods = this.#of(name);
      if (pods.some((pod) => objectOr(pod.spec).nodeName === undefined)) add(this.#pending, name);
      if (!pods.some(isReady)) add(this.#gaps, name);
    }
  }

  #of(name: string): readonly JsonObject[] {
    return this.#pods.filter((pod) => nameOfApp(pod) === name);
  }

  seen(name: string): Seen {
    const pods = this.#of(name);
    return {
      pending: this.#pending.get(name) ?? 0,
      gap: this.#gaps.get(name) ?? 0,
      isPendingAtEnd: pods.some((pod) => objectOr(pod.spec).nodeName === undefined),
      readyAtEnd: pods.filter(isReady).length,
    };
  }
}

const add = (to: Map<string, number>, name: string): void => {
  to.set(name, (to.get(name) ?? 0) + lookSeconds);
};

const clusterOf = ({ nodes = 3, zones = ['a'], maxUnavailable = 1, apps = [app()] }: Scene) => ({
  name: `${nodes} nodes`,
  nodes,
  zones,
  maxUnavailable,
  apps,
});

/** Whether only `check` blocks the update, and what remains once it is waived. */
interface Verdicts {
  readonly verdict: UpdatePlan['verdict'];
  readonly blockers: readonly string[];
  readonly waived: UpdatePlan['verdict'];
}

const run = async (scene: Scene, before: (sources: RolloutSources) => Promise<void>) => {
  const { strategy = 'DEFAULT', objects, prepare, updateConfig, asked } = scene;
  const watcher = new Watcher();
  const outcome = await runRollout({
    cluster: clusterOf(scene),
    strategy,
    seed: 1,
    settle,
    ...defined({ objects, prepare, updateConfig, asked }),
    look: (world, seconds) => {
      watcher.look(world);
      scene.look?.(world, seconds);
    },
    before: async (sources) => {
      await before(sources);
      return undefined;
    },
  });
  return { outcome, watcher };
};

/** Plans, waives by name, updates. */
const play = async (
  check: string,
  scene: Scene,
  severity: Row['severity'],
): Promise<Story & Verdicts> => {
  const { strategy = 'DEFAULT', wish = {} } = scene;
  const plans: UpdatePlan[] = [];
  const { outcome, watcher } = await run(scene, async (sources) => {
    plans.push(await planOf(sources, strategy, { waivers: [], ...wish }));
    plans.push(await planOf(sources, strategy, { ...wish, waivers: [{ check }] }));
  });
  const [plan, waived] = plans;
  const found = plan?.findings.find((one) => one.check === check && one.severity === severity);
  if (plan === undefined || waived === undefined || found === undefined) {
    const told = plan?.findings.map((one) => `${one.severity} ${one.check}`).join(', ');
    throw new Error(`the plan does not tell of ${check}, but of: ${told}`);
  }
  const blockers = plan.findings.filter(({ severity }) => severity === 'blocker');
  return {
    plan,
    found,
    outcome,
    seen: (name) => watcher.seen(name),
    world: watcher.world,
    verdict: plan.verdict,
    blockers: [...new Set(blockers.map((one) => one.check))],
    waived: waived.verdict,
  };
};

/** Tolerance for varying times, and for a drain's polls of the cluster. */
const toleranceMinutes = 1.5;

export const expectNear = (minute: number | undefined, seconds: number | undefined): void => {
  const off = (seconds ?? Number.NaN) / 60 - (minute ?? Number.NaN);
  expect(Math.abs(off)).toBeLessThan(toleranceMinutes);
};

/**
 * One check: a cluster with its finding, the consequence there, and the same cluster without the
 * problem.
 */
export interface Row {
  readonly check: string;
  readonly severity: 'blocker' | 'warning';
  /** The object that the plan names. */
  readonly object: RegExp;
  readonly scene: Scene;
  readonly happens: (story: Story) => void;
  readonly mended: Scene;
}

/** The check is the only blocker; once it is waived by name, its consequence occurs. */
export const playRow = async (row: Row): Promise<void> => {
  const story = await play(row.check, row.scene, row.severity);
  expect(story.found.object.name).toMatch(row.object);
  const isBlocker = row.severity === 'blocker';
  expect(story).toMatchObject({
    verdict: isBlocker ? 'blocked' : 'ready',
    blockers: isBlocker ? [row.check] : [],
    waived: 'ready',
  });
  row.happens(story);
};

/** Nothing blocks, the finding is gone, and the update succeeds. */
export const playMended = async ({ check, severity, mended }: Row): Promise<void> => {
  const { strategy = 'DEFAULT', wish = {} } = mended;
  let findings: readonly PlanFinding[] = [];
  const { outcome } = await run(mended, async (sources) => {
    ({ findings } = await planOf(sources, strategy, { waivers: [], ...wish }));
  });
  const told = findings.map((one) => `${one.severity} ${one.check}`);
  expect(told).not.toContain(`${severity} ${check}`);
  expect(told.filter((one) => one.startsWith('blocker'))).toEqual([]);
  expect(outcome.status).toBe('Successful');
};

export const budget = (name: string, of: string, spec: JsonObject): WorkloadObject => ({
  resource: { group: 'policy', resource: 'poddisruptionbudgets' },
  object: {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default' },
    spec: { ...spec, selector: { matchLabels: { app: of } } },
  },
});

interface Odd {
  readonly name?: string;
  readonly replicas?: number;
  readonly annotations?: JsonObject;
  readonly labels?: JsonObject;
  readonly kind?: 'Deployment' | 'Job';
  readonly namespace?: string;
  readonly spec?: JsonObject;
}

/** Pods of a Deployment `odd`, with the overrides `pod`; by default one pod. */
export const odd = (pod: JsonObject, more: Odd = {}): WorkloadObject => {
  const { name = 'odd', replicas = 1, annotations = {}, kind = 'Deployment' } = more;
  const { labels = { app: name }, namespace = 'default', spec = {} } = more;
  const template = {
    metadata: { labels, annotations },
    spec: { containers: [{ name: 'app', image: 'app:1' }], ...pod },
  };
  const isJob = kind === 'Job';
  return {
    resource: isJob
      ? { group: 'batch', resource: 'jobs' }
      : { group: 'apps', resource: 'deployments' },
    object: {
      apiVersion: isJob ? 'batch/v1' : 'apps/v1',
      kind,
      metadata: { name, namespace },
      spec: isJob
        ? { ...spec, template }
        : { replicas, selector: { matchLabels: labels }, template, ...spec },
    },
  };
};

/** Changes that users make to a cluster before its update is planned. */
export type Prepare = (world: World, user: WorldClient) => void;

export const nodesOf = (world: World): readonly JsonObject[] => [
  ...world.kube.readAll({ group: '', resource: 'nodes' }),
];
export const metadataOf = (object: JsonObject | undefined) =>
  object?.metadata as { name: string; labels: Record<string, string> };
export const zoneLabel = 'topology.kubernetes.io/zone';

export const must = (result: { readonly kind: string }): void => {
  if (result.kind === 'error') throw new Error(JSON.stringify(result));
};

export const make = (user: WorldClient, ...objects: readonly WorkloadObject[]): void => {
  for (const { resource, object } of objects) must(user.create(resource, 'default', object));
};

export const lastZone = (world: World): string =>
  nodesOf(world)
    .map((node) => metadataOf(node).labels[zoneLabel] ?? '')
    .toSorted()
    .at(-1) ?? '';

const caller = { userAgent: 'aws-cli' };

const scalingGroupOf = (world: World): JsonObject => {
  const found = world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {}, caller);
  const [group] = (found as { AutoScalingGroups: readonly JsonObject[] }).AutoScalingGroups;
  return group ?? {};
};

/** Subnets of the group's Auto Scaling group. */
export const subnetsOf = (world: World) => {
  const SubnetIds = String(scalingGroupOf(world).VPCZoneIdentifier).split(',');
  const found = world.aws.call('ec2', 'DescribeSubnets', { SubnetIds }, caller);
  return (found as { Subnets: readonly { SubnetId: string; AvailabilityZone: string }[] }).Subnets;
};

/** Removes the last zone's subnet from the Auto Scaling group. */
export const loseZone: Prepare = (world) => {
  const AutoScalingGroupName = String(scalingGroupOf(world).AutoScalingGroupName);
  const kept = subnetsOf(world).filter((one) => one.AvailabilityZone !== lastZone(world));
  const call = (operation: string, input: JsonObject) =>
    world.aws.call('autoscaling', operation, { AutoScalingGroupName, ...input }, caller);
  call('SuspendProcesses', { ScalingProcesses: ['AZRebalance'] });
  const VPCZoneIdentifier = kept.map(({ SubnetId }) => SubnetId).join(',');
  call('UpdateAutoScalingGroup', { VPCZoneIdentifier });
};

// The plan that `--dry-run` of scale, delete and update prints is the one that the controller
// carries out, step by step in that order. The requests that reach the API server and the cloud
// show it.
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { completeNodeGroup } from '../../src/api/adopted.ts';
import { epochMs } from '../../src/api/brand.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import type { NodeGroup } from '../../src/api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../src/api/nodegroup-update.ts';
import type { GroupPlan, GroupStep } from '../../src/api/plan.ts';
import { addDeleteCommands } from '../../src/cli/commands/delete.ts';
import { addScaleCommand } from '../../src/cli/commands/scale.ts';
import type { CliContext } from '../../src/cli/context.ts';
import {
  type DryRunSources,
  planOf,
  planOfUpdate,
  plansOfDelete,
} from '../../src/cli/nodegroup/dry-run.ts';
import { adoptionsOf } from '../../src/core/nodegroup/index.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { nodeManagerAgent } from '../../world/index.ts';
import { GivenGroup } from '../support/given-group.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const type = resourceTypes.nodegroups;
const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];
const operator = { user: { username: 'op', groups: ['system:masters'] }, userAgent: 'drover' };

interface Stage {
  readonly life: GroupLife;
  readonly sources: DryRunSources;
  /** The steps that the controller carried out since then, each with its object. */
  readonly done: () => readonly string[];
}

/** Both of the last steps are seen by the finalizer. */
const removesFinalizer = 'remove the finalizer';

/** The step that a request of the controller carries out; undefined if it is not part of a plan. */
const stepOfRequest = ({ verb, objectRef, requestObject }: JsonObject): string | undefined => {
  const { resource, subresource, name } = objectOr(objectRef);
  const { finalizers } = objectOr(objectOr(requestObject).metadata);
  const isFreed = Array.isArray(finalizers) && finalizers.length === 0;
  if (resource === 'nodegroups' && verb === 'patch' && isFreed) return removesFinalizer;
  if (resource === 'nodegroups' && subresource === 'status') return 'WriteGroupStatus';
  if (resource === 'nodedisruptions' && verb === 'create') return `RecordCause ${name}`;
  return undefined;
};

const stepOfCall: Readonly<Record<string, string>> = {
  UpdateAutoScalingGroup: 'SetSizes',
  SuspendProcesses: 'SuspendProcesses',
  CreateLaunchTemplateVersion: 'PrepareUpdate',
  DeleteAutoScalingGroup: 'DeleteGroup',
  DeleteLaunchTemplate: 'DeleteTemplate',
  DeleteInstanceProfile: 'DeleteProfile',
  DeleteLifecycleHook: 'RemoveHook',
  DeleteTags: 'UntagGroup',
};

const stepText = (step: GroupStep): string => {
  if (step.kind === 'RecordCause') return `${step.kind} ${step.disruption}`;
  return step.kind === 'EndGroup' || step.kind === 'EndRelease' ? removesFinalizer : step.kind;
};

const begin = async (desired: number): Promise<Stage> => {
  const effects: { readonly text: string; readonly calls: number }[] = [];
  const life: GroupLife = await GroupLife.begin({
    audit: (event) => {
      const name =
        objectOr(event.objectRef).name ?? objectOr(objectOr(event.requestObject).metadata).name;
      const text = stepOfRequest({ ...event, objectRef: { ...objectOr(event.objectRef), name } });
      const isOurs = event.userAgent === nodeManagerAgent && event.stage === 'ResponseComplete';
      if (isOurs && text !== undefined) effects.push({ text, calls: life.calls.length });
    },
  });
  await life.create({
    releaseVersion: older,
    scalingConfig: { minSize: 0, maxSize: 4, desiredSize: desired },
  });
  await life.until('the group is ACTIVE', () => life.isActive(desired));
  await life.driver.advance(60);
  const { kube, cloud } = createInProcessPorts(life.world, {
    component: 'operator',
    identity: operator,
  });
  const sources = { kube, cloud, now: epochMs(life.world.kernel.now() / 1000) };
  const [from, calls] = [effects.length, life.calls.length];
  const done = (): readonly string[] => {
    const of = (call: { readonly operation: string }) => stepOfCall[call.operation] ?? [];
    let at = calls;
    const all = effects.slice(from).flatMap((effect) => {
      const before = life.calls.slice(at, effect.calls).flatMap(of);
      at = Math.max(at, effect.calls);
      return [...before, effect.text];
    });
    return [...all, ...life.calls.slice(at).flatMap(of)];
  };
  return { life, sources, done };
};

/** Advances world time until `work` is done, since the ports take world time. */
const during = async <T>(life: GroupLife, work: Promise<T>): Promise<T> => {
  let isDone = false;
  const finish = (): void => {
    isDone = true;
  };
  work.then(finish, finish);
  for (let i = 0; i < 500 && !isDone; i++) await life.driver.advance(0.01);
  return work;
};

const dryRunOfSizes = async ({ life, sources }: Stage, scaling: JsonObject): Promise<GroupPlan> => {
  const patch = { type: 'merge', body: { spec: { scaling } } } as const;
  const work = async (): Promise<GroupPlan> => {
    const changed = await sources.kube.patch<NodeGroup>(type, { name: 'ng' }, patch, {
      dryRun: true,
    });
    if (changed.kind === 'gone') throw new Error('no group');
    return planOf(sources, completeNodeGroup(changed.object));
  };
  return during(life, work());
};

const groupOf = (life: GroupLife): NodeGroup => {
  const group = life.group();
  if (group === undefined) throw new Error('no group');
  return completeNodeGroup(group);
};

/** The cluster, and no stack for the group. */
const provisioning = {
  describeCluster: async () => ({ arn: 'arn:aws:eks:eu-west-1:1:cluster/c', status: 'ACTIVE' }),
  describeStack: async () => undefined,
};

/** The output of a command that uses the same API server and cloud as the plan's own sources. */
const printed = async ({ life, sources }: Stage, ...words: string[]): Promise<string> => {
  const lines: string[] = [];
  const { kube, cloud, now } = sources;
  const context = {
    out: (line: string) => lines.push(line),
    progress: () => undefined,
    clock: { now: () => now },
    kube: async () => kube,
    cloud: async () => cloud,
    cluster: async () => ({ embedded: true, now }),
    provisioning: async () => provisioning,
    err: () => undefined,
  } as unknown as CliContext;
  const program = new Command();
  addScaleCommand(program, context, () => ({}));
  addDeleteCommands(program, context, () => ({}));
  await during(life, program.parseAsync(words, { from: 'user' }));
  return lines.join('\n');
};

const deletion = ['delete', 'nodegroup', 'ng', '--cluster', 'c', '--dry-run'];

/** The steps carried out first are those of the plan, in its order. */
const expectCarriedOut = (stage: Stage, plan: GroupPlan): void => {
  const steps = plan.steps.map(stepText);
  expect(stage.done().slice(0, steps.length)).toEqual(steps);
};

describe('the plan that a dry run prints', () => {
  it('of a group that is to have more nodes is carried out so', async () => {
    const stage = await begin(1);
    const { life } = stage;
    const plan = await dryRunOfSizes(stage, { desired: 3 });
    expect(plan.steps).toMatchObject([
      { kind: 'WriteGroupStatus', record: { target: 3 } },
      { kind: 'SetSizes', expected: { desired: 1 }, change: { desiredCapacity: 3 } },
    ]);
    expect(life.group()?.spec.scaling.desired).toBe(1);
    life.patch({ spec: { scaling: { desired: 3 } } });
    await life.until('the group has three nodes', () => life.isActive(3));
    expectCarriedOut(stage, plan);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('is what `drover scale --dry-run` prints, and what the controller then does', async () => {
    const stage = await begin(1);
    const { life } = stage;
    const scale = ['scale', 'ng', 'ng', '--nodes', '3', '--dry-run'];
    const plan = JSON.parse(await printed(stage, ...scale, '-o', 'json')) as GroupPlan;
    const lines = await printed(stage, ...scale);
    expect(lines.split('\n')).toEqual([
      'ng: what the controller would do now, in this order',
      '  record in the status of ng: target 3',
      expect.stringMatching(/^ {2}set sizes of \S+, now min\/max\/desired 0\/4\/1: desired 3$/),
      '  waits: 2 instances that are not started yet',
    ]);
    expect(plan.steps.map(stepText)).toEqual(['WriteGroupStatus', 'SetSizes']);
    expect(life.group()?.spec.scaling.desired).toBe(1);
    life.patch({ spec: { scaling: { desired: 3 } } });
    await life.until('the group has three nodes', () => life.isActive(3));
    expectCarriedOut(stage, plan);
    await life.end();
  });

  it('of a group that is to have fewer names the nodes that are drained then', async () => {
    const stage = await begin(3);
    const { life } = stage;
    const plan = await dryRunOfSizes(stage, { desired: 1 });
    expect(plan.steps.map(({ kind }) => kind)).toEqual([
      'WriteGroupStatus',
      'RecordCause',
      'RecordCause',
    ]);
    life.patch({ spec: { scaling: { desired: 1 } } });
    await life.until('the group has one node', () => life.isActive(1), 1200);
    expectCarriedOut(stage, plan);
    await life.end();
  });

  it('of a group that is to be deleted drains all of its nodes', async () => {
    const stage = await begin(2);
    const { life, sources } = stage;
    const { now: plan } = await during(life, plansOfDelete(sources, groupOf(life)));
    expect(plan.steps.map(({ kind }) => kind)).toEqual([
      'WriteGroupStatus',
      'SuspendProcesses',
      'RecordCause',
      'RecordCause',
    ]);
    await life.delete();
    await life.until('the group is gone', () => life.group() === undefined, 1200);
    expectCarriedOut(stage, plan);
    await life.end();
  });

  it('of that group goes on once its instances are terminated, with what was made for it', async () => {
    const stage = await begin(2);
    const { life } = stage;
    const lines = await printed(stage, ...deletion);
    const plan = JSON.parse(await printed(stage, ...deletion, '-o', 'json'));
    const derived = `eks-${life.group()?.metadata.uid}`;
    expect(lines.split('\n').slice(-5)).toEqual([
      'ng: once all of its instances are terminated',
      `  delete Auto Scaling group ${life.group()?.status?.autoScalingGroupName}`,
      `  delete launch template ${derived}`,
      `  delete instance profile ${derived}`,
      expect.stringMatching(
        /^ {2}remove role \S+ unless another group uses it, then the finalizer$/,
      ),
    ]);
    await life.delete();
    await life.until('the group is gone', () => life.group() === undefined, 1200);
    const later = (plan as { later: GroupPlan }).later.steps.map(stepText);
    const done = stage.done();
    expect(done.slice(0, plan.steps.length)).toEqual(plan.steps.map(stepText));
    expect(done.slice(-later.length)).toEqual(later);
    await life.end();
  });

  it('of a group that is released removes hooks and tags, and lets it go last', async () => {
    const stage = await begin(2);
    const { life, sources } = stage;
    life.patch({ spec: { deletionPolicy: 'Retain' } });
    await life.driver.advance(30);
    const from = stage.done().length;
    const { now: plan } = await during(life, plansOfDelete(sources, groupOf(life)));
    const kinds = ['WriteGroupStatus', 'RemoveHook', 'RemoveHook', 'UntagGroup'];
    expect(plan.steps.map(({ kind }) => kind)).toEqual([...kinds, 'DisownRole', 'EndRelease']);
    expect(await printed(stage, ...deletion)).toContain('remove lifecycle hook Terminate-LC-Hook');
    await life.delete();
    await life.until('the NodeGroup is gone', () => life.group() === undefined, 120);
    // This story does not watch aws-auth, which DisownRole writes.
    expect(stage.done().slice(from)).toEqual([...kinds, removesFinalizer]);
    await life.end();
  });

  it('of an update records it and makes its template version first', async () => {
    const stage = await begin(2);
    const { life, sources } = stage;
    const update = {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroupUpdate',
      metadata: { name: 'asked-1', uid: '', resourceVersion: '', creationTimestamp: '' },
      spec: {
        nodeGroup: 'ng',
        type: 'VersionUpdate',
        params: [],
        change: { releaseVersion: newest },
      },
    } as unknown as NodeGroupUpdate;
    const plan = await during(life, planOfUpdate(sources, groupOf(life), update));
    life.askFor(newest);
    await life.until('the template is made', () => life.called('CreateLaunchTemplateVersion') > 0);
    expectCarriedOut(stage, plan);
    await life.end();
  });
});

describe('what `drover adopt` prints', () => {
  it('is what the controller then installs, after its tag', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.putHook('Launch-LC-Hook', 'LAUNCHING');
    const { cloud } = createInProcessPorts(life.world, {
      component: 'operator',
      identity: operator,
    });
    const [group] = await during(life, cloud.describeGroups(['mine']));
    if (group === undefined) throw new Error('no group');
    const hooks = await during(life, cloud.describeHooks('mine'));
    const nodes = [{ name: 'n1' }];
    const input = { group, hooks, nodeGroups: [], name: 'ng', nodes, clusterNames: [] };
    const [, ...adds] = adoptionsOf([input]).flatMap((one) => one.adds);
    expect(adds).toEqual([
      'nothing for Launch-LC-Hook: a hook of that name exists and is used as it is',
      'lifecycle hook Terminate-LC-Hook (1800 s, CONTINUE)',
      expect.stringMatching(/^tag drover\.dev\/nodegroup-uid, and tags with cluster/),
    ]);
    const from = life.calls.length;
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2) && given.hooks().length === 2, 60);
    const changes = life.calls
      .slice(from)
      .filter(({ operation }) => !/^(?:Desc|Get|List)/.test(operation));
    const made = changes.map(({ operation, input: { LifecycleHookName: hook } }) => [
      operation,
      hook,
    ]);
    expect(made).toEqual([
      ['CreateOrUpdateTags', undefined],
      ['PutLifecycleHook', 'Terminate-LC-Hook'],
    ]);
    await life.end();
  });
});

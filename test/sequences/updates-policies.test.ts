// How an update by Drover's own strategy handles a drain that times out, in virtual time. The tests
// check each policy and the state that it leaves. The update continues once nothing holds the pods.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { UpdatePolicies } from '../../src/api/update-policy.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askAgain,
  askFor,
  imageOf,
  isCordoned,
  latest,
  makeGroup,
  namesOf,
  newest,
  older,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const begin = async (policies: UpdatePolicies, desired = 3): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired, maxSize: 9 });
  const updateConfig = { updateStrategy: 'SURGE', maxUnavailable: 1, ...policies };
  const answer = life.patch({ spec: { updateConfig: JSON.parse(JSON.stringify(updateConfig)) } });
  expect(answer.kind).not.toBe('error');
  return life;
};

/** Pods that their budget never allows to evict, each on its own node. */
const addStuck = async (life: GroupLife, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    const labels = { app: name, stuck: 'yes' };
    const selector = { matchLabels: { app: name } };
    const metadata = { name, namespace: 'default' };
    const apart = [
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { stuck: 'yes' } } },
    ];
    const spec = {
      nodeSelector: { 'eks.amazonaws.com/nodegroup': 'ng' },
      affinity: {
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: apart },
      },
      containers: [{ name: 'app', image: 'example/app:1' }],
    };
    life.make({ group: 'apps', resource: 'deployments' }, 'default', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 1, selector, template: { metadata: { labels }, spec } },
    });
    life.make({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { maxUnavailable: 0, selector },
    });
    await life.until(`${name} runs`, () => life.runningPods(name) === 1);
  }
};

const free = (life: GroupLife, name: string): void =>
  life.unmake({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', name);

const isNew = (life: GroupLife, node: JsonObject): boolean =>
  imageOf(node) === latest(life)?.status?.target?.imageId;
const oldOnes = (life: GroupLife): readonly JsonObject[] =>
  life.nodes().filter((node) => !isNew(life, node));
const isLabelled = ({ metadata }: JsonObject): boolean =>
  objectOr(objectOr(metadata).labels)['drover.dev/quarantined'] === 'true';
const failedNodes = (life: GroupLife) => latest(life)?.status?.failedNodes ?? [];

const expectWhole = async (life: GroupLife, size: number): Promise<void> => {
  await untilAtRest(life, size);
  expect(latest(life)?.status).toMatchObject({ status: 'Successful' });
  expect(failedNodes(life)).toEqual([]);
  expect(new Set(life.nodes().map(imageOf)).size).toBe(1);
  expect(life.nodes().filter(isCordoned)).toEqual([]);
  expect(life.group()?.status?.surge).toBeUndefined();
  expect(life.group()?.status?.releaseVersion).toBe(newest);
  expect(life.check().violations).toEqual([]);
  await life.end();
};

const timeoutSeconds = 180;

describe('Skip', () => {
  it('replaces all others, tries once more, and fails naming the node and what holds it', async () => {
    const life = await begin({ drain: { onTimeout: 'Skip', timeoutSeconds } });
    await addStuck(life, ['stuck']);
    askFor(life, newest);
    await life.until('it was skipped', () => failedNodes(life)[0]?.outcome === 'Skipped', 3600);
    const [skipped] = failedNodes(life);
    expect(skipped?.message).toMatch(/default\/stuck-.*budget default\/stuck/);
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({
      status: 'Failed',
      errors: [
        { code: 'PodEvictionFailure', message: expect.stringContaining('budget default/stuck') },
      ],
      progress: { total: 3, done: 2 },
    });
    expect(latest(life)?.status?.errors?.[0]?.resourceIds).toEqual([skipped?.node]);
    await untilAtRest(life, 3);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(oldOnes(life)).toHaveLength(1);
    await life.end();
  });

  it('ends well when nothing holds the pods at the second try', async () => {
    const life = await begin({ drain: { onTimeout: 'Skip', timeoutSeconds } });
    await addStuck(life, ['stuck']);
    askFor(life, newest);
    await life.until('it was skipped', () => failedNodes(life)[0]?.outcome === 'Skipped', 3600);
    free(life, 'stuck');
    await untilOver(life);
    await expectWhole(life, 3);
  });
});

const conditionOf = (life: GroupLife, type: string) =>
  life.group()?.status?.conditions?.find((one) => one.type === type);

/** The group reports its failed update by condition, health and event, and is still ACTIVE. */
const expectTold = (life: GroupLife, name: string): void => {
  const words = new RegExp(`^Update ${name} failed: .*budget default/stuck`);
  const { status } = life.group() ?? {};
  expect(status).toMatchObject({ state: 'ACTIVE', failedUpdate: name });
  expect(status?.health).toEqual([
    expect.objectContaining({ code: 'PodEvictionFailure', message: expect.stringMatching(words) }),
  ]);
  for (const [type, state] of [
    ['Degraded', 'True'],
    ['Progressing', 'False'],
  ] as const) {
    expect(conditionOf(life, type)).toMatchObject({ status: state, reason: 'PodEvictionFailure' });
  }
  const events = [...life.world.kube.readAll({ group: '', resource: 'events' })]
    .map((event) => JSON.parse(JSON.stringify(event)) as JsonObject)
    .filter(({ reason, involvedObject }) => {
      const { kind, name: of } = objectOr(involvedObject);
      return reason === 'PodEvictionFailure' && kind === 'NodeGroup' && of === 'ng';
    });
  expect(events.map(({ type, message }) => [type, message])).toEqual([
    ['Warning', expect.stringMatching(words)],
  ]);
};

describe('Quarantine', () => {
  it('leaves the node cordoned beside a new one, replaces all others, and is taken up again', async () => {
    const life = await begin({ drain: { onTimeout: 'Quarantine', timeoutSeconds } });
    await addStuck(life, ['stuck']);
    askFor(life, newest);
    await untilOver(life);
    await life.driver.advance(300);
    const { status } = latest(life) ?? {};
    expect(status).toMatchObject({
      status: 'Failed',
      progress: { total: 3, done: 2, quarantined: 1 },
      errors: [{ code: 'PodEvictionFailure' }],
      leftover: 1,
    });
    expect(status?.message).toMatch(/2 of 3 nodes were replaced. Quarantined/);
    expect(life.nodes()).toHaveLength(4);
    expect(life.nodes().filter(isCordoned)).toEqual(oldOnes(life));
    expect(life.nodes().filter(isLabelled)).toEqual(oldOnes(life));
    expect(life.group()?.spec.scaling).toMatchObject({ desired: 3, maxSize: 9 });
    expect(life.group()?.status?.releaseVersion).toBe(older);
    expect(life.runningPods('stuck')).toBe(1);
    expectTold(life, latest(life)?.metadata.name ?? '');
    free(life, 'stuck');
    askAgain(life);
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(life.group()?.status).toMatchObject({ health: [], state: 'ACTIVE' });
    expect(conditionOf(life, 'Degraded')).toMatchObject({ status: 'False' });
    expect(life.group()?.status?.failedUpdate).toBeUndefined();
    await expectWhole(life, 3);
  });

  it('of more nodes than may be ends the update, and gives all of them back', async () => {
    const drain = { onTimeout: 'Quarantine', timeoutSeconds } as const;
    const life = await begin({ drain, maxQuarantined: 1 });
    await addStuck(life, ['first', 'second']);
    const before = namesOf(life);
    askFor(life, newest);
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(latest(life)?.status).toMatchObject({
      status: 'Failed',
      errors: [{ code: 'PodEvictionFailure' }],
    });
    expect(latest(life)?.status?.errors?.[0]?.resourceIds).toHaveLength(2);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(life.nodes().filter(isLabelled)).toEqual([]);
    expect(namesOf(life).filter((name) => before.includes(name)).length).toBeGreaterThan(1);
    await life.end();
  });

  it('of as many as may be keeps a new node for each', async () => {
    const drain = { onTimeout: 'Quarantine', timeoutSeconds } as const;
    const life = await begin({ drain, maxQuarantined: 2 });
    await addStuck(life, ['first', 'second']);
    askFor(life, newest);
    await untilOver(life);
    await life.driver.advance(300);
    expect(latest(life)?.status).toMatchObject({ progress: { quarantined: 2 }, leftover: 2 });
    expect(life.nodes()).toHaveLength(5);
    expect(life.nodes().filter(isCordoned)).toHaveLength(2);
    await life.end();
  });

  it('is undone when the update is aborted', async () => {
    const drain = { onTimeout: 'Quarantine', timeoutSeconds } as const;
    const life = await begin({ drain, maxQuarantined: 2 });
    await addStuck(life, ['first', 'second']);
    askFor(life, newest);
    await life.until('one is set apart', () => life.nodes().some(isLabelled), 3600);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(latest(life)?.status?.status).toBe('Cancelled');
    expect(life.nodes().filter((node) => isCordoned(node) || isLabelled(node))).toEqual([]);
    await life.end();
  });
});

describe('Force', () => {
  it('deletes pods so long after the timeout as is stated, not before', async () => {
    const drain = { onTimeout: 'Force', timeoutSeconds, forceAfterSeconds: 120 } as const;
    const life = await begin({ drain });
    await addStuck(life, ['stuck']);
    askFor(life, newest);
    await untilOver(life);
    const { outcomes, forced } = disruptionsOf(life);
    expect(forced).toEqual([(timeoutSeconds + 120) * 1000]);
    expect(outcomes).toContain('Forced');
    await expectWhole(life, 3);
  });
});

/** How drains ended, and how long after their start pods could be deleted by force. */
const disruptionsOf = (life: GroupLife) => {
  const all = [...life.world.kube.readAll({ group: 'drover.dev', resource: 'nodedisruptions' })];
  const causes = all
    .flatMap(({ spec }) => objectOr(spec).causes as readonly JsonObject[])
    .filter(({ kind }) => kind === 'Update');
  const waits = causes.flatMap(({ forceFrom, receivedAt }) =>
    forceFrom === undefined ? [] : [Date.parse(String(forceFrom)) - Date.parse(String(receivedAt))],
  );
  return {
    // The lifecycle hook of the update's own termination starts another episode.
    outcomes: all.flatMap(({ status }) => {
      const { outcome, previous } = objectOr(status);
      return [outcome, objectOr(previous).outcome];
    }),
    forced: [...new Set(waits)],
    cooldowns: [...new Set(causes.map(({ cooldownSeconds }) => cooldownSeconds))],
  };
};

describe('Pause', () => {
  it('gives the node back, says why, and continues when it is resumed', async () => {
    const drain = { onTimeout: 'Pause', timeoutSeconds, cooldownSeconds: 5 } as const;
    const life = await begin({ drain });
    await addStuck(life, ['stuck']);
    askFor(life, newest);
    await life.until('it pauses', () => latest(life)?.spec.paused === true, 3600);
    await life.driver.advance(900);
    const before = latest(life)?.status;
    expect(before).toMatchObject({ status: 'InProgress', progress: { draining: 0, failed: 0 } });
    expect(before?.message).toMatch(/paused itself.*budget default\/stuck.*drover resume update/);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    await life.driver.advance(900);
    expect(latest(life)?.status?.progress).toEqual(before?.progress);
    free(life, 'stuck');
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { paused: false } });
    await untilOver(life);
    expect(latest(life)?.status?.message).toBeUndefined();
    expect(latest(life)?.status?.pausedSince).toBeUndefined();
    expect(disruptionsOf(life).cooldowns).toContain(5);
    await expectWhole(life, 3);
  });
});

describe('EKS’ strategies', () => {
  it('have EKS’ times and end, whatever the policies of the group', async () => {
    const drain = { onTimeout: 'Quarantine', timeoutSeconds, cooldownSeconds: 5 } as const;
    const life = await begin({ drain }, 2);
    await addStuck(life, ['stuck']);
    life.make({ group: 'drover.dev', resource: 'nodegroupupdates' }, undefined, {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroupUpdate',
      metadata: { name: 'as-eks' },
      spec: {
        nodeGroup: 'ng',
        type: 'VersionUpdate',
        strategy: 'DEFAULT',
        params: [],
        change: { releaseVersion: newest },
      },
    });
    await untilOver(life);
    await untilAtRest(life, 2);
    expect(latest(life)?.status).toMatchObject({ status: 'Failed', strategy: 'DEFAULT' });
    expect(disruptionsOf(life).cooldowns).toEqual([60]);
    expect(life.nodes().filter((node) => isCordoned(node) || isLabelled(node))).toEqual([]);
    await life.end();
  });

  it('are refused with policies of Drover’s own', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    const drain = { onTimeout: 'Skip' };
    for (const [updateConfig, words] of [
      [{ drain }, 'are of updateStrategy: SURGE'],
      [{ drain, updateStrategy: 'DEFAULT' }, 'are of updateStrategy: SURGE'],
      [{ updateStrategy: 'SURGE', maxQuarantined: 2 }, 'Quarantine alone'],
      [{ updateStrategy: 'SURGE', drain: { forceAfterSeconds: 2 } }, 'Force alone'],
      [{ updateStrategy: 'SURGE', drain: { onTimeout: 'Ignore' } }, 'Ignore'],
    ] as const) {
      const answer = life.patch({ spec: { updateConfig } });
      expect(answer.kind).toBe('error');
      expect(JSON.stringify(answer)).toContain(words);
    }
    await life.end();
  });
});

// Updates by Drover's own strategy of groups with several instance types, in virtual time. In a
// zone without capacity for the first type, Drover uses the next type that the pods fit on. The
// types are restored at the end, however the update ends.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  imageOf,
  latest,
  newest,
  older,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

/** 8, 4 and 16 GiB of memory. */
const types = ['m5.large', 'c5.large', 'm5.xlarge'];
const deployments = { group: 'apps', resource: 'deployments' };

/** Three nodes in three zones; each runs a pod that requests this much memory. */
const begin = async (memory: string, updateStrategy = 'SURGE'): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await life.create({
    releaseVersion: older,
    instanceTypes: types,
    scalingConfig: { minSize: 0, maxSize: 9, desiredSize: 3 },
  });
  await life.until('the group is ACTIVE', () => life.isActive(3), 1800);
  const soak = updateStrategy === 'SURGE' ? {} : { blueGreen: { soakSeconds: 60 } };
  const updateConfig = { updateStrategy, maxUnavailable: 1, ...soak };
  expect(life.patch({ spec: { updateConfig } }).kind).not.toBe('error');
  const labels = { app: 'large' };
  const containers = [{ name: 'a', image: 'a:1', resources: { requests: { memory } } }];
  const nodeSelector = { 'eks.amazonaws.com/nodegroup': 'ng' };
  life.make(deployments, 'default', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'large', namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, nodeSelector } },
    },
  });
  await life.until('its pods run', () => life.runningPods('large') === 3, 600);
  return life;
};

const labelOf = ({ metadata }: JsonObject, key: string): string =>
  String(objectOr(objectOr(metadata).labels)[key]);
const placeOf = (node: JsonObject): string =>
  `${labelOf(node, 'topology.kubernetes.io/zone')} ${labelOf(node, 'node.kubernetes.io/instance-type')}`;
const freshPlaces = (life: GroupLife): readonly string[] => {
  const { imageId } = latest(life)?.status?.target ?? {};
  return life
    .nodes()
    .filter((node) => imageOf(node) === imageId)
    .map(placeOf)
    .toSorted();
};

/** The instance types that Auto Scaling may choose from. */
const chosenAmong = (life: GroupLife): readonly string[] => {
  const policy = objectOr(objectOr(life.autoScalingGroups()[0]).MixedInstancesPolicy);
  const { Overrides } = objectOr(policy.LaunchTemplate);
  return (Overrides as readonly JsonObject[]).map(({ InstanceType }) => String(InstanceType));
};

describe('a zone without room for the first instance type', () => {
  it('gets the next that the pods fit on, and is no shortage', async () => {
    const life = await begin('5Gi');
    const [zone = ''] = Object.keys(life.group()?.status?.perZone ?? {});
    life.world.faults.inject('no-capacity', { zone, type: 'm5.large' });
    askFor(life, newest);
    const isRolling = (): boolean => (latest(life)?.status?.progress?.done ?? 0) > 0;
    await life.until('a node is done', isRolling, 3600);
    expect(chosenAmong(life)).toEqual(['m5.large', 'm5.xlarge']);
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(latest(life)?.status).toMatchObject({
      status: 'Successful',
      skippedTypes: [{ type: 'c5.large', message: expect.stringMatching(/ask for 5Gi of memory/) }],
      fallbacks: [{ zone, type: 'm5.xlarge', nodes: 1 }],
    });
    expect(latest(life)?.status?.shortages ?? []).toEqual([]);
    expect(freshPlaces(life)).toContain(`${zone} m5.xlarge`);
    expect(freshPlaces(life).join()).not.toContain('c5.large');
    expect(chosenAmong(life)).toEqual(types);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('gets the next that the pods fit on with blue/green, too, whether it ends or goes back', async () => {
    for (const isAborted of [false, true]) {
      const life = await begin('5Gi', 'BLUE_GREEN');
      const [zone = ''] = Object.keys(life.group()?.status?.perZone ?? {});
      life.world.faults.inject('no-capacity', { zone, type: 'm5.large' });
      askFor(life, newest);
      await life.until('it soaks', () => latest(life)?.status?.phase === 'Soaking', 7200);
      expect(chosenAmong(life)).toEqual(['m5.large', 'm5.xlarge']);
      expect(freshPlaces(life)).toContain(`${zone} m5.xlarge`);
      const name = latest(life)?.metadata.name ?? '';
      if (isAborted) life.patchUpdate(name, { spec: { abort: 'Stop' } });
      await untilOver(life);
      await untilAtRest(life, 3);
      expect(latest(life)?.status?.status).toBe(isAborted ? 'Cancelled' : 'Successful');
      expect(latest(life)?.status?.skippedTypes).toMatchObject([{ type: 'c5.large' }]);
      expect(chosenAmong(life)).toEqual(types);
      expect(life.check().violations).toEqual([]);
      await life.end();
    }
  });

  it('gets the very next where the pods fit on that', async () => {
    const life = await begin('1Gi');
    const [zone = ''] = Object.keys(life.group()?.status?.perZone ?? {});
    life.world.faults.inject('no-capacity', { zone, type: 'm5.large' });
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status?.fallbacks).toEqual([{ zone, type: 'c5.large', nodes: 1 }]);
    expect(latest(life)?.status?.skippedTypes).toBeUndefined();
    await life.end();
  });

  it('is a shortage when there is room for none of them; the types are restored by an abort', async () => {
    const life = await begin('5Gi');
    const [zone = ''] = Object.keys(life.group()?.status?.perZone ?? {});
    life.world.faults.inject('no-capacity', { zone, type: 'm5.large' });
    life.world.faults.inject('no-capacity', { zone, type: 'm5.xlarge' });
    askFor(life, newest);
    const isTold = (): boolean => (latest(life)?.status?.shortages ?? []).length > 0;
    await life.until('the shortage is told', isTold, 7200);
    expect(latest(life)?.status?.shortages).toMatchObject([{ zone }]);
    expect(chosenAmong(life)).toEqual(['m5.large', 'm5.xlarge']);
    life.killFor(30);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Cancelled');
    expect(chosenAmong(life)).toEqual(types);
    expect(freshPlaces(life).join()).not.toContain('c5.large');
    await life.end();
  });
});

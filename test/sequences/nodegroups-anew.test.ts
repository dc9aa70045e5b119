// A Node object that is deleted and registers again for its instance (CVE-2025-5187): its own
// labels and taints are not trusted then. It gets the group's labels and taints once; those that an
// agent removes later are not restored.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const type = resourceTypes.nodes;
const marks = {
  labels: { team: 'a' },
  taints: [
    { key: 'agent.example.com/not-ready', effect: 'NO_EXECUTE' },
    { key: 'gpu', value: 'yes', effect: 'NO_SCHEDULE' },
  ],
};
const startUp = { key: 'agent.example.com/not-ready', effect: 'NoExecute' };
const gpu = { key: 'gpu', value: 'yes', effect: 'NoSchedule' };
const foreign = { key: 'theirs', effect: 'NoSchedule' };

interface Seen {
  readonly uid: string;
  readonly labels: JsonObject;
  readonly taints: readonly unknown[];
}

/** The Node by name, since its labels may name another group. */
const seen = (life: GroupLife, name: string): Seen | undefined => {
  const node = life.world.kube.read(type, { name });
  if (node === undefined) return undefined;
  const { taints } = objectOr(objectOr(node).spec);
  const { labels, uid } = node.metadata;
  return { uid, labels: { ...labels }, taints: Array.isArray(taints) ? taints : [] };
};

const remove = (life: GroupLife, name: string): void => {
  expect(life.user.delete(type, { name }).kind).not.toBe('error');
};

/** Registers as a kubelet does, with labels and taints chosen by an attacker on the machine. */
const register = (
  life: GroupLife,
  before: JsonObject,
  more: Pick<Seen, 'labels' | 'taints'>,
): void => {
  const name = String(objectOr(before.metadata).name);
  const kubelet = life.world.kube.as({
    user: { username: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] },
    userAgent: 'kubelet',
  });
  const { providerID } = objectOr(before.spec);
  const made = kubelet.create(type, undefined, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...more.labels, 'kubernetes.io/hostname': name } },
    spec: { providerID: String(providerID), taints: JSON.parse(JSON.stringify(more.taints)) },
    status: objectOr(before.status),
  });
  expect(made.kind).not.toBe('error');
};

const aGroup = async (compat: 'eks' | 'native') => {
  const life = await GroupLife.begin({ compat });
  await life.create({
    ...marks,
    scalingConfig: { minSize: 0, maxSize: 2, desiredSize: 1 },
  });
  await life.until('the group is ACTIVE', () => life.isActive(1));
  const [node] = life.nodes();
  if (node === undefined) throw new Error('the group has no node');
  return { life, node, name: String(objectOr(node.metadata).name) };
};

const takeOff = (life: GroupLife, name: string, key: string): void => {
  const taints = seen(life, name)?.taints.filter((one) => objectOr(one).key !== key) ?? [];
  const body = { spec: { taints: JSON.parse(JSON.stringify(taints)) } };
  life.user.patch(type, { name }, { type: 'merge', body });
};

const restored = (life: GroupLife): readonly string[] =>
  [...life.world.kube.readAll(resourceTypes.events)]
    .map((event) => objectOr(event))
    .filter(({ reason }) => reason === 'NodeMarksRestored')
    .map(({ message }) => String(message));

describe.each(['eks', 'native'] as const)('a node that registers again, %s', (compat) => {
  it.each([
    ['at once', 0],
    ['after the group was seen without it', 20],
  ])('%s gets labels and taints of its group, once', async (_when, pause) => {
    const { life, node, name } = await aGroup(compat);
    const first = seen(life, name);
    // The agent removes its start-up taint, and the taint stays removed.
    takeOff(life, name, startUp.key);
    await life.driver.advance(60);
    expect(seen(life, name)?.taints).not.toContainEqual(startUp);

    remove(life, name);
    await life.driver.advance(pause);
    const claimed = { team: 'b', own: 'kept', 'eks.amazonaws.com/nodegroup': 'base' };
    register(life, node, { labels: claimed, taints: [foreign] });
    const isMarked = () => seen(life, name)?.labels.team === 'a';
    await life.until('it has the group’s labels', isMarked, 60);
    const again = seen(life, name);
    expect(again?.uid).not.toBe(first?.uid);
    for (const key of ['nodegroup', 'nodegroup-image', 'capacityType']) {
      const label = `eks.amazonaws.com/${key}`;
      expect(again?.labels[label]).toBe(first?.labels[label]);
    }
    expect(again?.labels.own).toBe('kept');
    expect(again?.taints).toEqual(expect.arrayContaining([startUp, gpu, foreign]));
    expect(restored(life)).toEqual([expect.stringContaining(name)]);

    takeOff(life, name, startUp.key);
    await life.driver.advance(120);
    expect(seen(life, name)?.taints).not.toContainEqual(startUp);
    expect(seen(life, name)?.taints).toContainEqual(gpu);
    expect(life.group()?.status?.nodeMarks?.owed).toBeUndefined();
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('is known across a restart of the controllers while it was away', async () => {
    const { life, node, name } = await aGroup(compat);
    remove(life, name);
    const isOwed = () => (life.group()?.status?.nodeMarks?.owed ?? []).length === 1;
    await life.until('it is owed its marks', isOwed, 60);
    life.killFor(30);
    register(life, node, { labels: {}, taints: [] });
    await life.until('it has them', () => seen(life, name)?.labels.team === 'a', 120);
    expect(seen(life, name)?.labels['eks.amazonaws.com/nodegroup']).toBe('ng');
    expect(seen(life, name)?.taints).toEqual(expect.arrayContaining([startUp, gpu]));
    await life.end();
  });
});

import { describe, expect, it } from 'vitest';
import { aPod, kubeTimePlus, type PodOverrides, tPlus } from '../../../test/builders/core-drain.ts';
import { classifyPods, newBoomerangs } from './classify.ts';

const tolerated = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] as const;
const ds = 'DaemonSet/agent';

describe('classifyPods', () => {
  const rows: readonly [string, PodOverrides, string][] = [
    ['a ReplicaSet pod', {}, 'evict'],
    ['a StatefulSet pod', { owner: 'StatefulSet/db' }, 'evict'],
    ['a Job pod that runs', { owner: 'Job/once' }, 'evict'],
    ['a Job pod that is done', { owner: 'Job/once', phase: 'Succeeded' }, 'finished'],
    ['a failed pod', { phase: 'Failed' }, 'finished'],
    ['a pending pod', { phase: 'Pending', ready: false }, 'evict'],
    ['a pod of unknown phase', { phase: 'Unknown' }, 'evict'],
    ['a DaemonSet pod', { owner: ds }, 'daemonSet'],
    ['a terminating pod', { deletionTimestamp: kubeTimePlus(30) }, 'evict'],
    [
      'a terminating DaemonSet pod',
      { owner: ds, deletionTimestamp: kubeTimePlus(30) },
      'daemonSet',
    ],
    [
      'a mirror pod by annotation',
      { annotations: { 'kubernetes.io/config.mirror': 'x' } },
      'mirror',
    ],
    ['a mirror pod by owner', { owner: 'Node/n1' }, 'mirror'],
    ['a finished mirror pod', { owner: 'Node/n1', phase: 'Failed' }, 'mirror'],
    ['a bare pod', { owner: '' }, 'evict unmanaged'],
    ['a bare pod with an emptyDir', { owner: '', emptyDir: true }, 'evict unmanaged emptyDir'],
    ['a managed pod with an emptyDir', { emptyDir: true }, 'evict emptyDir'],
    ['a system-critical pod', { priorityClassName: 'system-node-critical' }, 'evict'],
  ];
  it.each(rows)('%s: %s', (_name, more, expected) => {
    const { evict, skip } = classifyPods([aPod('p1', more)]);
    const got = [
      ...evict.map(({ warnings }) => ['evict', ...warnings].join(' ')),
      ...skip.map(({ reason }) => reason),
    ];
    expect(got).toEqual([expected]);
  });

  it('evicts a DaemonSet pod whose DaemonSet is known to be gone', () => {
    const orphan = aPod('p1', { owner: ds });
    const { evict } = classifyPods([orphan], { daemonSetIsGone: (uid) => uid === 'uid-agent' });
    expect(evict.map(({ warnings }) => warnings)).toEqual([['orphanOfDaemonSet']]);
  });
  it('keeps a pod whose owner only calls itself DaemonSet in another group', () => {
    const pod = aPod('p1', { owner: ds });
    const foreign = {
      ...pod,
      metadata: {
        ...pod.metadata,
        ownerReferences: (pod.metadata.ownerReferences ?? []).map((owner) => ({
          ...owner,
          apiVersion: 'apps.kruise.io/v1',
        })),
      },
    };
    expect(classifyPods([foreign]).evict).toHaveLength(1);
  });
});

describe('pods that come back after the marks', () => {
  const markedAt = tPlus(0);
  const back = (name: string, more: PodOverrides = {}) =>
    aPod(name, { createdAt: kubeTimePlus(2), tolerations: tolerated, ...more });

  it('evicts the first once it is recorded, and keeps its successor', () => {
    const first = classifyPods([back('p1')], { markedAt });
    expect(first.evict[0]?.cameBackFor).toBe('uid-web');
    const boomerangs = newBoomerangs(first, []);
    expect(boomerangs).toEqual([{ owner: 'uid-web', podUids: ['uid-p1'] }]);
    const again = classifyPods([back('p1')], { markedAt, boomerangs });
    expect(again.evict).toHaveLength(1);
    expect(newBoomerangs(again, boomerangs)).toEqual([]);
    const second = classifyPods([back('p2')], { markedAt, boomerangs });
    expect(second.skip.map(({ reason }) => reason)).toEqual(['boomerang']);
  });
  it('keeps what comes from more sources than are recorded, as bare pods do', () => {
    const bare = Array.from({ length: 30 }, (_, i) => back(`p${i}`, { owner: '' }));
    const boomerangs = newBoomerangs(classifyPods(bare, { markedAt }), []);
    expect(boomerangs).toHaveLength(20);
    const next = classifyPods([...bare, back('q', { owner: '' })], { markedAt, boomerangs });
    expect(newBoomerangs(next, boomerangs)).toEqual([]);
    expect(next.evict).toHaveLength(20);
    expect(next.skip.map(({ reason }) => reason)).toEqual(Array(11).fill('boomerang'));
  });
  it('records eight pods of a source, the others stay', () => {
    const many = Array.from({ length: 12 }, (_, i) => back(`p${i}`));
    const boomerangs = newBoomerangs(classifyPods(many, { markedAt }), []);
    expect(boomerangs[0]?.podUids).toHaveLength(8);
    expect(classifyPods(many, { markedAt, boomerangs }).skip).toHaveLength(4);
  });
  it('does not take a pod for one that came back when it was created before the marks', () => {
    const old = back('p1', { createdAt: kubeTimePlus(-1) });
    expect(classifyPods([old], { markedAt }).evict[0]?.cameBackFor).toBeUndefined();
  });

  const tolerations: readonly [string, PodOverrides['tolerations'], boolean][] = [
    ['none', [], false],
    ['everything', [{ operator: 'Exists' }], true],
    ['everything for NoExecute', [{ operator: 'Exists', effect: 'NoExecute' }], false],
    ['another taint', [{ key: 'x', operator: 'Exists' }], false],
    ['the taint for NoSchedule', [{ ...tolerated[0], effect: 'NoSchedule' }], true],
    ['the taint with another value', [{ key: tolerated[0].key, value: 'x' }], false],
    ['the taint with its value', [{ key: tolerated[0].key, operator: 'Equal', value: '' }], true],
  ];
  it.each(tolerations)('tolerating %s', (_name, tolerated_, cameBack) => {
    const pod = back('p1', { tolerations: tolerated_ ?? [] });
    const [drainable] = classifyPods([pod], { markedAt }).evict;
    expect(drainable?.cameBackFor !== undefined).toBe(cameBack);
  });
});

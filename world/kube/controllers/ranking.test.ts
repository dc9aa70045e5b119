// The order in which a ReplicaSet deletes surplus pods.
import { describe, expect, it } from 'vitest';
import type { PodView } from '../actors/index.ts';
import { deletionOrder } from './ranking.ts';

const at = (second: number): string => `2022-09-25T13:00:${String(second).padStart(2, '0')}Z`;

const aPod = (
  name: string,
  more: {
    readonly node?: string;
    readonly phase?: string;
    readonly ready?: boolean;
    readonly cost?: string;
    readonly born?: number;
    readonly readySince?: number;
    readonly restarts?: number;
  } = {},
): PodView => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'demo',
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: at(more.born ?? 0),
    ...(more.cost === undefined
      ? {}
      : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': more.cost } }),
  },
  spec: { nodeName: more.node ?? 'n1', containers: [] },
  status: {
    phase: more.phase ?? 'Running',
    conditions: [
      {
        type: 'Ready',
        status: (more.ready ?? true) ? 'True' : 'False',
        lastTransitionTime: at(more.readySince ?? more.born ?? 0),
      },
    ],
    containerStatuses: [{ name: 'c', ready: true, restartCount: more.restarts ?? 0 }],
  },
});

describe('the order of deletion', () => {
  const table: [string, PodView[], string[]][] = [
    ['an unassigned pod before an assigned one', [aPod('a'), aPod('b', { node: '' })], ['b', 'a']],
    [
      'a pending pod before a running one',
      [aPod('a'), aPod('b', { phase: 'Pending' })],
      ['b', 'a'],
    ],
    ['an unready pod before a ready one', [aPod('a'), aPod('b', { ready: false })], ['b', 'a']],
    [
      'a cheap pod before a dear one',
      [aPod('a', { cost: '5' }), aPod('b', { cost: '-1' })],
      ['b', 'a'],
    ],
    [
      'an unready dear pod before a ready cheap one',
      [aPod('a'), aPod('b', { ready: false, cost: '9' })],
      ['b', 'a'],
    ],
    ['a crowded pod before a lonely one', [aPod('a'), aPod('b', { node: 'n2' })], ['b', 'a']],
    ['the pod that became ready last', [aPod('a'), aPod('b', { readySince: 40 })], ['b', 'a']],
    ['the pod that restarted more often', [aPod('a'), aPod('b', { restarts: 3 })], ['b', 'a']],
  ];
  it.each(table)('takes %s', (_name, pods, order) => {
    const crowd = (pod: PodView): number => (pod.spec.nodeName === 'n2' ? 3 : 1);
    expect(deletionOrder(pods, crowd).map((pod) => pod.metadata.name)).toEqual(order);
  });
});

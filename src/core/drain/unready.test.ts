// Why a pod that a budget waits for is not Ready: a table over its status and its events.
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/kube.ts';
import { isAwaited, type PodEvent, unreadyOf, unreadyPodText } from './unready.ts';

const at = '2026-01-01T00:00:00Z';

const aPod = (status: object, nodeName?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-1',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: at,
  },
  spec: nodeName === undefined ? {} : { nodeName },
  status: status as Pod['status'],
});

const anEvent = (reason: string, minute: number, more: Partial<PodEvent> = {}): PodEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: reason, uid: reason, resourceVersion: '1', creationTimestamp: at },
  type: 'Warning',
  reason,
  message: `${reason} it is`,
  lastTimestamp: `2026-01-01T00:0${minute}:00Z`,
  ...more,
});

const waiting = (reason: string, message?: string) => ({
  phase: 'Pending',
  containerStatuses: [{ state: { waiting: { reason, ...(message && { message }) } } }],
});

const why = (pod: Pod, events: readonly PodEvent[] = []): string => {
  const { reason, message } = unreadyOf({ pod, events, subnet: undefined, others: 0 });
  return message === '' ? reason : `${reason}: ${message}`;
};

describe('why a pod is not Ready', () => {
  const sandbox = [
    anEvent('FailedCreatePodSandBox', 1, {
      message: '(combined from similar events): no address',
    }),
    anEvent('Pulling', 4, { type: 'Normal' }),
    anEvent('FailedScheduling', 0),
  ];

  it.each<readonly [string, Pod, readonly PodEvent[], string]>([
    [
      'the newest warning, where its container is only being created',
      aPod(waiting('ContainerCreating'), 'n'),
      sandbox,
      'FailedCreatePodSandBox: no address',
    ],
    [
      'what its container waits for',
      aPod(waiting('ImagePullBackOff', 'Back-off pulling image "x"'), 'n'),
      sandbox,
      'ImagePullBackOff: Back-off pulling image "x"',
    ],
    [
      'a container that crashes again and again',
      aPod(waiting('CrashLoopBackOff', 'back-off 5m0s'), 'n'),
      [],
      'CrashLoopBackOff: back-off 5m0s',
    ],
    [
      'no place for it',
      aPod({
        phase: 'Pending',
        conditions: [
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' },
        ],
      }),
      [],
      'Unschedulable: 0/3 nodes',
    ],
    [
      'a probe that fails',
      aPod({
        phase: 'Running',
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'ContainersNotReady',
            message: 'not ready: [app]',
          },
        ],
      }),
      [anEvent('Unhealthy', 3, { message: 'Readiness probe failed: 500' })],
      'Unhealthy: Readiness probe failed: 500',
    ],
    ['nothing that anybody says', aPod(waiting('ContainerCreating'), 'n'), [], 'ContainerCreating'],
  ])('%s', (_, pod, events, told) => {
    expect(why(pod, events)).toBe(told);
  });

  it('keeps both ends of a long message', () => {
    const message = `Failed to create pod sandbox: ${'x'.repeat(300)} failed to assign an IP address`;
    const told = why(aPod(waiting('ContainerCreating')), [anEvent('E', 1, { message })]);
    expect(told.length).toBeLessThan(260);
    expect(told).toMatch(/^E: Failed to create pod sandbox.*…x+ failed to assign an IP address$/);
  });

  it('is told with its node, the subnet and how many more there are', () => {
    const pod = aPod(waiting('ContainerCreating'), 'n1');
    const unready = unreadyOf({ pod, events: sandbox, subnet: 'subnet-1', others: 2 });
    expect(unreadyPodText(unready)).toBe(
      `shop/web-1, not Ready since ${at} on node n1 (subnet-1), as 2 more are: FailedCreatePodSandBox: no address`,
    );
  });
});

describe('a pod that its budget waits for', () => {
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
  const leaving = aPod({ phase: 'Running' });
  it.each<readonly [string, Pod, boolean]>([
    ['pending', aPod({ phase: 'Pending' }), true],
    ['Ready', aPod({ phase: 'Running', ...ready }), false],
    ['done', aPod({ phase: 'Succeeded' }), false],
    ['leaving', { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: at } }, false],
  ])('%s', (_, pod, isOne) => {
    expect(isAwaited(pod)).toBe(isOne);
  });
});

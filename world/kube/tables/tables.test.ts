import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { humanDuration, printers } from './index.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const row = (kind: string, object: JsonObject, isWide = false): readonly unknown[] =>
  (printers[kind] ?? [])
    .filter((column) => isWide || column.priority === 0)
    .map((column) => column.cell(object, now));

describe('ages', () => {
  it.each([
    [-5, '<invalid>'],
    [-1, '0s'],
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [570, '9m30s'],
    [660, '11m'],
    [3 * 3600 - 1, '179m'],
    [3 * 3600, '3h'],
    [3 * 3600 + 300, '3h5m'],
    [9 * 3600 + 300, '9h'],
    [49 * 3600, '2d1h'],
    [9 * 86_400, '9d'],
    [800 * 86_400, '2y70d'],
  ])('%d seconds read %s', (seconds, text) => {
    expect(humanDuration(seconds)).toBe(text);
  });
});

const pod = (status: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name: 'p1', creationTimestamp: '2026-01-01T00:00:30Z', ...metadata },
  spec: { nodeName: 'n1', containers: [{ name: 'a' }] },
  status,
});
const running = { name: 'a', ready: true, restartCount: 0, state: { running: {} } };

describe('pod rows', () => {
  it.each<[string, JsonObject, readonly unknown[]]>([
    [
      'a running pod',
      pod({ phase: 'Running', containerStatuses: [running] }),
      ['p1', '1/1', 'Running', '0', '9m30s'],
    ],
    ['a pending pod', pod({ phase: 'Pending' }), ['p1', '0/1', 'Pending', '0', '9m30s']],
    [
      'a waiting container',
      pod({
        phase: 'Pending',
        containerStatuses: [{ name: 'a', state: { waiting: { reason: 'ContainerCreating' } } }],
      }),
      ['p1', '0/1', 'ContainerCreating', '0', '9m30s'],
    ],
    [
      'a terminating pod',
      pod(
        { phase: 'Running', containerStatuses: [running] },
        { deletionTimestamp: '2026-01-01T00:10:00Z' },
      ),
      ['p1', '1/1', 'Terminating', '0', '9m30s'],
    ],
    [
      'a crashing container',
      pod({
        phase: 'Running',
        containerStatuses: [
          {
            name: 'a',
            ready: false,
            restartCount: 3,
            state: { waiting: { reason: 'CrashLoopBackOff' } },
            lastState: { terminated: { finishedAt: '2026-01-01T00:09:10Z' } },
          },
        ],
      }),
      ['p1', '0/1', 'CrashLoopBackOff', '3 (50s ago)', '9m30s'],
    ],
    [
      'a finished pod',
      pod({
        phase: 'Succeeded',
        containerStatuses: [
          { name: 'a', state: { terminated: { reason: 'Completed', exitCode: 0 } } },
        ],
      }),
      ['p1', '0/1', 'Completed', '0', '9m30s'],
    ],
  ])('shows %s', (_, object, cells) => {
    expect(row('/pods', object)).toEqual(cells);
  });
});

describe('node rows', () => {
  it('names readiness, cordon, roles and addresses', () => {
    const node = {
      metadata: {
        name: 'n1',
        creationTimestamp: '2026-01-01T00:00:30Z',
        labels: { 'node-role.kubernetes.io/worker': '' },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '192.168.1.2' }],
        nodeInfo: { kubeletVersion: 'v1.32.9-eks-1', osImage: 'Amazon Linux' },
      },
    };
    expect(row('/nodes', node)).toEqual([
      'n1',
      'Ready,SchedulingDisabled',
      'worker',
      '9m30s',
      'v1.32.9-eks-1',
    ]);
    expect(row('/nodes', node, true).slice(5, 8)).toEqual([
      '192.168.1.2',
      '<none>',
      'Amazon Linux',
    ]);
  });
});

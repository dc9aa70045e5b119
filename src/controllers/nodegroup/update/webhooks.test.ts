// Which webhooks of an update are called: the status of another try does not count, and ended ones
// are not called again.

import { describe, expect, it } from 'vitest';
import { setUpControllers } from '../../../../test/builders/controllers.ts';
import { epochMs, formatTime } from '../../../api/brand.ts';
import { resourceTypes } from '../../../api/kube.ts';
import type { NodeGroupUpdate, NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import type { HookCall } from '../../../api/update-hooks.ts';
import type { HookRun } from '../../../core/update/index.ts';
import { askWebhooks } from './webhooks.ts';

const url = 'https://ops.example/drain';
const hook = { webhook: { url }, onFailure: 'Continue' } as const;
const call: HookCall = {
  kind: 'preDrain',
  hook,
  instanceId: 'i-1',
  nodeName: 'n1',
  name: 'pre-drain-i-1-2',
};
const told = {
  hook: 'preDrain',
  instanceId: 'i-1',
  node: 'n1',
  webhook: 'https://ops.example/...',
} as const;
const bad = { ...told, state: 'Failed', message: 'it answered 404' } as const;

const ask = async (status: Partial<NodeGroupUpdateStatus>, asked = new Map<string, HookRun>()) => {
  const it = setUpControllers();
  const { kube, stop } = it;
  const spec = { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} };
  kube.put(resourceTypes.nodegroupupdates, { name: 'u', spec, status: { ...status } });
  const update = kube.peek(resourceTypes.nodegroupupdates, 'u') as unknown as NodeGroupUpdate;
  const keys: string[] = [];
  const http = {
    get: () => Promise.reject(new Error('no GET')),
    post: (_url: string, { idempotencyKey }: { idempotencyKey: string }) => {
      keys.push(idempotencyKey);
      return Promise.resolve({ status: 200, body: '' });
    },
  };
  const deps = { ...it, http, compat: 'eks' } as const;
  const runs = await askWebhooks(deps, asked, { update, calls: [call] }, stop.signal);
  return { keys, states: runs.map(([, { state }]) => state) };
};

describe('a webhook', () => {
  const since = formatTime(epochMs(0));
  const asked = new Map<string, HookRun>([[call.name, { state: 'Running', since, attempt: 3 }]]);

  it.each<[string, Partial<NodeGroupUpdateStatus>, readonly string[], readonly string[]]>([
    ['is not asked before it is told', {}, [], []],
    [
      'is asked when it is told',
      { hooks: [{ ...told, id: call.name, state: 'Running', since }] },
      [call.name],
      ['Succeeded'],
    ],
    ['has not failed with its first try', { hooks: [{ ...bad, id: 'pre-drain-i-1-1' }] }, [], []],
    [
      'is asked though its first try has failed',
      {
        hooks: [
          { ...bad, id: 'pre-drain-i-1-1' },
          { ...told, id: call.name, state: 'Running', since },
        ],
      },
      [call.name],
      ['Succeeded'],
    ],
    ['is not asked when it has failed', { hooks: [{ ...bad, id: call.name }] }, [], ['Failed']],
    ['is not asked when it is over', { webhooksDone: [call.name] }, [], ['Succeeded']],
  ])('%s', async (_, status, keys, states) => {
    expect(await ask(status)).toEqual({ keys, states });
  });

  it('whose time is over is asked no more by the process that asked it', async () => {
    const status = { hooks: [{ ...bad, id: call.name }], webhooksDone: [call.name] };
    expect(await ask(status, asked)).toEqual({ keys: [], states: ['Failed'] });
    expect(await ask({ webhooksDone: [call.name] }, asked)).toEqual({
      keys: [],
      states: ['Succeeded'],
    });
  });
});

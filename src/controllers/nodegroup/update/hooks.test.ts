// What an ending update does about the Jobs of its hooks if it may not list them.
import { describe, expect, it } from 'vitest';
import { aGroupSpec, setUpControllers } from '../../../../test/builders/controllers.ts';
import { resourceTypes } from '../../../api/kube.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import { KubeError } from '../../../ports/index.ts';
import { clearHooks } from './hooks.ts';

const clear = async (code: 'Forbidden' | 'Unreachable' | undefined): Promise<number> => {
  const it = setUpControllers();
  const { kube, stop } = it;
  const hooks = { preDrain: { job: { namespace: 'ops', cronJob: 'backup' } } };
  const spec = { ...aGroupSpec(), updateConfig: { updateStrategy: 'SURGE', hooks } };
  kube.put(resourceTypes.nodegroups, { name: 'ng', spec });
  const asked = { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} };
  kube.put(resourceTypes.nodegroupupdates, { name: 'u', spec: asked, status: {} });
  await it.startInformers();
  const group = it.nodeGroups.get('ng');
  if (group === undefined) throw new Error('not set up');
  const update = kube.peek(resourceTypes.nodegroupupdates, 'u') as unknown as NodeGroupUpdate;
  const deps = { ...it, compat: 'eks' as const };
  if (code !== undefined) kube.fail('list', code, { times: 1 });
  try {
    await clearHooks(deps, group, update, stop.signal);
    return kube.count('list');
  } finally {
    stop.abort();
  }
};

describe('an update that ends, with hooks', () => {
  it('is not kept by Jobs that it has no right to see', async () => {
    await expect(clear('Forbidden')).resolves.toBe(await clear(undefined));
  });

  it('is tried again where the API server did not answer', async () => {
    await expect(clear('Unreachable')).rejects.toBeInstanceOf(KubeError);
  });
});

// What `drover scale nodegroup` requests of a managed group, and what it refuses.
import { describe, expect, it } from 'vitest';
import { aGroup } from '../../../test/builders/cli-update.ts';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { exitCodes } from '../context.ts';
import { scaleManaged } from './scale.ts';

describe('the sizes of a managed group', () => {
  const setUp = async (more: Partial<NodeGroup['metadata']> = {}) => {
    const kube = new FakeKube(new VirtualClock());
    kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroup().spec });
    const found = await kube.get<NodeGroup>(resourceTypes.nodegroups, { name: 'ng' });
    if (found.kind === 'gone') throw new Error('no group');
    const { object } = found;
    const group = { ...object, metadata: { ...object.metadata, ...more } };
    return { group, scaling: { kube, name: 'ng', progress: { info: () => {} } } };
  };

  it('are refused in EKS words while it is being deleted', async () => {
    const { group, scaling } = await setUp({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    await expect(scaleManaged(scaling, group, { desired: 2 })).rejects.toMatchObject({
      exitCode: exitCodes.refused,
      message: expect.stringMatching(
        /^Nodegroup cannot be updated as it is currently not in Active State: ng is being deleted/,
      ),
    });
  });

  it('are a request on its NodeGroup otherwise', async () => {
    const { group, scaling } = await setUp();
    await scaleManaged(scaling, group, { desired: 2 });
    const found = await scaling.kube.get<NodeGroup>(resourceTypes.nodegroups, { name: 'ng' });
    expect(found).toMatchObject({ object: { spec: { scaling: { desired: 2 } } } });
  });
});

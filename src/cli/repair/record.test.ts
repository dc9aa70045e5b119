// A request that changes no NodeRepair is an error.
import { describe, expect, it } from 'vitest';
import type { RequestWrite } from '../../core/repair/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import { record } from './record.ts';

const write: RequestWrite = {
  kind: 'patch',
  name: 'i-1-1',
  resourceVersion: '7',
  requested: { action: 'Replace', at: '2026-01-01T00:00:00Z' },
};
const group = { name: 'ng', uid: 'uid-ng' };

const answering = (kind: 'found' | 'gone') => {
  const bodies: unknown[] = [];
  const patch = async (_type: unknown, _name: unknown, { body }: { readonly body: unknown }) => {
    bodies.push(body);
    return { kind, object: {} };
  };
  return { kube: { patch } as unknown as KubeApi, bodies };
};

describe('the record of a request', () => {
  it('is the request in the open repair, of the version that was read', async () => {
    const { kube, bodies } = answering('found');
    await record(kube, write, group);
    const { requested } = write;
    expect(bodies).toEqual([{ metadata: { resourceVersion: '7' }, spec: { requested } }]);
  });

  it('fails where the open repair is gone', async () => {
    await expect(record(answering('gone').kube, write, group)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/NodeRepair i-1-1 is gone, and nothing was requested/),
    });
  });
});

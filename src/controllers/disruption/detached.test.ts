// The call that could terminate any instance of the account: when it is made.
import { describe, expect, it } from 'vitest';
import { aRepair, idOf, timeAt } from '../../../test/builders/core-repair.ts';
import { aDisruption } from '../../../test/builders/core-termination.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { CloudApi, KubeApi } from '../../ports/index.ts';
import { terminateDetached } from './detached.ts';

const quarantined = aRepair(1, 0, { phase: 'Quarantined', quarantinedUntil: timeAt(60) });

const terminatedBy = async (
  repairs: readonly NodeRepair[],
  instanceId = idOf(1),
): Promise<readonly string[] | string> => {
  const terminated: string[] = [];
  const kube = { list: async () => ({ items: repairs }) } as unknown as KubeApi;
  const terminateInstance = async (id: string) => {
    terminated.push(id);
  };
  const cloud = { terminateInstance } as unknown as CloudApi;
  const disruption = aDisruption([]);
  const spec = { ...disruption.spec, instanceId, nodeGroup: 'ng' };
  const { signal } = new AbortController();
  try {
    await terminateDetached({ kube, cloud }, { ...disruption, spec }, { instanceId, signal });
    return terminated;
  } catch (error) {
    return terminated.length === 0 ? String(error) : terminated;
  }
};

describe('a detached instance', () => {
  it('is terminated for a NodeRepair of its group that has it in quarantine', async () => {
    expect(await terminatedBy([quarantined])).toEqual([idOf(1)]);
  });

  it.each([
    ['no NodeRepair', []],
    ['one that is not in quarantine', [aRepair(1, 0, { phase: 'Verifying' })]],
    [
      'one of another instance',
      [{ ...quarantined, spec: { ...quarantined.spec, instanceId: idOf(2) } }],
    ],
    ['one of another group', [{ ...quarantined, spec: { ...quarantined.spec, nodeGroup: 'b' } }]],
  ])('is not terminated with %s', async (_what, repairs) => {
    expect(await terminatedBy(repairs)).toMatch(/no NodeRepair of node group ng has instance/);
  });
});

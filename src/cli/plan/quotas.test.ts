// What a plan knows of the account's quotas: running instances are counted by family and market,
// refused reads are noted.
import { describe, expect, it } from 'vitest';
import type { CountedInstance } from '../../api/cloud-provisioning.ts';
import { CloudError } from '../../ports/index.ts';
import { Collector } from './collect.ts';
import { readQuotas } from './quotas.ts';

const vcpus: Readonly<Record<string, number>> = { 'm5.large': 2, 'c5.xlarge': 4, 'g5.xlarge': 4 };

const read = async (
  running: readonly CountedInstance[],
  group: { readonly types: readonly string[]; readonly capacityType?: string },
  quotaOf: (code: string) => { code: string; name: string; value: number } | undefined = (
    code,
  ) => ({
    code,
    name: `named ${code}`,
    value: 32,
  }),
) => {
  const collector = new Collector();
  const sources = {
    cloud: {
      describeInstanceTypes: async (names: readonly string[]) =>
        names.map((name) => ({
          name,
          vcpus: vcpus[name] ?? 0,
          interfaces: 3,
          addressesPerInterface: 10,
          architectures: ['x86_64'],
        })),
    },
    provisioning: {
      countedInstances: async () => running,
      serviceQuota: async ({ code }: { readonly code: string }) => quotaOf(code),
    },
  };
  const { types: instanceTypes, capacityType = 'ON_DEMAND' } = group;
  const quotas = await readQuotas(sources, collector, { instanceTypes, capacityType });
  return { quotas, unread: collector.unread.accountQuotas };
};
const onDemand = (instanceType: string) => ({ instanceType, isSpot: false });
const spot = (instanceType: string) => ({ instanceType, isSpot: true });

describe('quotas of a plan', () => {
  it("count all of the account's instances of the families, as they are bought", async () => {
    const running = ['m5.large', 'm5.large', 'c5.xlarge', 'g5.xlarge'].map(onDemand);
    const { quotas, unread } = await read([...running, spot('m5.large')], { types: ['m5.large'] });
    const unit = 'vCPU';
    expect(quotas).toEqual([
      { code: 'L-1216C47A', name: 'named L-1216C47A', unit, limit: 32, used: 8 },
    ]);
    expect(unread).toBeUndefined();
    const bought = await read([...running, spot('m5.large')], {
      types: ['m5.large', 'c5.xlarge', 'g5.xlarge'],
      capacityType: 'SPOT',
    });
    expect(bought.quotas.map(({ code, used }) => [code, used])).toEqual([
      ['L-34B43A08', 2],
      ['L-3819A6DF', 0],
    ]);
  });

  it('are noted, and no error, where they may not be read or are not reached', async () => {
    const said =
      'GetServiceQuota: User is not authorized to perform: servicequotas:GetServiceQuota';
    for (const code of ['AccessDenied', 'Unreachable', 'Throttled'] as const) {
      const refused = () => {
        throw new CloudError(code, said);
      };
      const { quotas, unread } = await read([], { types: ['m5.large'] }, refused);
      expect(quotas).toEqual([]);
      expect(unread).toBe(said);
    }
  });

  it('are noted where there are none', async () => {
    const none = await read([], { types: ['m5.large'] }, () => undefined);
    expect(none.unread).toMatch(/no quota L-1216C47A \(Running On-Demand Standard/);
    const strange = await read([], { types: ['mac2.metal'] });
    expect(strange.unread).toBe('of mac2.metal no quota of vCPUs is known');
  });

  it('fail loudly on a mistake of ours', async () => {
    const broken = () => {
      throw new TypeError('a bug');
    };
    await expect(read([], { types: ['m5.large'] }, broken)).rejects.toThrow('a bug');
  });
});

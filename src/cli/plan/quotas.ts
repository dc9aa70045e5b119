// How many more instances of a group's types the account may launch: vCPU quotas from Service
// Quotas and the running instances. Reads only; any failed read is noted, since a plan is useful
// without quotas.

import type { CountedInstance } from '../../api/cloud-provisioning.ts';
import { type Snapshot, type VcpuQuota, vcpuQuotaOf } from '../../core/update/preflight/index.ts';
import { type CloudApi, CloudError, type ProvisioningApi } from '../../ports/index.ts';
import type { Collector } from './collect.ts';

type Quotas = Snapshot['accountQuotas'];

export interface QuotaSources {
  readonly cloud: Pick<CloudApi, 'describeInstanceTypes'>;
  readonly provisioning: Pick<ProvisioningApi, 'serviceQuota' | 'countedInstances'>;
}

/** EC2's limit of values in a filter. */
const typesPerCall = 200;

const vcpusOf = async (
  { cloud }: QuotaSources,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const vcpus = new Map<string, number>();
  for (let at = 0; at < names.length; at += typesPerCall) {
    const types = await cloud.describeInstanceTypes(names.slice(at, at + typesPerCall));
    for (const type of types) vcpus.set(type.name, type.vcpus);
  }
  return vcpus;
};

const usedOf = async (
  sources: QuotaSources,
  counted: readonly CountedInstance[],
  { code }: VcpuQuota,
): Promise<number> => {
  const types = counted
    .filter((one) => vcpuQuotaOf(one.instanceType, one.isSpot)?.code === code)
    .map(({ instanceType }) => instanceType);
  const vcpus = await vcpusOf(sources, [...new Set(types)].toSorted());
  return types.reduce((all, type) => all + (vcpus.get(type) ?? 0), 0);
};

const quotasOf = (types: readonly string[], isSpot: boolean): readonly VcpuQuota[] => {
  const found = types.flatMap((type) => vcpuQuotaOf(type, isSpot) ?? []);
  return [...new Map(found.map((one) => [one.code, one])).values()];
};

const read = async (
  sources: QuotaSources,
  collector: Collector,
  wanted: readonly VcpuQuota[],
): Promise<Quotas> => {
  const counted = await sources.provisioning.countedInstances();
  const found: Quotas[number][] = [];
  for (const one of wanted) {
    const { code, name } = one;
    const told = await sources.provisioning.serviceQuota({ service: 'ec2', code });
    if (told === undefined) {
      collector.note('accountQuotas', `Service Quotas has no quota ${code} (${name}) of ec2 here`);
      continue;
    }
    const used = await usedOf(sources, counted, one);
    found.push({ code, name: told.name || name, unit: 'vCPU', limit: told.value, used });
  }
  return found;
};

export const readQuotas = async (
  sources: QuotaSources,
  collector: Collector,
  group: { readonly instanceTypes: readonly string[]; readonly capacityType: string },
): Promise<Quotas> => {
  const { instanceTypes, capacityType } = group;
  const wanted = quotasOf(instanceTypes, capacityType === 'SPOT');
  if (wanted.length === 0) {
    const types = instanceTypes.join(', ') || 'unknown types';
    collector.note('accountQuotas', `of ${types} no quota of vCPUs is known`);
    return [];
  }
  try {
    return await read(sources, collector, wanted);
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    collector.note('accountQuotas', error.message);
    return [];
  }
};

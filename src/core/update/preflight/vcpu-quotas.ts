// Which EC2 vCPU quota an instance counts against, by family and purchase option. Codes and names
// are those of Service Quotas. Pure.

export interface VcpuQuota {
  readonly code: string;
  readonly name: string;
}

interface Market {
  readonly onDemand: VcpuQuota;
  readonly spot?: VcpuQuota;
}

const standardFamilies = 'A, C, D, H, I, M, R, T, Z';

const quota = (code: string, name: string): VcpuQuota => ({ code, name });
const market = (family: string, onDemand: string, spot?: string): Market => ({
  onDemand: quota(onDemand, `Running On-Demand ${family} instances`),
  ...(spot === undefined ? {} : { spot: quota(spot, `All ${family} Spot Instance Requests`) }),
});

const standard = market(`Standard (${standardFamilies})`, 'L-1216C47A', 'L-34B43A08');
const graphics = market('G and VT', 'L-DB2E81BA', 'L-3819A6DF');
const byFamily: Readonly<Record<string, Market>> = {
  inf: market('Inf', 'L-1945791B', 'L-B5D1601B'),
  trn: market('Trn', 'L-2C3B7624', 'L-6B0D517C'),
  dl: market('DL', 'L-6E869C2A', 'L-85EED4F7'),
  hpc: market('HPC', 'L-F7808C92'),
  u: market('High Memory', 'L-43DA4232'),
  vt: graphics,
};
const byLetter: Readonly<Record<string, Market>> = {
  f: market('F', 'L-74FC7D96', 'L-88CF9481'),
  g: graphics,
  p: {
    onDemand: quota('L-417A185B', 'Running On-Demand P instances'),
    spot: quota('L-7212CCBC', 'All P4, P3 and P2 Spot Instance Requests'),
  },
  x: market('X', 'L-7295265B', 'L-E3A00192'),
  ...Object.fromEntries(
    standardFamilies.split(', ').map((letter) => [letter.toLowerCase(), standard]),
  ),
};
const p5Spot = quota('L-C4BD4855', 'All P5 Spot Instance Requests');
/** Families that run on Dedicated Hosts only. */
const onHosts: ReadonlySet<string> = new Set(['mac']);

/**
 * Undefined if no vCPU quota is known: families on Dedicated Hosts, and families newer than this
 * table.
 */
export const vcpuQuotaOf = (instanceType: string, isSpot: boolean): VcpuQuota | undefined => {
  const [family = ''] = /^[a-z]+/.exec(instanceType) ?? [];
  if (onHosts.has(family)) return undefined;
  if (isSpot && /^p5/.test(instanceType)) return p5Spot;
  const own = Object.hasOwn(byFamily, family) ? byFamily[family] : undefined;
  const letter = family.slice(0, 1);
  const found = own ?? (Object.hasOwn(byLetter, letter) ? byLetter[letter] : undefined);
  return isSpot ? found?.spot : found?.onDemand;
};

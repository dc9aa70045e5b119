// Instance families and the quota each counts against, as in Service Quotas.
import { expect, it } from 'vitest';
import { vcpuQuotaOf } from './vcpu-quotas.ts';

it.each([
  ['m5.large', 'L-1216C47A', 'L-34B43A08'],
  ['im4gn.large', 'L-1216C47A', 'L-34B43A08'],
  ['d3en.xlarge', 'L-1216C47A', 'L-34B43A08'],
  ['z1d.large', 'L-1216C47A', 'L-34B43A08'],
  ['g4dn.xlarge', 'L-DB2E81BA', 'L-3819A6DF'],
  ['vt1.3xlarge', 'L-DB2E81BA', 'L-3819A6DF'],
  ['p4d.24xlarge', 'L-417A185B', 'L-7212CCBC'],
  ['p5en.48xlarge', 'L-417A185B', 'L-C4BD4855'],
  ['x2gd.large', 'L-7295265B', 'L-E3A00192'],
  ['f1.2xlarge', 'L-74FC7D96', 'L-88CF9481'],
  ['dl1.24xlarge', 'L-6E869C2A', 'L-85EED4F7'],
  ['inf2.xlarge', 'L-1945791B', 'L-B5D1601B'],
  ['trn1.2xlarge', 'L-2C3B7624', 'L-6B0D517C'],
  ['u-6tb1.metal', 'L-43DA4232', undefined],
  ['hpc7g.16xlarge', 'L-F7808C92', undefined],
  ['mac2.metal', undefined, undefined],
  ['q1.large', undefined, undefined],
])('%s', (type, onDemand, spot) => {
  expect(vcpuQuotaOf(type, false)?.code).toBe(onDemand);
  expect(vcpuQuotaOf(type, true)?.code).toBe(spot);
});

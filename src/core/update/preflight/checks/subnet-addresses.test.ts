// Tests of the check subnet-addresses: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aPod,
  aWorkload,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { subnetAddresses } from './subnet-addresses.ts';

const free = (freeAddresses: number) => [{ id: 'subnet-a', zone: 'a', freeAddresses }];
const cni = (env: Readonly<Record<string, string>>) => [
  aWorkload('DaemonSet', 'aws-node', {
    spec: {
      template: {
        spec: {
          containers: [
            {
              name: 'aws-node',
              env: Object.entries(env).map(([name, value]) => ({ name, value })),
            },
          ],
        },
      },
    },
  }),
];
// Two new nodes at once (one zone), two pods on the old node: 2 x (1 + 2) = 6.
const pods = [aPod('p1'), aPod('p2'), aPod('p3', { spec: { hostNetwork: true } })];
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['enough for nodes, pods and reserve', { pods, workloads: cni({}), subnets: free(38) }, []],
  [
    'too few for the reserve of the CNI',
    { pods, workloads: cni({}), subnets: free(37) },
    ['warning Subnet subnet-a'],
  ],
  [
    'enough for nodes and pods',
    { pods, workloads: cni({}), subnets: free(6) },
    ['warning Subnet subnet-a'],
  ],
  [
    'too few for nodes and pods',
    { pods, workloads: cni({}), subnets: free(5) },
    ['blocker Subnet subnet-a'],
  ],
  [
    'a reserve by addresses',
    { pods, workloads: cni({ WARM_IP_TARGET: '1', MINIMUM_IP_TARGET: '2' }), subnets: free(8) },
    [],
  ],
  [
    'prefixes of 16',
    { pods, workloads: cni({ ENABLE_PREFIX_DELEGATION: 'true' }), subnets: free(65) },
    ['warning Subnet subnet-a'],
  ],
  ['another CNI: the nodes alone', { pods, subnets: free(2) }, []],
  ['another CNI and not even that', { pods, subnets: free(1) }, ['blocker Subnet subnet-a']],
  [
    'no new node before an old one is gone',
    { pods, subnets: free(0), group: aGroup({ strategy: 'MINIMAL' }) },
    [],
  ],
  [
    "Drover's own strategy, which takes new nodes of other zones",
    {
      pods,
      group: aGroup({ strategy: 'SURGE', maxUnavailable: 2, subnets: ['subnet-a', 'subnet-b'] }),
      subnets: [...free(0), { id: 'subnet-b', zone: 'b', freeAddresses: 200 }],
    },
    ['warning Subnet subnet-a'],
  ],
  [
    'no address anywhere',
    { pods, subnets: free(0), group: aGroup({ strategy: 'SURGE' }) },
    ['blocker Subnet subnet-a'],
  ],
  [
    'no address anywhere, and old nodes may go first',
    { pods, subnets: free(0), group: aGroup({ strategy: 'SURGE', onShortage: 'Minimal' }) },
    ['warning Subnet subnet-a'],
  ],
  [
    'no address in a zone whose nodes are to be left then',
    {
      pods,
      group: aGroup({ strategy: 'SURGE', onShortage: 'Fail', subnets: ['subnet-a', 'subnet-b'] }),
      subnets: [...free(0), { id: 'subnet-b', zone: 'b', freeAddresses: 200 }],
    },
    ['blocker Subnet subnet-a'],
  ],
  [
    'a subnet of somebody else',
    { pods, subnets: [...free(200), { id: 'other', zone: 'a', freeAddresses: 0 }] },
    [],
  ],
];

describe('subnet-addresses', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(subnetAddresses, more))).toEqual(expected);
  });
});

// Exact numbers of EKS' images. Sources: eni-max-pods of the VPC CNI, nodeadm's own tests,
// max-pods-calculator.sh, EKS user guide on Windows.
import { describe, expect, it } from 'vitest';
import { instanceTypes } from '../../../world/aws/ec2/instance-types.ts';
import {
  clusterDnsOf,
  evaluateMaxPods,
  kubeReserved,
  maxPodsOf,
  recommendedMaxPods,
  reservedMemoryMiB,
  reservedMillicores,
} from './capacity.ts';
import { instanceTypeFacts, knownInstanceTypes } from './instance-types.ts';

const type = (name: string) => {
  const facts = instanceTypeFacts(name);
  if (facts === undefined) throw new Error(name);
  return facts;
};

describe('pods of an instance type', () => {
  it.each([
    ['t3.nano', 4],
    ['m7a.medium', 8],
    ['t3.medium', 17],
    ['m5.large', 29],
    ['m4.xlarge', 58],
    ['p5.48xlarge', 100],
    ['g5.48xlarge', 345],
    ['c5.18xlarge', 737],
  ])('%s: %d', (name, pods) => {
    expect(maxPodsOf(type(name))).toBe(pods);
  });

  it.each([
    ['m5.large', { isCustomNetworking: true }, 20],
    ['m5.large', { isPrefixDelegation: true }, 434],
    ['m5.large', { isPrefixDelegation: true, cpus: 2 }, 110],
    ['m5.8xlarge', { isPrefixDelegation: true, cpus: 32 }, 250],
    ['c5.18xlarge', { cpus: 72 }, 250],
    ['m5.large', { isWindows: true }, 9],
    ['m5.large', { isWindows: true, isPrefixDelegation: true }, 144],
    ['m5.large', { maxInterfaces: 2 }, 20],
  ])('%s with %j: %d', (name, options, pods) => {
    expect(recommendedMaxPods(type(name), options)).toBe(pods);
  });

  it('are known for every published type, and for all of the world’s', () => {
    expect(knownInstanceTypes).toHaveLength(1384);
    for (const { name, interfaces, addressesPerInterface, cpus } of instanceTypes.values()) {
      expect(type(name), name).toMatchObject({ interfaces, addressesPerInterface, cpus });
    }
    expect(instanceTypeFacts('constructor')).toBeUndefined();
  });

  it.each([
    ['(default_enis * ((ips_per_eni - 1) * 16)) + 2', { kind: 'ok', maxPods: 242 }],
    ['max_pods + 2', { kind: 'ok', maxPods: 19 }],
    ['true', { kind: 'fault', message: 'gives boolean, not a whole number' }],
    ['max_pods - 100', { kind: 'fault', message: 'gives -83, which is no number of pods' }],
  ])('by the expression %s', (expression, expected) => {
    expect(evaluateMaxPods(expression, { interfaces: 3, addressesPerInterface: 6 })).toEqual(
      expected,
    );
  });
});

describe('what a node keeps for itself', () => {
  it.each([
    [1, 60],
    [2, 70],
    [4, 80],
    [8, 90],
    [16, 110],
    [32, 150],
    [48, 190],
    [64, 230],
    [96, 310],
    [128, 390],
    [192, 550],
  ])('%d processors: %d m', (cpus, millicores) => {
    expect(reservedMillicores(cpus)).toBe(millicores);
  });
  it.each([
    [4, 299],
    [17, 442],
    [29, 574],
    [58, 893],
    [110, 1465],
    [250, 3005],
    [737, 8362],
  ])('%d pods: %d Mi', (pods, memory) => {
    expect(reservedMemoryMiB(pods)).toBe(memory);
  });
  it('is what the kubelet takes', () => {
    expect(kubeReserved(2, 29)).toEqual({
      cpu: '70m',
      'ephemeral-storage': '1Gi',
      memory: '574Mi',
    });
  });
});

describe('the address of the cluster’s DNS', () => {
  it.each([
    ['10.100.0.0/16', '10.100.0.10'],
    ['172.16.0.0/12', '172.16.0.10'],
    ['10.100.0.128/25', '10.100.0.10'],
    ['fc00::/7', 'fc00::a'],
    ['nonsense', undefined],
  ])('%s: %s', (cidr, address) => {
    expect(clusterDnsOf(cidr)).toBe(address);
  });
});

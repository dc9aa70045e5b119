// Instance types by attributes: bounds, names, kinds, pages, and refusals.
import { describe, expect, it } from 'vitest';
import { aTestWorld } from '../../../test/builders/world-aws.ts';

const world = aTestWorld();
const operation = 'GetInstanceTypesFromInstanceRequirements';
const input = (requirements: object, more: object = {}) => ({
  ArchitectureTypes: ['x86_64'],
  VirtualizationTypes: ['hvm'],
  InstanceRequirements: { VCpuCount: { Min: 0 }, MemoryMiB: { Min: 0 }, ...requirements },
  ...more,
});
const types = (requirements: object, more: object = {}): readonly string[] =>
  (world.call('ec2', operation, input(requirements, more)).InstanceTypes ?? []).map((one) =>
    String(one.InstanceType),
  );

describe('instance types of requirements', () => {
  it('keep to bounds of vCPU and memory, without burstable ones unless these are asked for', () => {
    const small = { VCpuCount: { Min: 2, Max: 2 }, MemoryMiB: { Min: 8192, Max: 8192 } };
    expect(types(small)).toEqual(['m5.large', 'm5a.large', 'm6i.large', 'm7i.large']);
    expect(types({ ...small, BurstablePerformance: 'included' })).toContain('t3.large');
    expect(types({ ...small, BurstablePerformance: 'required' })).toEqual([
      ...['t2.large', 't3.large', 't3a.large'],
    ]);
    expect(types({ ...small, BareMetal: 'required' })).toEqual([]);
  });

  it('keep to architecture, manufacturer, accelerators and memory per vCPU', () => {
    const two = { VCpuCount: { Min: 2, Max: 2 } };
    expect(types({ ...two, CpuManufacturers: ['amd'] })).toEqual(['m5a.large']);
    const arm = { ArchitectureTypes: ['arm64'] };
    expect(types({ ...two, MemoryGiBPerVCpu: { Min: 8 } }, arm)).toEqual(['r6g.large']);
    expect(types({ AcceleratorCount: { Min: 1 }, VCpuCount: { Min: 0, Max: 4 } })).toEqual([
      ...['g4dn.xlarge', 'g5.xlarge'],
    ]);
    expect(types({ ...two, InstanceGenerations: ['previous'] })).toEqual([]);
    expect(types(two, { VirtualizationTypes: ['paravirtual'] })).toEqual([]);
  });

  it('take names with wildcards, allowed or excluded but not both', () => {
    const four = { VCpuCount: { Min: 4, Max: 4 } };
    expect(types({ ...four, AllowedInstanceTypes: ['m5*', 'c5.xlarge'] })).toEqual([
      ...['c5.xlarge', 'm5.xlarge', 'm5a.xlarge'],
    ]);
    const rest = types({ ...four, ExcludedInstanceTypes: ['c*', 'r*', 'm*'] });
    expect(rest).toEqual(['g4dn.xlarge', 'g5.xlarge']);
    const both = { AllowedInstanceTypes: ['m5*'], ExcludedInstanceTypes: ['c*'] };
    expect(world.refusal('ec2', operation, input(both))).toMatch(/^InvalidParameterCombination: /);
  });

  it('come in pages', () => {
    const all = types({});
    const first = world.call('ec2', operation, input({}, { MaxResults: 5 }));
    expect(first.InstanceTypes).toHaveLength(5);
    const NextToken = String(first.NextToken);
    expect(types({}, { NextToken })).toEqual(all.slice(5));
  });

  it('are refused where the world has no such facts', () => {
    expect(world.refusal('ec2', operation, input({ LocalStorage: 'required' }))).toMatch(
      /^NotImplemented: The instance requirement LocalStorage/,
    );
  });
});

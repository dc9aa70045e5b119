import { describe, expect, it } from 'vitest';
import { updateGroupRequest } from './requests.ts';

describe('a group with a mixed instances policy that gets another version of its template', () => {
  const launchTemplate = { id: 'lt-1', version: '7' };
  const overridesAfter = (overrides: Parameters<typeof updateGroupRequest>[0]['overrides']) =>
    updateGroupRequest({ name: 'g1', launchTemplate, overrides: overrides ?? [] })
      .MixedInstancesPolicy?.LaunchTemplate;

  it('keeps types with weights and requirements as they are', () => {
    const overrides = [
      { InstanceType: 'm5.large', WeightedCapacity: '2' },
      { InstanceRequirements: { VCpuCount: { Min: 2 }, MemoryMiB: { Min: 4096 } } },
    ];
    expect(overridesAfter(overrides)).toEqual({
      LaunchTemplateSpecification: { LaunchTemplateId: 'lt-1', Version: '7' },
      Overrides: overrides,
    });
  });

  it('names a template of one type by its id alone, as Auto Scaling takes one of the two', () => {
    const told = { LaunchTemplateId: 'lt-2', LaunchTemplateName: 'arm', Version: '1' };
    const { LaunchTemplateName: _name, ...taken } = told;
    const InstanceType = 'm6g.large';
    expect(overridesAfter([{ InstanceType, LaunchTemplateSpecification: told }])).toMatchObject({
      Overrides: [{ InstanceType, LaunchTemplateSpecification: taken }],
    });
  });
});

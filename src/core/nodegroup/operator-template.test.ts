// Versions of an operator's launch template: the version that an update of an adopted group
// restores, and when it uses the requested version directly.
import { describe, expect, it } from 'vitest';
import type { ScalingGroup, ScalingInstance } from '../../api/cloud.ts';
import { isHighest, overridesComplaint, versionBefore } from './operator-template.ts';

const group = (version: string | undefined, versions: readonly (string | undefined)[]) => ({
  ...(version === undefined ? {} : { launchTemplate: { id: 'lt-1', name: 'theirs', version } }),
  instances: versions.map(
    (launchTemplateVersion, at): ScalingInstance => ({
      instanceId: `i-${at}`,
      autoScalingGroupName: 'mine',
      availabilityZone: 'eu-west-1a',
      lifecycleState: 'InService',
      instanceType: 'm5.large',
      protectedFromScaleIn: false,
      ...(launchTemplateVersion === undefined ? {} : { launchTemplateVersion }),
    }),
  ),
});

describe('the version that an update sets back to', () => {
  it.each<readonly [string, string | undefined, readonly (string | undefined)[], string]>([
    ['is the one that the group names', '4', ['3', '3'], '4'],
    ['is that of its instances under $Latest', '$Latest', ['3', '3'], '3'],
    ['is that of most instances', '$Default', ['3', '2', '2'], '2'],
    ['is the lowest of as many', '$Latest', ['10', '9'], '9'],
    ['leaves out instances of another template', '$Latest', [undefined, '', '7'], '7'],
    ['is the name where no instance is of the template', '$Latest', [undefined], '$Latest'],
    ['is nothing without a template', undefined, [''], ''],
  ])('%s', (_, named, versions, expected) => {
    expect(versionBefore(group(named, versions))).toBe(expected);
  });
});

describe('a requested version', () => {
  it.each<readonly [string, string | undefined, readonly (string | undefined)[], boolean]>([
    ['2', '1', ['1', '1'], true],
    ['2', '2', ['1', '2'], true],
    ['2', '$Latest', ['1', '1'], true],
    ['2', '$Latest', ['2', '2'], true],
    ['2', '$Latest', ['1', '3'], false],
    ['1', '2', [], false],
    ['10', '9', ['9'], true],
    ['2', '1', [undefined], true],
  ])('%s under %s with instances of %j is used as it is: %s', (version, named, versions, is) => {
    expect(isHighest(version, group(named, versions))).toBe(is);
  });
});

describe('overrides', () => {
  const specification = { LaunchTemplateId: 'lt-2', Version: '1' };
  it.each<readonly [string, ScalingGroup['overrides'], RegExp | undefined]>([
    ['may be missing', undefined, undefined],
    ['may name types', [{ InstanceType: 'm5.large' }, { InstanceType: 'm5.xlarge' }], undefined],
    ['may have requirements', [{ InstanceRequirements: { VCpuCount: { Min: 2 } } }], undefined],
    ['may weigh 1', [{ InstanceType: 'm5.large', WeightedCapacity: '1' }], undefined],
    [
      'have no weights',
      [
        { InstanceType: 'm5.large', WeightedCapacity: '1' },
        { InstanceType: 'm5.xlarge', WeightedCapacity: '2' },
      ],
      /weights.*Remove the weights/,
    ],
    [
      'have no templates of their own',
      [{ InstanceType: 'm6g.large', LaunchTemplateSpecification: specification }],
      /launch templates of their own/,
    ],
  ])('%s', (_, overrides, expected) => {
    const found = overridesComplaint({ name: 'mine', ...(overrides && { overrides }) });
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(expected);
  });
});

// The versions and templates to which EKS allows a node group to be updated.
import { describe, expect, it } from 'vitest';
import {
  sameTemplateComplaint,
  versionComplaint,
  versionParams,
  versionRefusal,
} from './version-update.ts';

describe('the version', () => {
  it.each([
    ['1.33', true],
    ['1.31', true],
    ['1.32', false],
    ['1.34', false],
    ['1.30', false],
    ['v1.33', false],
    ['1.33.2', false],
    ['', false],
  ])('%s for a group on 1.31 of a cluster on 1.33', (version, isTaken) => {
    const complaint = versionComplaint(version, { cluster: '1.33', group: '1.31' });
    expect(complaint).toBe(
      isTaken
        ? undefined
        : 'Nodegroup Kubernetes version should be equal to Cluster kubernetes version 1.33 or NodeGroup kubernetes version 1.31',
    );
  });
});

describe('the launch template', () => {
  const own = { id: 'lt-1', name: 'mine', version: '1' };
  it.each([
    [own, { id: 'lt-1' }, /^undefined$/],
    [own, { name: 'mine' }, /^undefined$/],
    [own, { id: 'lt-2' }, /^Launch template lt-2 is not the one .*: lt-1\. Only its version/],
    [own, { name: 'other' }, /^Launch template other is not the one/],
    [{ id: 'lt-1', version: '1' }, { name: 'any' }, /^undefined$/],
    [undefined, { id: 'lt-1' }, /was not created with one/],
  ])('%o asked as %o', (now, asked, words) => {
    expect(String(sameTemplateComplaint(now, asked))).toMatch(words);
  });
});

describe('the params of a version update', () => {
  it('are what is known, in the order in which EKS tells them', () => {
    const launchTemplate = { id: 'lt-1', name: 'mine', version: '4' };
    expect(
      versionParams({ version: '1.32', releaseVersion: '1.32.9-20260905', launchTemplate }),
    ).toEqual([
      { type: 'Version', value: '1.32' },
      { type: 'ReleaseVersion', value: '1.32.9-20260905' },
      { type: 'LaunchTemplateName', value: 'mine' },
      { type: 'LaunchTemplateVersion', value: '4' },
    ]);
    expect(versionParams({ launchTemplate: { id: 'lt-1', version: '4' } })).toEqual([
      { type: 'LaunchTemplateVersion', value: '4' },
    ]);
  });
});

describe('another version of the group’s own template', () => {
  const of = (InstanceType?: string) => ({
    id: 'lt-1',
    name: 'mine',
    version: '2',
    data: InstanceType === undefined ? {} : { InstanceType },
  });
  it.each([
    ['may keep to types in neither', [], of(), of(), undefined],
    ['may keep to types in both', ['m5.large'], of('m5.large'), of('m6i.large'), undefined],
    ['may not stop naming the only type', [], of('m5.large'), of(), /should specify an instance/],
    ['may not begin to name one beside the group', ['m5.large'], of(), of('m5.large'), /either in/],
    [
      'must name one where nobody knows what was',
      [],
      undefined,
      of(),
      /should specify an instance/,
    ],
  ])('%s', (_, instanceTypes, before, next, refusal) => {
    const spec = { amiType: 'AL2023_x86_64_STANDARD' as const, instanceTypes };
    const message = versionRefusal(spec, next, before)?.message;
    if (refusal === undefined) expect(message).toBeUndefined();
    else expect(message).toMatch(refusal);
  });
});

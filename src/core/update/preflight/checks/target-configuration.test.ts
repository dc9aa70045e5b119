// Tests of the check target-configuration: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aNode,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { targetConfiguration } from './target-configuration.ts';

const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['a target that is there', { target: { architecture: 'x86_64' } }, []],
  [
    'an unknown release',
    { target: { problem: 'no image of release 1.32.0-20200101' } },
    ['blocker NodeGroup ng'],
  ],
  [
    'an image that does not exist',
    { target: { imageId: 'ami-gone', missingImage: 'ami-gone' } },
    ['blocker NodeGroup ng'],
  ],
  [
    'an image of another architecture',
    { target: { architecture: 'arm64' } },
    ['blocker NodeGroup ng'],
  ],
  [
    'a type that EC2 does not have',
    { group: aGroup({ instanceTypes: ['x9.nano'] }) },
    ['blocker NodeGroup ng'],
  ],
  [
    'a subnet that is gone',
    { group: aGroup({ subnets: ['subnet-a', 'subnet-b'] }) },
    ['blocker Subnet subnet-b'],
  ],
  [
    'a label that old nodes lack',
    { group: aGroup({ labels: { tier: 'web' } }) },
    ['warning NodeGroup ng'],
  ],
  [
    'a label that they have',
    {
      group: aGroup({ labels: { tier: 'web' } }),
      nodes: [aNode('n1', { labels: { tier: 'web' } })],
    },
    [],
  ],
  [
    'a hook whose CronJob is not there',
    { missingTemplates: [{ hook: 'preDrain', cronJob: 'ops/save' }] },
    ['blocker CronJob ops/save'],
  ],
  [
    'a hook that is gone on without',
    {
      group: aGroup({ hooks: { preDrain: { onFailure: 'Continue' } } }),
      missingTemplates: [{ hook: 'preDrain', cronJob: 'ops/save' }],
    },
    ['warning CronJob ops/save'],
  ],
  [
    'CronJobs that could not be read',
    { unread: { hooks: 'no right' } },
    ['notChecked NodeGroup ng'],
  ],
  [
    'types that could not be read',
    { instanceTypes: [], unread: { instanceTypes: 'no right' } },
    [],
  ],
];

describe('target-configuration', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(targetConfiguration, more))).toEqual(expected);
  });

  it.each([
    [
      'AL2_x86_64',
      '1.33',
      'drover',
      /^drover create nodegroup .* --node-ami-family AmazonLinux2023 /,
    ],
    [
      'AL2_x86_64',
      '1.33',
      'eks',
      /^aws eks create-nodegroup .* --ami-type AL2023_x86_64_STANDARD /,
    ],
    ['AL2_x86_64', '1.32', 'drover', /^name a release that exists: /],
    ['AL2023_x86_64_STANDARD', '1.33', 'drover', /^name a release that exists: /],
  ] as const)('the remedy for %s at %s of %s', (amiType, version, managedBy, remedy) => {
    const found = findingsOf(targetConfiguration, {
      group: aGroup({ amiType, managedBy }),
      target: { version, problem: 'no image' },
      controlPlaneVersion: '1.33',
    });
    expect(found.map((one) => one.remedy)).toEqual([expect.stringMatching(remedy)]);
  });
});

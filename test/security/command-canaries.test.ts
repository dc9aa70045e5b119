// Attack row 20 for the command line: unique texts stand in for secrets in Secrets, ConfigMaps,
// pods and user data. No command that reads prints one of them, in plain text or in base64.
import { expect, it } from 'vitest';
import { resourceTypes } from '../../src/api/kube.ts';
import type { GivenGroup } from '../support/given-group.ts';
import { recordReadOnlyCommands } from '../support/read-only-commands.ts';

const canaries = {
  secret: 'canary-secret-9c1a',
  configMap: 'canary-config-map-9c1b',
  environment: 'canary-environment-9c1c',
  userData: 'canary-user-data-9c1d',
} as const;

const needles = Object.values(canaries).flatMap((text) => [
  text,
  ...['', 'x', 'xx'].map((before) => btoa(`${before}${text}`).slice(4, -4)),
]);

const userData = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/x-shellscript

#!/bin/bash
export PASSWORD=${canaries.userData}
--b--
`;

const plant = ({ life }: GivenGroup) => {
  const meta = (name: string) => ({ name, namespace: 'default' });
  life.make(resourceTypes.secrets, 'default', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: meta('token'),
    data: { token: btoa(canaries.secret) },
  });
  life.make(resourceTypes.configmaps, 'default', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: meta('settings'),
    data: { password: canaries.configMap },
  });
  life.make(resourceTypes.pods, 'default', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta('bare'),
    spec: {
      nodeSelector: { 'eks.amazonaws.com/nodegroup': 'old' },
      containers: [
        { name: 'c', image: 'web:1', env: [{ name: 'PASSWORD', value: canaries.environment }] },
      ],
    },
  });
  life.world.aws.call('ec2', 'CreateLaunchTemplate', {
    LaunchTemplateName: 'secretive',
    LaunchTemplateData: { UserData: btoa(userData) },
  });
  return { launchTemplate: { name: 'secretive', version: '1' } };
};

it('no command that reads prints a secret', async () => {
  const printed: string[] = [];
  const requests = await recordReadOnlyCommands({ plant, print: (line) => printed.push(line) });
  const text = printed.join('\n');
  // The pod and the template were read: otherwise the search would be meaningless.
  expect(text).toContain('default/bare');
  expect(requests['explain nodegroup']?.aws).toContain('ec2:DescribeLaunchTemplateVersions');
  expect(text).toContain('late');
  expect(needles.filter((needle) => text.includes(needle))).toEqual([]);
}, 120_000);

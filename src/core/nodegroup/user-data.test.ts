// Unusual texts in user data: they are quoted in each family's language, never executed, and a
// user's own parts stay complete.
import { describe, expect, it } from 'vitest';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { familyOf } from './images.ts';
import { userDataFor } from './template.ts';
import { type BootstrapFacts, bootstrapUserData } from './user-data.ts';

const renderUserData = (facts: BootstrapFacts): string | undefined => {
  const written = bootstrapUserData(facts);
  return written.kind === 'ok' ? written.text : undefined;
};

const rendered = (amiType: string, more: object): string => {
  const family = familyOf(amiType);
  if (family === undefined) throw new Error(amiType);
  const plain = { clusterName: 'c', labels: {}, taints: [], maxPods: undefined, cluster: {} };
  return renderUserData({ family, ...plain, userParts: undefined, ...more }) ?? 'refused';
};

describe('text that a shell or a parser would take apart', () => {
  const strange = 'a\'b"$(id)`';
  it.each([
    ['AL2_x86_64', `KUBELET_ARGS='--node-labels=k=a'\\''b"$(id)\`'`],
    ['AL2_x86_64', `/etc/eks/bootstrap.sh 'a'\\''b"$(id)\`' --kubelet`],
    ['AL2023_x86_64_STANDARD', '    name: "a\'b\\"$(id)`"\n'],
    ['AL2023_x86_64_STANDARD', '      - "--node-labels=k=a\'b\\"$(id)`"\n'],
    ['BOTTLEROCKET_x86_64', `node-labels.'k' = "a'b\\"$(id)\`"\n`],
    ['WINDOWS_CORE_2022_x86_64', '-EKSClusterName "a\'b`"`$(id)``" '],
    ['WINDOWS_CORE_2022_x86_64', '-KubeletExtraArgs "--node-labels=k=a\'b`"`$(id)``"'],
  ])('%s: %s', (amiType, line) => {
    expect(rendered(amiType, { clusterName: strange, labels: { k: strange } })).toContain(line);
  });

  it('stays a text in YAML that would be a number or a truth', () => {
    expect(rendered('AL2023_x86_64_STANDARD', { clusterName: '1e3' })).toContain('name: "1e3"\n');
  });
});

describe('the user data of the user’s own template', () => {
  const head = 'Content-Type: multipart/mixed; boundary="B"\n\n';
  const mine = (name: string) => `--B\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n${name}\n`;
  it.each([
    ['closed', `${head}${mine('first')}${mine('last')}--B--\nafter\n`],
    ['without its closing boundary', `${head}${mine('first')}${mine('last')}`],
  ])('%s: every part is kept, what follows the end is not', (_name, userParts) => {
    const text = rendered('AL2_x86_64', { userParts });
    expect(text.match(/first|last|after/g)).toEqual(['first', 'last']);
  });

  const dataFor = (source: { readonly UserData: string; readonly ImageId?: string }) => {
    const spec = { amiType: 'AL2_x86_64', launchTemplate: { id: 'lt-1', version: '3' } };
    const group = { metadata: { name: 'ng' }, spec } as unknown as NodeGroup;
    const more = { name: 'eks-u', imageId: 'ami-1', types: [], securityGroups: [], cluster: {} };
    return userDataFor({ group, source, ...more });
  };
  it.each([
    ['EKS’ image', { UserData: '#!/bin/sh' }],
    ['an image of the template’s own', { UserData: '#!/bin/sh', ImageId: 'ami-2' }],
  ])('that is no base64 is a problem of the template, with %s', (_name, source) => {
    expect(dataFor(source)).toEqual({
      code: 'Ec2LaunchTemplateInvalidConfiguration',
      message: 'User data of launch template lt-1 version 3 is not base64.',
    });
  });
  it('goes as it is to an image of the template’s own', () => {
    expect(dataFor({ UserData: btoa('mine'), ImageId: 'ami-2' })).toBe('mine');
  });
});

import { describe, expect, it } from 'vitest';
import { encodeBase64, readUserData } from './user-data.ts';

const instance = { instanceId: 'i-1', lifecycle: 'on-demand' } as const;
const ca = btoa('-----BEGIN CERTIFICATE-----\nMIIBAAAA\n-----END CERTIFICATE-----\n');
const read = (text: string) => readUserData(encodeBase64(text), instance);

describe('user data of the articles', () => {
  it('of Bottlerocket names labels as dotted keys', () => {
    const text = [
      "settings.kubernetes.cluster-name = 'bys-dev-eks-sec'",
      "settings.kubernetes.api-server = 'https://e'",
      `settings.kubernetes.cluster-certificate = '${ca}'`,
      'settings.kubernetes.max-pods = 20',
      "settings.kubernetes.node-labels.'eks.amazonaws.com/nodegroup' = 'ng-bottlerocket'",
      "settings.kubernetes.node-labels.'eks.amazonaws.com/capacityType' = 'ON_DEMAND'",
    ].join('\n');
    expect(read(text)).toMatchObject({
      joins: true,
      maxPods: 20,
      labels: {
        'eks.amazonaws.com/nodegroup': 'ng-bottlerocket',
        'eks.amazonaws.com/capacityType': 'ON_DEMAND',
      },
    });
  });

  it('of Bottlerocket names labels in a table', () => {
    const text = [
      '[settings.kubernetes]',
      'cluster-name = "c"',
      'api-server = "https://e"',
      `cluster-certificate = "${ca}"`,
      '[settings.kubernetes.node-labels]',
      '"team" = "red"',
      '[settings.kubernetes.node-taints]',
      '"a" = "b:NoSchedule"',
    ].join('\n');
    expect(read(text)).toMatchObject({ joins: true, labels: { team: 'red' } });
    expect(read(text).labels).not.toHaveProperty('a');
    expect(read(text).taints).toEqual([{ key: 'a', value: 'b', effect: 'NoSchedule' }]);
  });

  it('of Bottlerocket has several taints of one key, with and without a value', () => {
    const text = "settings.kubernetes.node-taints.'k' = ['v:NoSchedule', ':NoExecute']\n";
    expect(read(text).taints).toEqual([
      { key: 'k', value: 'v', effect: 'NoSchedule' },
      { key: 'k', effect: 'NoExecute' },
    ]);
  });

  it('of Windows starts EKS bootstrap script', () => {
    const text = [
      '<powershell>',
      '& $EKSBootstrapScriptFile -EKSClusterName "eks-win" -KubeletExtraArgs "--node-labels=a=b"',
      '</powershell>',
    ].join('\n');
    expect(read(text)).toMatchObject({ joins: true, labels: { a: 'b' } });
  });

  it('without any of them makes no node', () => {
    expect(read('#!/bin/bash\necho hello\n').joins).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { exampleAuthority, type Family } from '../../../src/formats/index.ts';
import { encodeBase64, readUserData } from './user-data.ts';

const instance = {
  instanceId: 'i-1',
  lifecycle: 'on-demand',
  kubernetesVersion: '1.32.9',
} as const;
const ca = exampleAuthority;
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

describe('user data on an image', () => {
  const script = '#!/bin/bash\n/etc/eks/bootstrap.sh my-cluster\n';
  const nodeConfig = 'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n';
  const settings = "settings.kubernetes.cluster-name = 'c'\n";
  const on = (family: Family, text: string) =>
    readUserData(encodeBase64(text), { ...instance, family });

  it.each([
    ['al2023', script],
    ['bottlerocket', script],
    ['al2', nodeConfig],
    ['windows', nodeConfig],
    ['al2023', settings],
    ['al2', '<powershell>\n& $EKSBootstrapScriptFile -EKSClusterName "c"\n</powershell>\n'],
  ] as const)(
    'of %s that was written for another family makes no node, and says so',
    (family, text) => {
      const { joins, fault } = on(family, text);
      expect(joins).toBe(false);
      expect(fault).toMatch(/^FAM001: this is user data for /);
    },
  );

  it('of its own family joins, Ubuntu’s being that of Amazon Linux 2', () => {
    expect(on('al2', script).joins).toBe(true);
    expect(on('ubuntu', script).joins).toBe(true);
  });

  it('that speaks of no cluster was not meant to join one, whatever the image', () => {
    const plain = '#!/bin/bash\necho hello\n';
    for (const family of ['al2', 'al2023', 'ubuntu'] as const) {
      expect(on(family, plain)).toMatchObject({ joins: false });
      expect(on(family, plain).fault).toBeUndefined();
    }
  });

  it('is read as the kubelet of the image reads it', () => {
    const flagged =
      "#!/bin/bash\n/etc/eks/bootstrap.sh c --kubelet-extra-args '--container-runtime=remote'\n";
    const at = (kubernetesVersion: string) =>
      readUserData(encodeBase64(flagged), { ...instance, family: 'al2', kubernetesVersion });
    expect(at('1.26.4').fault).toBeUndefined();
    expect(at('1.27.1').fault).toContain('FL002');
  });
});

// The user data of each image family, byte for byte, and the names of its images and releases.
import { describe, expect, it } from 'vitest';
import {
  defaultAmiType,
  familyOf,
  hasImages,
  imagePattern,
  newestImage,
  releaseOf,
  supportedAmiTypes,
} from './images.ts';
import { type BootstrapFacts, bootstrapUserData, sameNodes } from './user-data.ts';

const renderUserData = (facts: BootstrapFacts): string | undefined => {
  const written = bootstrapUserData(facts);
  return written.kind === 'ok' ? written.text : undefined;
};

const family = (amiType: string) => {
  const found = familyOf(amiType);
  if (found === undefined) throw new Error(`no family ${amiType}`);
  return found;
};

const facts = (amiType: string, more: Partial<BootstrapFacts> = {}): BootstrapFacts => ({
  family: family(amiType),
  clusterName: 'c',
  labels: { 'example.com/tier': 'web', team: 'a' },
  taints: [
    { key: 'k', value: 'v', effect: 'NoSchedule' },
    { key: 'k', effect: 'NoExecute' },
  ],
  maxPods: 29,
  cluster: { endpoint: 'https://e', certificateAuthority: 'QQ==', serviceCidr: '10.100.0.0/16' },
  userParts: undefined,
  ...more,
});
const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;
const flags = '--node-labels=example.com/tier=web,team=a';
const taints = '--register-with-taints=k=v:NoSchedule,k=:NoExecute';

const shell = lines(
  '#!/bin/bash',
  'set -ex',
  `KUBELET_ARGS='${flags} ${taints} --max-pods=29'`,
  '/etc/eks/bootstrap.sh c --kubelet-extra-args "$KUBELET_ARGS"',
);
const nodeConfig = lines(
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="//"',
  '',
  '--//',
  'Content-Type: application/node.eks.aws',
  '',
  '---',
  'apiVersion: node.eks.aws/v1alpha1',
  'kind: NodeConfig',
  'spec:',
  '  cluster:',
  '    name: "c"',
  '    apiServerEndpoint: https://e',
  '    certificateAuthority: QQ==',
  '    cidr: 10.100.0.0/16',
  '  kubelet:',
  '    config:',
  '      maxPods: 29',
  '    flags:',
  `      - "${flags}"`,
  `      - "${taints}"`,
  '',
  '--//--',
);
const settings = lines(
  "settings.kubernetes.cluster-name = 'c'",
  "settings.kubernetes.api-server = 'https://e'",
  "settings.kubernetes.cluster-certificate = 'QQ=='",
  'settings.kubernetes.max-pods = 29',
  "settings.kubernetes.node-labels.'example.com/tier' = 'web'",
  "settings.kubernetes.node-labels.'team' = 'a'",
  "settings.kubernetes.node-taints.'k' = ['v:NoSchedule', ':NoExecute']",
);
const bootstrapFile =
  '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"';
const startKubelet =
  '& $EKSBootstrapScriptFile -EKSClusterName "c" -APIServerEndpoint "https://e" ' +
  `-Base64ClusterCA "QQ==" -DNSClusterIP "10.100.0.10" -ServiceCIDR "10.100.0.0/16" -KubeletExtraArgs "${flags} ${taints}"`;
const powershell = lines('<powershell>', bootstrapFile, startKubelet, '</powershell>');

const mime = lines(
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="B"',
  '',
  '--B',
  'Content-Type: text/x-shellscript',
  '',
  '#!/bin/sh',
  'mine',
  '--B--',
);

describe('the user data of a family', () => {
  it.each([
    ['AL2_x86_64', shell],
    ['AL2_ARM_64', shell],
    ['AL2023_x86_64_STANDARD', nodeConfig],
    ['AL2023_x86_64_NVIDIA', nodeConfig],
    ['BOTTLEROCKET_x86_64', settings],
    ['BOTTLEROCKET_ARM_64_FIPS', settings],
    ['WINDOWS_CORE_2022_x86_64', powershell],
    ['WINDOWS_FULL_2019_x86_64', powershell],
  ])('%s', (amiType, expected) => {
    expect(renderUserData(facts(amiType))).toBe(expected);
  });

  it.each([
    ['AL2_x86_64', '--//\nContent-Type: text/x-shellscript\n\n#!/bin/sh\nmine\n', mime],
    ['AL2023_x86_64_STANDARD', '#!/bin/sh\nmine\n--//--\n', mime],
    ['BOTTLEROCKET_x86_64', '\n[settings.motd]\nx = "y"\n', "[settings.motd]\nx = 'y'\n"],
    ['WINDOWS_CORE_2022_x86_64', '<powershell>\nmine\n', '<powershell>\nmine\n</powershell>'],
    ['WINDOWS_CORE_2022_x86_64', '<powershell>\nmine\n', 'mine'],
  ])('%s keeps what the user’s own template says', (amiType, kept, userParts) => {
    const text = renderUserData(facts(amiType, { userParts })) ?? '';
    expect(text).toContain(kept);
    expect(text).toContain('team');
  });

  it.each([['AL2_x86_64'], ['AL2023_x86_64_STANDARD']])('%s takes MIME parts alone', (amiType) => {
    expect(renderUserData(facts(amiType, { userParts: '#!/bin/sh\nmine' }))).toBeUndefined();
  });

  it.each([
    ['AL2_x86_64'],
    ['AL2023_x86_64_STANDARD'],
    ['BOTTLEROCKET_x86_64'],
    ['WINDOWS_CORE_2022_x86_64'],
  ])('%s says nothing of what is not known yet', (amiType) => {
    const bare = { taints: [], maxPods: undefined, cluster: {} };
    const text = renderUserData(facts(amiType, bare)) ?? '';
    expect(text).not.toMatch(/undefined|taint|max-?pods|https:|QQ==/i);
  });

  it.each([
    ['AL2_x86_64'],
    ['AL2023_x86_64_STANDARD'],
    ['BOTTLEROCKET_x86_64'],
    ['WINDOWS_CORE_2022_x86_64'],
  ])('%s is compared by the labels and taints of its nodes', (amiType) => {
    const text = (more: Partial<BootstrapFacts> = {}) => renderUserData(facts(amiType, more)) ?? '';
    expect(sameNodes(text(), text({ maxPods: 17 }))).toBe(true);
    const turned = { labels: { team: 'a', 'example.com/tier': 'web' } };
    expect(sameNodes(text(), text(turned))).toBe(true);
    expect(sameNodes(text(), text({ labels: { team: 'a' } }))).toBe(false);
    expect(sameNodes(text(), text({ taints: [] }))).toBe(false);
  });
});

describe('the images of a family', () => {
  it.each([
    ['AL2_x86_64', 'amazon-eks-node-1.32-v*', 'amazon-eks-node-1.32-v20260905', '1.32.9-20260905'],
    ['AL2_x86_64_GPU', 'amazon-eks-gpu-node-1.32-v*', 'amazon-eks-gpu-node-1.32-v1', '1.32.9-1'],
    [
      'AL2023_ARM_64_STANDARD',
      'amazon-eks-node-al2023-arm64-standard-1.32-v*',
      'amazon-eks-node-al2023-arm64-standard-1.32-v20260905',
      '1.32.9-20260905',
    ],
    [
      'BOTTLEROCKET_x86_64_NVIDIA',
      'bottlerocket-aws-k8s-1.32-nvidia-x86_64-v*',
      'bottlerocket-aws-k8s-1.32-nvidia-x86_64-v1.26.2-360b7a38',
      '1.26.2-360b7a38',
    ],
    [
      'WINDOWS_FULL_2025_x86_64',
      'Windows_Server-2025-English-Full-EKS_Optimized-1.32-*',
      'Windows_Server-2025-English-Full-EKS_Optimized-1.32-2026.09.09',
      '1.32-2026.09.09',
    ],
  ])('%s: its pattern, and the release of a name and back', (amiType, pattern, name, release) => {
    const own = family(amiType);
    expect(imagePattern(own, '1.32', undefined)).toBe(pattern);
    const description = 'EKS Kubernetes Worker AMI (k8s: 1.32.9, containerd: 1.7.*)';
    expect(releaseOf(own, { id: 'ami-1', name, description }, '1.32')).toBe(release);
    expect(imagePattern(own, '1.32', release)).toBe(name);
  });

  it('the newest is that of the highest number, not of the last letter', () => {
    const images = ['v1.9.2-ff', 'v1.26.2-00', 'v1.10.0-zz'].map((name) => ({
      id: name,
      name,
      description: '',
    }));
    expect(newestImage(images)?.id).toBe('v1.26.2-00');
    expect(newestImage([])).toBeUndefined();
  });

  it('are known for every family of EKS but the user’s own', () => {
    expect(supportedAmiTypes).toHaveLength(20);
    expect(familyOf('CUSTOM')).toBeUndefined();
    expect(familyOf('constructor')).toBeUndefined();
    expect(['1.32', '1.33'].map((version) => hasImages('AL2_x86_64', version))).toEqual([
      true,
      false,
    ]);
    expect(defaultAmiType('1.29', 'arm64')).toBe('AL2_ARM_64');
    expect(defaultAmiType('1.30', 'x86_64')).toBe('AL2023_x86_64_STANDARD');
  });
});

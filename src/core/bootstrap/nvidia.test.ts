// nodeadm on an instance with an NVIDIA GPU: its runtime is containerd's default and, from
// Kubernetes 1.35 on, the node has a label.

import { describe, expect, it } from 'vitest';
import { defined } from '../../api/defined.ts';
import { evaluateUserData, exampleFacts, type NodeFacts } from '../../formats/index.ts';
import { nodeConfig } from './rules/samples.ts';

const nodeOf = (facts: Partial<NodeFacts>) => {
  const { node } = evaluateUserData(nodeConfig(), { ...exampleFacts, ...facts });
  const file = node.files.find(({ path }) => path === '/etc/containerd/config.toml');
  return { node, containerd: file?.content ?? '' };
};

describe('the default runtime', () => {
  it.each([
    ['m5.large', undefined, 'runc'],
    ['g5.xlarge', undefined, 'nvidia'],
    ['p5.48xlarge', undefined, 'nvidia'],
    ['g4ad.xlarge', undefined, 'runc'],
    ['g5.xlarge', false, 'runc'],
    ['m5.large', true, 'nvidia'],
  ] as const)('of %s, whose image has NVIDIA’s: %s', (instanceType, hasNvidiaRuntime, name) => {
    for (const containerdMajor of [1, 2] as const) {
      const { containerd } = nodeOf({
        instanceType,
        containerdMajor,
        ...defined({ hasNvidiaRuntime }),
      });
      expect(containerd).toMatch(new RegExp(`default_runtime_name = ['"]${name}['"]`));
      expect(containerd).toContain(`runtimes.${name}.options`);
      expect(containerd.includes('/usr/bin/nvidia-container-runtime')).toBe(name === 'nvidia');
    }
  });
});

describe('the label of a GPU', () => {
  it.each([
    ['g5.xlarge', '1.35', { 'nvidia.com/gpu.present': 'true' }],
    ['g5.xlarge', '1.34', {}],
    ['m5.large', '1.35', {}],
  ] as const)('%s with %s', (instanceType, kubernetesVersion, labels) => {
    expect(nodeOf({ instanceType, kubernetesVersion }).node.labels).toEqual(labels);
  });
});

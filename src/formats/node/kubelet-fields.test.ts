// The configuration that Drover computes for a node is valid for its kubelet's minor: every field
// exists, every value has its type, every flag and gate is known.
import { describe, expect, it } from 'vitest';
import { evaluateUserData } from '../index.ts';
import { begin } from '../position.ts';
import { parseYaml } from '../user-data/yaml.ts';
import { parseArguments } from './arguments.ts';
import { word } from './evaluated.ts';
import { exampleFacts } from './facts.ts';
import { kubeletTypeProblems, unknownKubeletFields } from './kubelet-fields.ts';
import { argumentProblems } from './kubelet-problems.ts';

const minors = [22, 24, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37];

const texts = {
  al2: '#!/bin/bash\n/etc/eks/bootstrap.sh c --kubelet-extra-args "--max-pods=20"\n',
  ubuntu: '#!/bin/bash\n/etc/eks/bootstrap.sh c\n',
  al2023: [
    'apiVersion: node.eks.aws/v1alpha1',
    'kind: NodeConfig',
    'spec:',
    '  cluster: { name: c, apiServerEndpoint: "https://e", cidr: 10.100.0.0/16 }',
    '  kubelet: { config: { maxPods: 20 } }',
  ].join('\n'),
  bottlerocket: '[settings.kubernetes]\ncluster-name = "c"\nmax-pods = 20\n',
  windows: '<powershell>\n& $EKSBootstrapScriptFile -EKSClusterName c\n</powershell>\n',
} as const;

const located = (value: unknown) =>
  parseYaml(JSON.stringify(value)).documents[0]?.value ??
  ({ kind: 'scalar', value: null, at: begin } as const);

describe.each(Object.entries(texts))('the kubelet of %s', (family, text) => {
  it.each(minors)('is given only what 1.%i takes', (minor) => {
    const facts = { ...exampleFacts, kubernetesVersion: `1.${minor}` };
    const { node } = evaluateUserData(text, facts, family as keyof typeof texts);
    for (const config of [node.kubelet.config, node.kubelet.dropIn ?? {}]) {
      expect(unknownKubeletFields(located(config), minor)).toEqual([]);
      expect(kubeletTypeProblems(located(config), minor)).toEqual([]);
    }
    expect(Object.keys(node.kubelet.config).length).toBeGreaterThan(15);
    const words = node.kubelet.arguments.map(word);
    expect(argumentProblems(parseArguments(words), minor)).toEqual([]);
  });
});

describe('a field', () => {
  const found = (config: object, minor: number): readonly string[] =>
    unknownKubeletFields(located(config), minor).map(({ message }) => message);

  it('is told of before the minor that brought it, and not after', () => {
    const config = { singleProcessOOMKill: true };
    expect(found(config, 31)).toEqual([
      'KubeletConfiguration of 1.31 has no field singleProcessOOMKill: it came with 1.32',
    ]);
    expect(found(config, 32)).toEqual([]);
  });

  it('is told of within others and in lists', () => {
    expect(found({ crashLoopBackOff: { maxContainerRestartPeriod: '5s' } }, 31)).toHaveLength(1);
    const list = { shutdownGracePeriodByPodPriority: [{ prority: 1 }] };
    expect(found(list, 33)).toEqual([
      'KubeletConfiguration has no field shutdownGracePeriodByPodPriority[0].prority; ' +
        'did you mean priority?',
    ]);
  });
});

describe('flags and gates', () => {
  const rules = (text: string, minor: number): readonly string[] =>
    argumentProblems(parseArguments([word(text)]), minor).map(({ rule }) => rule);

  it.each([
    ['--pod-infra-container-image=x', 34, []],
    ['--pod-infra-container-image=x', 35, ['FL002']],
    ['--keep-terminated-pod-volumes=true', 30, []],
    ['--keep-terminated-pod-volumes=true', 31, ['FL002']],
    ['--container-runtime=remote', 26, []],
    ['--container-runtime=remote', 27, ['FL002']],
    ['--iptables-drop-bit=1', 31, ['FL002']],
    ['--experimental-allocatable-ignore-eviction=true', 36, []],
    ['--feature-gates=CPUManager=true', 32, []],
    ['--feature-gates=CPUManager=true', 33, ['KC002']],
    ['--feature-gates=SidecarContainers=true', 27, ['KC002']],
    ['--feature-gates=Nonsense=true', 33, ['KC002']],
    // The gates of 1.40 are unknown.
    ['--feature-gates=Nonsense=true', 40, []],
  ])('%s in 1.%i', (text, minor, expected) => {
    expect(rules(text, minor)).toEqual(expected);
  });
});

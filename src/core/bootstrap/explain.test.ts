// Which part sets a field and which values lose, and how two user data differ: the merge rules of
// each family as measured with its reader.
import { describe, expect, it } from 'vitest';
import { evaluateUserData, exampleFacts } from '../../formats/index.ts';
import { diffUserData, explainField } from './explain.ts';
import {
  bootstrapCall,
  config,
  flags,
  lines,
  mime,
  nodeConfig,
  nodeConfigOf,
  part,
  settings,
  shell,
} from './rules/samples.ts';

const evaluated = (text: string) => evaluateUserData(text, exampleFacts);
const nodeType = 'application/node.eks.aws';
const two = (a: readonly string[], b: readonly string[]) =>
  mime(part(nodeType, nodeConfig(...a)), part(nodeType, nodeConfigOf(...b)));
const inForce = (text: string, field: string): unknown =>
  explainField(evaluated(text), field)?.inForce?.value;

const kubelet = (...fields: readonly string[]): readonly string[] => [
  '  kubelet:',
  '    config:',
  ...fields.map((field) => `      ${field}`),
];

describe('two NodeConfigs', () => {
  it.each([
    ['a number', kubelet('maxPods: 20'), kubelet('maxPods: 30'), 'maxPods', 30],
    ['zero', kubelet('eventBurst: 20'), kubelet('eventBurst: 0'), 'eventBurst', 0],
    ['false', kubelet('failSwapOn: true'), kubelet('failSwapOn: false'), 'failSwapOn', false],
    [
      'an empty list',
      kubelet('clusterDNS: [10.100.0.10]'),
      kubelet('clusterDNS: []'),
      'clusterDNS',
      [],
    ],
    [
      'an empty text of the schema',
      ['  instance:', '    localStorage: {strategy: RAID0}'],
      ['  instance:', '    localStorage: {strategy: ""}'],
      'instance.localStorage.strategy',
      'RAID0',
    ],
    [
      'a gate that is off again',
      ['  featureGates: {FastImagePull: true}'],
      ['  featureGates: {FastImagePull: false}'],
      'featureGates.FastImagePull',
      false,
    ],
    [
      'an empty variable',
      ['  instance:', '    environment: {default: {A: x}}'],
      ['  instance:', '    environment: {default: {A: ""}}'],
      'instance.environment.default.A',
      '',
    ],
    [
      'a list of the schema',
      ['  instance:', '    network: {nameservers: [1.1.1.1]}'],
      ['  instance:', '    network: {nameservers: [2.2.2.2]}'],
      'instance.network.nameservers',
      ['2.2.2.2'],
    ],
  ])('%s', (_name, a, b, field, value) => {
    expect(inForce(two(a, b), field)).toEqual(value);
  });

  it('append flags, and merge labels key by key', () => {
    const flag = (text: string) => ['  kubelet:', `    flags: ["--node-labels=${text}"]`];
    const { labels } = evaluated(two(flag('a=1,b=1'), flag('b=2'))).node;
    expect(labels).toEqual({ a: '1', b: '2' });
  });

  it('merge containerd.config as documents', () => {
    const toml = (text: string) => ['  containerd:', `    config: '${text}'`];
    const { files } = evaluated(
      two(toml('[debug]\n\n      level = "info"'), toml('[debug]\n\n      uid = 1')),
    ).node;
    const content = files.find(({ path }) => path.endsWith('config.toml'))?.content;
    expect(content).toContain('[debug]\nlevel = "info"\nuid = 1\n');
  });

  it('tell who lost, with part and line', () => {
    const explanation = explainField(
      evaluated(two(kubelet('maxPods: 20'), kubelet('maxPods: 30'))),
      'kubelet.config.maxPods',
    );
    expect(explanation?.inForce).toMatchObject({ source: 'part 2, NodeConfig', at: { line: 26 } });
    expect(explanation?.lost.map(({ value, setBy }) => [value, setBy])).toEqual([
      [29, 'image'],
      [20, 'user data'],
    ]);
  });
});

describe('one field, several ways', () => {
  it.each([
    [
      'a flag wins over the drop-in',
      flags('--max-pods=40').replace('    flags:', '    config: {maxPods: 20}\n    flags:'),
      'maxPods',
      40,
    ],
    ['the last flag wins', flags('--max-pods=40', '--max-pods=50'), 'maxPods', 50],
    [
      'a drop-in wins over the image',
      config('kubeReserved: {memory: 1Gi}'),
      'kubeReserved.memory',
      '1Gi',
    ],
    [
      'bootstrap.sh',
      bootstrapCall("--kubelet-extra-args '--node-labels=a=b --max-pods=7'"),
      'labels.a',
      'b',
    ],
    ['settings', settings('max-pods = 20'), 'settings.kubernetes.max-pods', 20],
  ])('%s', (_name, text, field, value) => {
    expect(inForce(text, field)).toBe(value);
  });

  it('is no one’s when no one sets it', () => {
    expect(explainField(evaluated(nodeConfig()), 'maxPod')).toBeUndefined();
  });
});

describe('two user data', () => {
  const withLabels = (labels: string, more = '') =>
    bootstrapCall(`--kubelet-extra-args '--node-labels=${labels}${more}'`);
  it.each([
    [
      'of another form alone',
      bootstrapCall('--use-max-pods true'),
      `${bootstrapCall('--use-max-pods  true')}# end\n`,
      'none',
    ],
    ['with other labels', withLabels('a=b'), withLabels('a=c'), 'in-place'],
    [
      'with another taint',
      withLabels('a=b'),
      withLabels('a=b', ' --register-with-taints=k=v:NoSchedule'),
      'in-place',
    ],
    ['with other pods', withLabels('a=b'), withLabels('a=b', ' --max-pods=20'), 'replace'],
    [
      'with another command',
      bootstrapCall(),
      shell('yum -y update', '/etc/eks/bootstrap.sh my-cluster'),
      'replace',
    ],
    ['of which one does not join', nodeConfig(), nodeConfig('  kubelet: 1'), 'replace'],
  ])('%s', (_name, a, b, replacement) => {
    expect(diffUserData(evaluated(a), evaluated(b)).replacement).toBe(replacement);
  });

  it('name what is different on the node', () => {
    const { differences } = diffUserData(
      evaluated(config('maxPods: 20')),
      evaluated(config('maxPods: 30')),
    );
    expect(differences).toEqual([{ what: 'kubelet', name: 'maxPods', before: 20, after: 30 }]);
  });
});

describe('a NodeConfig that a script drops into nodeadm.d', () => {
  it('wins over the parts', () => {
    const body = nodeConfigOf(...kubelet('maxPods: 40'));
    const script = shell('cat > /etc/eks/nodeadm.d/a.yaml <<EOF', `${body}EOF`);
    const text = mime(part(nodeType, config('maxPods: 20')), part('text/x-shellscript', script));
    expect(inForce(text, 'maxPods')).toBe(40);
  });
});

describe('what is no user data', () => {
  it('is no one’s', () => {
    expect(explainField(evaluated(lines('hello')), 'maxPods')?.inForce?.setBy).toBe('image');
  });
});

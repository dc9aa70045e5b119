// Which of several cloud-config parts are effective, as cloud-init merges them, and which fields of
// a JoinConfiguration kubeadm refuses.
import { describe, expect, it } from 'vitest';
import { evaluateUserData, exampleFacts } from '../node/index.ts';
import { printMime } from './mime.ts';

const first = '#cloud-config\nruncmd: [first]\nbootcmd: [early]';
const second = (more = '') => `#cloud-config\nruncmd: [second]\n${more}`;
const append = "merge_how: 'list(append)+dict(recurse_list)+str()'";

const read = (...bodies: readonly string[]) => {
  const text = printMime(bodies.map((body) => ({ type: 'text/cloud-config', body })));
  const { bootstrap } = evaluateUserData(text, exampleFacts, 'cloud-init');
  const configs = bootstrap.cloudConfigs.map(({ config }) => config);
  return {
    run: configs.flatMap(({ scripts }) =>
      scripts.flatMap(({ invocations }) => invocations.map(({ name }) => name)),
    ),
    lost: configs.flatMap(({ lost }) => lost.map(({ at, message }) => `${at.line}: ${message}`)),
  };
};

describe('several cloud-config parts', () => {
  it('a later list takes the place of an earlier one of the same key, and of no other', () => {
    expect(read(first, second())).toEqual({
      run: ['early', 'second'],
      lost: ['8: runcmd of part 1 is ignored: that of part 2 is in force'],
    });
  });

  it.each([
    ['as a text', append],
    [
      'as a list',
      'merge_how: [{name: list, settings: [append]}, {name: dict, settings: [recurse_array]}]',
    ],
    ['by its older name', append.replace('merge_how', 'merge_type')],
  ])('both are in force where the later one says so %s', (_form, how) => {
    expect(read(first, second(how))).toEqual({ run: ['early', 'first', 'second'], lost: [] });
  });

  it('the earlier one stays where the later one says no_replace alone', () => {
    expect(read(first, second("merge_how: 'dict(no_replace)+list(append)'")).run).toEqual([
      'early',
      'first',
    ]);
  });

  it('a part that is no YAML replaces nothing', () => {
    expect(read(first, '#cloud-config\nruncmd: [').run).toEqual(['early', 'first']);
  });

  it('kubeadm join in a list that is lost joins nothing', () => {
    const text = printMime(
      ['#cloud-config\nruncmd: [kubeadm join 1.2.3.4:6443]', second()].map((body) => ({
        type: 'text/cloud-config',
        body,
      })),
    );
    const { node } = evaluateUserData(text, exampleFacts, 'cloud-init');
    expect(node.obstacles.map(({ rule }) => rule)).toEqual(['CI001']);
  });
});

const joining = (version: string, registration: string): string =>
  `#cloud-config
write_files:
- path: /j.yaml
  content: |
    apiVersion: kubeadm.k8s.io/${version}
    kind: JoinConfiguration
    discovery:
      bootstrapToken:
        apiServerEndpoint: 10.0.0.1:6443
        token: abcdef.0123456789abcdef
        unsafeSkipCAVerification: true
    nodeRegistration:
      ${registration}
runcmd: [kubeadm join --config /j.yaml]
`;

describe('a JoinConfiguration', () => {
  const list = 'kubeletExtraArgs: [{name: node-labels, value: "team=red"}]';
  const map = 'kubeletExtraArgs: {node-labels: "team=red"}';

  it.each([
    ['1.33', 'v1beta4', list, []],
    ['1.33', 'v1beta3', map, []],
    ['1.37', 'v1beta3', map, ['CI007']],
    ['1.30', 'v1beta4', list, ['CI007']],
    ['1.33', 'v1beta4', map, ['CI007']],
    ['1.33', 'v1beta3', list, ['CI007']],
    ['1.33', 'v1beta4', 'taints: [{key: a, value: b}]', ['TN001']],
    ['1.33', 'v1beta4', list.replace('team', 'node-role.kubernetes.io/x'), ['LB001']],
    ['1.33', 'v1beta4', list.replace('node-labels', 'node-label'), ['FL004']],
    ['1.33', 'v1beta3', 'kubeletExtraArgs: {fail-swap-on: false}', ['CI007']],
    ['1.33', 'v1beta3', 'kubeletExtraArgs: {node-labels: null}', []],
    ['1.33', 'v1beta4', 'kubeletExtraArgs: [{name: max-pods, value: 20}]', ['CI007']],
    ['1.33', 'v1beta4', 'kubeletExtraArgs: [{name: fail-swap-on}]', []],
    ['1.33', 'v1beta4', 'kubeletExtraArgs: [{value: "20"}]', ['CI007']],
    ['1.33', 'v1beta4', 'kubeletExtraArgs: [node-labels=a]', ['CI007']],
    ['1.33', 'v1beta4', 'kubeletExtraArgs: foo', ['CI007']],
    ['1.33', 'v1beta4', 'kubeletExtraArgs:', []],
    ['1.33', 'v1beta4', 'taints: [{key: a, value: true, effect: NoSchedule}]', ['CI007']],
    ['1.33', 'v1beta4', 'taints: {key: a, effect: NoSchedule}', ['CI007']],
    ['1.33', 'v1beta4', 'name: 5', ['CI007']],
  ])('of kubeadm %s: %s with %s', (kubernetesVersion, version, registration, rules) => {
    const facts = { ...exampleFacts, kubernetesVersion };
    const { node } = evaluateUserData(joining(version, registration), facts, 'cloud-init');
    expect(node.obstacles.map(({ rule }) => rule)).toEqual(rules);
  });

  it('says what a value is and how it must be written', () => {
    const facts = { ...exampleFacts, kubernetesVersion: '1.33' };
    const text = joining('v1beta3', 'kubeletExtraArgs: {fail-swap-on: false}');
    const [found] = evaluateUserData(text, facts, 'cloud-init').node.obstacles;
    expect(found?.message).toBe(
      'fail-swap-on of kubeletExtraArgs is the boolean false, not a text: write "false"',
    );
    expect(found?.at).toEqual({ line: 13, column: 40 });
  });

  it('has words also for kubeadms that none is known of', () => {
    const facts = { ...exampleFacts, kubernetesVersion: '1.12' };
    const [found] = evaluateUserData(joining('v1beta4', list), facts, 'cloud-init').node.obstacles;
    expect(found?.message).toBe('no JoinConfiguration is known that kubeadm 1.12 reads');
  });

  it('has its findings at their places', () => {
    const text = joining('v1beta4', 'taints: [{key: a, value: b}]');
    const [found] = evaluateUserData(text, exampleFacts, 'cloud-init').node.obstacles;
    expect(found?.at).toEqual({ line: 13, column: 16 });
    expect(text.split('\n')[12]?.slice(15)).toMatch(/^\{key: a/);
  });
});

describe('the address of the API server', () => {
  it.each([
    ['10.0.0.1:6443', []],
    ['example.com:443', []],
    ['[fd00::1]:6443', []],
    ['10.0.0.1', ['CI008']],
    ['https://10.0.0.1:6443', ['CI008']],
    ['10.0.0.1:6443/', ['CI008']],
    ['fd00::1:6443', ['CI008']],
    ['10.0.0.1:', ['CI008']],
  ])('%s, in a file and on the command line', (address, rules) => {
    const file = joining('v1beta4', 'taints: []').replace('10.0.0.1:6443', `"${address}"`);
    const trust = '--discovery-token-unsafe-skip-ca-verification';
    const command = `#cloud-config\nruncmd: ["kubeadm join ${address} --token abcdef.0123456789abcdef ${trust}"]\n`;
    for (const text of [file, command]) {
      const { node } = evaluateUserData(text, exampleFacts, 'cloud-init');
      expect(node.obstacles.map(({ rule }) => rule)).toEqual(rules);
    }
  });
});

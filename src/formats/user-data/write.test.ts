// Merging a group's user data with the user's: nothing is lost, the family decides which value
// wins, and the result reads back as intended.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateUserData, exampleFacts } from '../node/index.ts';
import { compress, decode } from './decode.ts';
import type { Family } from './families.ts';
import { parseMime } from './mime.ts';
import { type Injection, writeUserData } from './write.ts';

const injection = (family: Family, more: Partial<Injection> = {}): Injection => ({
  family,
  cluster: {
    name: 'c',
    endpoint: 'https://e',
    certificateAuthority: 'QQ==',
    serviceCidr: '10.100.0.0/16',
  },
  labels: { team: 'red', 'example.com/tier': 'web' },
  taints: [
    { key: 'k', value: 'v', effect: 'NoSchedule' },
    { key: 'k', effect: 'NoExecute' },
  ],
  maxPods: 20,
  ...more,
});
const written = (given: Injection, userData?: string, isStrict = true): string => {
  const result = writeUserData(given, userData, { isStrict });
  if (result.kind === 'fault') throw new Error(result.message);
  return result.text;
};
const join = {
  token: 'abcdef.0123456789abcdef',
  caHash: `sha256:${'0'.repeat(64)}`,
  kubernetesVersion: '1.33',
};
const node = (text: string) => evaluateUserData(text, exampleFacts).node;

const linux = ['al2', 'al2023', 'bottlerocket', 'ubuntu'] as const;

describe('what is written', () => {
  it.each(linux)('%s: gives the node that was meant', (family) => {
    const made = node(written(injection(family)));
    expect(made).toMatchObject({
      labels: injection(family).labels,
      maxPods: 20,
      cluster: { name: 'c' },
    });
    expect(made.taints).toEqual(injection(family).taints);
  });

  it.each(linux)('%s: leaves labels that a kubelet may not set to the controller', (family) => {
    const labels = { team: 'red', 'node-role.kubernetes.io/worker': '' };
    const made = node(written(injection(family, { labels })));
    expect(made.labels).toEqual({ team: 'red' });
    expect(made.obstacles.filter(({ rule }) => rule === 'LB001')).toEqual([]);
  });

  it('is kubeadm’s join where there is no EKS, its taints in force from the start', () => {
    const made = node(written(injection('cloud-init', { join })));
    expect(made.obstacles).toEqual([]);
    expect(made.taints).toEqual(injection('cloud-init').taints);
    expect(made.files.map(({ mode }) => mode)).toContain('0600');
    expect(made.files.at(-1)).toMatchObject({
      path: '/var/lib/kubelet/kubeadm-flags.env',
      content:
        'KUBELET_KUBEADM_ARGS="--max-pods=20 --node-labels=team=red,example.com/tier=web ' +
        '--register-with-taints=k=v:NoSchedule,k:NoExecute"\n',
    });
  });
});

describe('the user’s own', () => {
  const settings = '[settings.kubernetes]\nmax-pods = 50\n[settings.motd]\nx = "y"\n';
  it('wins on Bottlerocket, as one document', () => {
    const text = written(injection('bottlerocket'), settings);
    expect(node(text)).toMatchObject({ maxPods: 50, labels: { team: 'red' } });
    expect(text).toContain('[settings.motd]\nx = "y"\n');
  });
  it('wins on Amazon Linux 2023, in a later part', () => {
    const own =
      'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 50}}}\n';
    const text = written(injection('al2023'), own, false);
    expect(node(text).maxPods).toBe(50);
    expect(parseMime(text)?.parts).toHaveLength(2);
  });
  it('runs first on Amazon Linux 2 and Windows', () => {
    expect(written(injection('al2'), '#!/bin/sh\nmine\n', false)).toMatch(
      /mine[\s\S]*bootstrap\.sh/,
    );
    expect(written(injection('windows'), '<powershell>\nmine\n</powershell>')).toMatch(
      /^<powershell>\nmine\n[\s\S]*KubeletExtraArgs/,
    );
  });
  it('is run before kubeadm’s join, and neither takes the place of the other', () => {
    const own = '#cloud-config\nwrite_files: [{path: /a, content: b}]\nruncmd: [echo mine]\n';
    const text = written(injection('cloud-init', { join }), own, false);
    const { bootstrap, node: made } = evaluateUserData(text, exampleFacts);
    const commands = bootstrap.cloudConfigs.flatMap(({ config }) => config.scripts);
    expect(commands.flatMap(({ invocations }) => invocations.map(({ name }) => name))).toEqual([
      'echo',
      'kubeadm',
    ]);
    expect(bootstrap.files.map(({ path }) => path)).toHaveLength(2);
    expect(made.labels).toEqual(injection('cloud-init').labels);
  });
  it('is left as it is where it joins by itself', () => {
    const own = '#cloud-config\nruncmd: [kubeadm join --config /mine.yaml]\n';
    expect(written(injection('cloud-init'), own, false)).toBe(own);
  });
  it.each([
    ['al2', 'hello', 'User data was not in the MIME multipart format.'],
    ['al2023', '#!/bin/sh\n', 'User data was not in the MIME multipart format.'],
    ['bottlerocket', 'a = b', 'User data was not in a TOML format that could be processed.'],
  ] as const)('%s: %j is refused in EKS’ words', (family, text, message) => {
    expect(writeUserData(injection(family), text)).toMatchObject({ kind: 'fault', message });
  });
});

describe('merging', () => {
  const body = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\r'));
  it('never loses a part', () => {
    fc.assert(
      fc.property(
        fc.array(body, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('al2', 'al2023'),
        (bodies, family) => {
          const parts = bodies
            .filter((text) => !text.includes('--BB'))
            .map((text) => `--BB\nContent-Type: text/x-shellscript\n\n${text}\n`);
          const own = `Content-Type: multipart/mixed; boundary="BB"\n\n${parts.join('')}--BB--\n`;
          fc.pre(parts.length > 0);
          const text = written(injection(family as Family), own);
          const read = parseMime(text)?.parts.map((part) => part.body) ?? [];
          expect(read).toHaveLength(parts.length + 1);
          for (const one of bodies.filter((each) => !each.includes('--BB')))
            expect(read).toContain(one);
        },
      ),
    );
  });

  it('is compressed to the same bytes every time', () => {
    const text = 'x'.repeat(40_000);
    expect(compress(text)).toEqual(compress(text));
    expect(decode(compress(text))).toMatchObject({ text, layers: ['gzip'], faults: [] });
  });
});

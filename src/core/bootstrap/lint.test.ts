// Findings of lint in the articles' user data, in files that contain user data, and in non-text.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateUserData, exampleAuthority, exampleFacts, families } from '../../formats/index.ts';
import { lint } from './lint.ts';
import type { LintOptions } from './options.ts';
import { config, kubeadm, lines, mime, nodeConfig, part, shell } from './rules/samples.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const found = (text: string, options: Partial<LintOptions> = {}, name = 'f'): readonly string[] =>
  lint({ name, bytes: bytesOf(text) }, options).findings.map(
    ({ rule, line, column }) => `${rule} ${line}:${column}`,
  );
const article = (name: string): string =>
  readFileSync(new URL(`../../../test/articles/user-data/${name}`, import.meta.url), 'utf8');

describe('the user data of article 003', () => {
  it.each([
    ['al2-origin.txt', ['NC003 10:20', 'NC004 11:24', 'SH008 12:20', 'FL003 14:36']],
    ['al2-least.txt', ['SH001 7:1']],
    ['al2-extra-args.txt', ['SH001 1:1', 'TN001 1:129']],
    ['al2023-required.txt', ['NC003 8:27']],
    ['al2023-example.txt', ['NC003 14:27', 'MIME002 18:1']],
    ['al2023-injected.txt', ['NC006 13:27', 'KC002 20:9']],
    ['bottlerocket.toml', []],
    ['aws-auth.txt', ['AUTH003 7:17', 'AUTH006 7:17', 'AUTH003 13:17', 'AUTH006 13:17']],
    ['amazon-vpc-cni.yaml', []],
  ])('%s', (name, expected) => {
    expect(found(article(name))).toEqual(expected);
  });

  it('knew its feature gate in the version of its time', () => {
    const rules = found(article('al2023-injected.txt'), { kubernetesVersion: '1.29' });
    expect(rules).toEqual(['NC006 13:27']);
  });
});

describe('a join in a list that another part takes the place of', () => {
  const later = part('text/cloud-config', lines('#cloud-config', 'runcmd: [echo hello]'));
  it.each([
    ['kubeadm join', 'cloud-init', kubeadm(), ['CI001', 'CI006']],
    [
      'a script’s',
      'al2',
      lines('#cloud-config', 'runcmd:', '- /etc/eks/bootstrap.sh c'),
      ['SH007', 'CI006'],
    ],
  ] as const)('is no fragment: %s', (_what, family, text, rules) => {
    const all = found(mime(part('text/cloud-config', text), later), { family });
    expect(all.map((rule) => rule.split(' ')[0])).toEqual(rules);
  });

  it('of another list leaves a fragment one', () => {
    const echo = part('text/cloud-config', lines('#cloud-config', 'runcmd: [echo first]'));
    expect(found(mime(echo, later), { family: 'cloud-init' })).toEqual(['CI006 8:1']);
  });
});

describe('an option that bootstrap.sh does not know', () => {
  it.each([
    ['before the name is taken for it', '--max-pods=110 c', ['SH005'], ['SH005 2:23']],
    ['after the name is ignored', 'c --max-pods=110', [], ['SH011 2:25']],
    ['after the name with a blank, too', 'c --max-pods 110', [], ['SH011 2:25']],
  ])('%s', (_what, words, obstacles, findings) => {
    const text = lines('#!/bin/bash', `/etc/eks/bootstrap.sh ${words}`);
    const { node } = evaluateUserData(text, exampleFacts, 'al2');
    expect(node.obstacles.map(({ rule }) => rule)).toEqual(obstacles);
    expect(found(text, { family: 'al2' })).toEqual(findings);
  });
});

describe('user data in other files', () => {
  const script = ['#!/bin/bash', '/etc/eks/bootstrap.sh c --use-max-pods=false'];
  it.each([
    [
      'CloudFormation with Fn::Base64 and !Sub',
      'template.yaml',
      lines(
        'Resources:',
        '  T:',
        '    Properties:',
        '      LaunchTemplateData:',
        '        ImageId: ami-1',
        '        UserData:',
        '          Fn::Base64: !Sub |',
        ...script.map((line) => `            ${line}`),
      ),
      ['SH011 9:37'],
    ],
    [
      'CloudFormation in JSON',
      'template.json',
      JSON.stringify({
        Resources: { T: { Properties: { UserData: { 'Fn::Base64': lines(...script) } } } },
      }),
      ['SH011 1:59'],
    ],
    [
      'a Terraform heredoc',
      'main.tf',
      lines(
        'resource "aws_launch_template" "x" {',
        '  user_data = base64encode(<<-EOT',
        ...script.map((line) => `    ${line}`),
        '  EOT',
        '  )',
        '}',
      ),
      ['SH011 4:29'],
    ],
    [
      'Terraform variables are nobody’s mistake',
      'main.tf',
      lines(
        'user_data = <<EOT',
        nodeConfig()
          .replace(exampleAuthority, `\${ca}`)
          .replace('https://example.com', `\${endpoint}`),
        'EOT',
      ),
      [],
    ],
    [
      'a mistake beside a variable is one all the same',
      'main.tf',
      lines(
        'user_data = <<EOT',
        '#!/bin/bash',
        `/etc/eks/bootstrap.sh \${name} --kubelet-extra-args '--register-with-taints=a=b'`,
        'EOT',
      ),
      ['TN001 3:76'],
    ],
    [
      'a variable within a word is nobody’s mistake',
      'main.tf',
      lines(
        'user_data = <<EOT',
        '#!/bin/bash',
        `/etc/eks/bootstrap.sh c --kubelet-extra-args '--register-with-taints=a=\${b}'`,
        'EOT',
      ),
      [],
    ],
    [
      'eksctl’s ClusterConfig',
      'cluster.yaml',
      lines(
        'apiVersion: eksctl.io/v1alpha5',
        'kind: ClusterConfig',
        'managedNodeGroups:',
        '- name: a',
        '  ami: ami-1',
        '  amiFamily: AmazonLinux2',
        '  overrideBootstrapCommand: |',
        ...script.map((line) => `    ${line}`),
      ),
      ['SH011 9:29'],
    ],
    [
      'Karpenter’s EC2NodeClass',
      'class.yaml',
      lines(
        'apiVersion: karpenter.k8s.aws/v1',
        'kind: EC2NodeClass',
        'spec:',
        '  amiFamily: AL2023',
        '  userData: |',
        ...nodeConfig('  kubelt: {}')
          .trimEnd()
          .split('\n')
          .map((line) => `    ${line}`),
      ),
      ['NC001 14:7'],
    ],
    ['a file without any', 'main.tf', 'resource "a" "b" {}\n', []],
    ['somebody else’s YAML', 'deployment.yaml', 'kind: Deployment\nspec: {replicas: 2}\n', []],
  ])('%s', (_title, name, text, expected) => {
    expect(found(text, {}, name)).toEqual(expected);
  });
});

describe('a suppression', () => {
  const faulty = 'maxPod: 20';
  it.each([
    ['on the line above', config('# drover:ignore KC001 ours', faulty), []],
    ['on the line', config(`${faulty} # drover:ignore KC001 ours`), []],
    ['without a reason', config(`${faulty} # drover:ignore KC001`), ['IGN001 11:18', 'KC001 11:7']],
    [
      'of another rule',
      config(`${faulty} # drover:ignore NC001 ours`),
      ['IGN002 11:18', 'KC001 11:7'],
    ],
    ['of no rule', config('maxPods: 2 # drover:ignore XX999 ours'), ['IGN001 11:18']],
  ])('%s', (_name, text, expected) => {
    expect(found(text).toSorted()).toEqual(expected);
  });
});

describe('an address or a CIDR that is none', () => {
  const range = '10.100.0.0/16';
  const call = (flags: string): string =>
    shell(
      `/etc/eks/bootstrap.sh c --apiserver-endpoint https://e --b64-cluster-ca ${exampleAuthority} ${flags}`,
    );
  it.each(['300.1.1.0/99', '10.100.0.0/33', '10.100.0.0', 'fd00:::/64'])(
    'is found: %s',
    (wrong) => {
      expect(found(nodeConfig().replace(range, wrong)).join()).toMatch(/^NC009 \d+:\d+$/);
      expect(found(call(`--service-ipv4-cidr ${wrong}`)).join()).toMatch(/^SH008 \d+:\d+$/);
    },
  );

  it('is found as the address of DNS', () => {
    expect(found(call('--dns-cluster-ip 10.100.0.10,300.1.1.10')).join()).toMatch(/^SH008 /);
  });

  it('is not one that is', () => {
    expect(found(nodeConfig())).toEqual([]);
    expect(found(call('--dns-cluster-ip 10.100.0.10,fd00::a'))).toEqual([]);
    expect(found(call(`--service-ipv4-cidr ${range}`))).toEqual([]);
  });
});

describe('what is given to a node', () => {
  it('may be base64 of gzip', () => {
    const packed = Buffer.from(gzipSync(nodeConfig('  kubelt: {}'))).toString('base64');
    expect(found(packed)).toEqual(['NC001 9:3']);
  });

  it('leaves the cluster to EKS in a managed group', () => {
    const fragment = mime(part('text/x-shellscript', shell('true')));
    expect(found(fragment, { family: 'al2023' })).toEqual([]);
    expect(found(fragment, { family: 'al2023', launchedBy: 'own-image' })).toEqual(['NC002 7:1']);
  });
});

describe('whatever is in a file', () => {
  const whole = fc.constantFrom(
    ...[
      nodeConfig(),
      shell('/etc/eks/bootstrap.sh c'),
      mime(part('application/node.eks.aws', nodeConfig())),
    ],
  );
  it('is read without throwing, under every family', () => {
    const cut = fc
      .tuple(whole, fc.nat(400), fc.string())
      .map(([text, at, more]) => text.slice(0, at) + more + text.slice(at));
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      cut.map(bytesOf),
      fc.uint8Array({ maxLength: 60 }).map((noise) => Uint8Array.of(0x1f, 0x8b, ...noise)),
    );
    fc.assert(
      fc.property(bytes, fc.constantFrom(...families), (given, family) => {
        const { findings } = lint({ name: 'f', bytes: given }, { family });
        for (const { line, column, rule } of findings) {
          expect(line, rule).toBeGreaterThan(0);
          expect(column, rule).toBeGreaterThan(0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is told of however much is wrong', () => {
    const text = `#!/bin/sh\n${'A_SECRET=12345678\n'.repeat(55_000)}`;
    expect(found(text, { family: 'al2' }).length).toBeGreaterThan(55_000);
  });

  it.each([
    ['a truncated gzip', gzipSync(nodeConfig()).subarray(0, 60), 'ENC001'],
    ['a gzip of gigabytes', gzipSync(Buffer.alloc(20_000_000)), 'ENC001'],
    ['UTF-16', Buffer.from(`\uFEFF${nodeConfig()}`, 'utf16le'), 'ENC001'],
    ['several megabytes', bytesOf('x'.repeat(6_000_000)), 'SIZE001'],
    [
      'an alias bomb',
      bytesOf(
        nodeConfig(
          ...Array.from(
            { length: 12 },
            (_, i) =>
              `  a${i}: &a${i} [${Array.from({ length: 9 }, () => (i === 0 ? 'x' : `*a${i - 1}`)).join()}]`,
          ),
        ),
      ),
      'NC006',
    ],
  ])('%s', (_name, bytes, rule) => {
    const { findings } = lint({ name: 'f', bytes });
    expect(findings.map((one) => one.rule)).toContain(rule);
  });
});

describe('a join that discovers its cluster by a file', () => {
  const join = (flags: string) =>
    found(lines('#cloud-config', 'runcmd:', `- kubeadm join ${flags}`), { family: 'cloud-init' });
  it.each([
    ['with a token', '--discovery-file /etc/d.conf --tls-bootstrap-token abcdef.0123456789abcdef'],
    ['with credentials of its own', '--discovery-file=/etc/d.conf'],
  ])('needs neither API server nor hash: %s', (_what, flags) => {
    expect(join(flags)).toEqual([]);
  });
  it('has a token of the right form nevertheless', () => {
    expect(join('--discovery-file /etc/d.conf --tls-bootstrap-token abc')).toEqual(['CI002 3:67']);
  });
  it('is none by a token for TLS alone', () => {
    const rules = join('10.0.0.1:6443 --tls-bootstrap-token abcdef.0123456789abcdef');
    expect(rules).toEqual(['CI002 3:3', 'CI003 3:3']);
  });
});

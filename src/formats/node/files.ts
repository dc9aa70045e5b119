// The files that a bootstrap writes on a node, in the form of EKS' images. Paths and keys are the
// images', contents are Drover's. Pure text.
import type { JsonObject } from '../../api/json.ts';
import { minorOf, type NodeFacts } from './facts.ts';
import { printJson } from './json-text.ts';
import { caFile } from './kubelet.ts';

export interface NodeFile {
  readonly path: string;
  readonly content: string;
  /** Octal mode. */
  readonly mode: string;
}

export const file = (path: string, content: string, mode = '0644'): NodeFile => ({
  path,
  content,
  mode,
});

export const jsonFile = (path: string, value: JsonObject): NodeFile => file(path, printJson(value));

export interface KubeconfigFacts {
  readonly clusterName: string;
  readonly endpoint: string;
  readonly region: string;
  /** Program that issues the token; `aws` by default. */
  readonly authenticator?: 'aws' | 'aws-iam-authenticator';
}

const tokenCommand = ({ clusterName, authenticator = 'aws' }: KubeconfigFacts) =>
  authenticator === 'aws'
    ? { command: 'aws', words: ['eks', 'get-token', '--cluster-name', clusterName] as const }
    : { command: '/usr/bin/aws-iam-authenticator', words: ['token', '-i', clusterName] as const };

/** The kubelet's kubeconfig: a token of its instance's role. */
export const kubeconfig = (facts: KubeconfigFacts): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: kubernetes',
    '  cluster:',
    `    certificate-authority: ${caFile}`,
    `    server: ${JSON.stringify(facts.endpoint)}`,
    'current-context: kubelet',
    'contexts:',
    '- name: kubelet',
    '  context:',
    '    cluster: kubernetes',
    '    user: kubelet',
    'users:',
    '- name: kubelet',
    '  user:',
    '    exec:',
    '      apiVersion: client.authentication.k8s.io/v1beta1',
    `      command: ${tokenCommand(facts).command}`,
    '      args:',
    ...[...tokenCommand(facts).words, '--region', facts.region].map(
      (word) => `      - ${JSON.stringify(word)}`,
    ),
    '',
  ].join('\n');

export interface TokenKubeconfigFacts {
  readonly endpoint: string;
  readonly token: string;
}

/** kubeadm's bootstrap kubeconfig; redact the token before showing it. */
export const bootstrapKubeconfig = ({ endpoint, token }: TokenKubeconfigFacts): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: kubernetes',
    '  cluster:',
    '    certificate-authority: /etc/kubernetes/pki/ca.crt',
    `    server: ${JSON.stringify(endpoint)}`,
    'current-context: tls-bootstrap-token-user@kubernetes',
    'contexts:',
    '- name: tls-bootstrap-token-user@kubernetes',
    '  context:',
    '    cluster: kubernetes',
    '    user: tls-bootstrap-token-user',
    'users:',
    '- name: tls-bootstrap-token-user',
    '  user:',
    `    token: ${JSON.stringify(token)}`,
    '',
  ].join('\n');

const ecrImages = [
  '*.dkr.ecr.*.amazonaws.com',
  '*.dkr-ecr.*.on.aws',
  '*.dkr.ecr.*.amazonaws.com.cn',
  '*.dkr-ecr.*.on.amazonwebservices.com.cn',
  '*.dkr.ecr-fips.*.amazonaws.com',
  '*.dkr-ecr-fips.*.on.aws',
  '*.dkr.ecr.*.c2s.ic.gov',
  '*.dkr.ecr.*.sc2s.sgov.gov',
  '*.dkr.ecr.*.cloud.adc-e.uk',
  '*.dkr.ecr.*.csp.hci.ic.gov',
  '*.dkr.ecr.*.amazonaws.eu',
  'public.ecr.aws',
];

export const credentialProviderFile = '/etc/eks/image-credential-provider/config.json';

export const credentialProvider = (facts: NodeFacts): NodeFile =>
  jsonFile(credentialProviderFile, {
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers: [
      {
        name: 'ecr-credential-provider',
        matchImages: [
          ...ecrImages,
          ...(minorOf(facts.kubernetesVersion) >= 32 ? ['ecr-public.aws.com'] : []),
        ],
        defaultCacheDuration: '12h0m0s',
        apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      },
    ],
  });

/** Go's %q and then systemd's %%. */
const environmentValue = (value: string): string =>
  JSON.stringify(value).slice(1, -1).replaceAll('%', '%%');

/** Environment of every service (`default`) or of one, as systemd drop-ins. */
export const environmentFiles = (
  environment: Readonly<Record<string, Readonly<Record<string, string>>>>,
): readonly NodeFile[] =>
  Object.entries(environment)
    .filter(([, values]) => Object.keys(values).length > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([service, values]) => {
      const isDefault = service === 'default';
      const key = isDefault ? 'DefaultEnvironment' : 'Environment';
      const lines = Object.entries(values)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => `${key}="${name}=${environmentValue(value)}"\n`);
      return file(
        isDefault
          ? '/etc/systemd/system.conf.d/environment.conf'
          : `/etc/systemd/system/${service}.service.d/environment.conf`,
        `[${isDefault ? 'Manager' : 'Service'}]\n${lines.join('')}`,
      );
    });

/** The unit that starts the kubelet; `words`: the variable with its arguments. */
export const kubeletUnit = (words: string, environmentFile: string | undefined): NodeFile =>
  file(
    '/etc/systemd/system/kubelet.service',
    [
      '[Unit]',
      'Description=Kubernetes Kubelet',
      'After=containerd.service',
      'Wants=containerd.service',
      '',
      '[Service]',
      'Slice=runtime.slice',
      ...(environmentFile === undefined ? [] : [`EnvironmentFile=${environmentFile}`]),
      `ExecStart=/usr/bin/kubelet ${words}`,
      'Restart=on-failure',
      'RestartForceExitStatus=SIGPIPE',
      'RestartSec=5',
      'KillMode=process',
      'CPUAccounting=true',
      'MemoryAccounting=true',
      '',
      '[Install]',
      'WantedBy=multi-user.target',
      '',
    ].join('\n'),
  );

/** A file with secret content, for display. */
export const redacted = (one: NodeFile): NodeFile => ({
  ...one,
  content: one.content
    .replaceAll(/(token: )"?[^"\n]+"?/g, '$1"(not shown)"')
    .replaceAll(/((?:PASSWORD|SECRET|TOKEN)[A-Z_]*=)[^"\n]+/gi, '$1(not shown)')
    .replaceAll(/(:\/\/[^:/@\s]+:)[^@\s]+@/g, '$1(not shown)@'),
});

/** In /run: nodeadm writes it at every boot. */
export const resolvedFile = '/run/systemd/resolved.conf.d/40-eks.conf';
export const localDisksFile = '/etc/systemd/system/setup-local-disks.service.d/00-strategy.conf';

/**
 * `servers` and `domains` are separated by blanks. For an empty text an empty line is written, as
 * nodeadm does.
 */
export const resolvedConfig = (servers: string, domains: string): NodeFile =>
  file(
    resolvedFile,
    [
      '[Resolve]',
      servers === '' ? '' : `DNS=${servers}`,
      domains === '' ? '' : `Domains=${domains}`,
      '',
    ].join('\n'),
  );

// Plain cloud-init for clusters without EKS: what `kubeadm join` with a bootstrap token writes on
// the node. The KubeletConfiguration comes from the cluster and is unknown here. Runs nothing.
import { begin } from '../position.ts';
import type { Bootstrap } from '../user-data/bootstrap.ts';
import type { JoinConfiguration, KubeadmJoin } from '../user-data/kubeadm.ts';
import { joinVersionsOf, takesArgumentList } from '../user-data/kubeadm-versions.ts';
import { parseArguments } from './arguments.ts';
import { scriptProblems } from './bootstrap-sh.ts';
import { type EvaluatedNode, word } from './evaluated.ts';
import { minorOf, type NodeFacts } from './facts.ts';
import { bootstrapKubeconfig, file } from './files.ts';
import { kubeletView, typeMeta } from './kubelet.ts';
import { argumentProblems } from './kubelet-problems.ts';
import { taintOf } from './labels.ts';
import { type Obstacle, obstacle } from './problem.ts';

const tokenPattern = /^[a-z0-9]{6}\.[a-z0-9]{16}$/;
const hashPattern = /^sha256:[0-9a-f]{64}$/;

/** As net.SplitHostPort accepts it; an IPv6 address is in brackets. */
const hostPortPattern = /^(?:\[[^[\]]+\]|[^:/[\]]+):\d+$/;

const tokenProblems = ({ token }: KubeadmJoin): readonly Obstacle[] => {
  if (token === undefined || token.isOpaque || tokenPattern.test(token.text)) return [];
  const text = 'the bootstrap token is not six characters, a dot and sixteen, all a-z and 0-9';
  return [obstacle('CI002', token.at(0), text)];
};

const joinProblems = (join: KubeadmJoin): readonly Obstacle[] => {
  const { token, caHash, endpoint } = join;
  const found: Obstacle[] = [...tokenProblems(join)];
  // The file names the API server and its authority; with credentials in it no token is needed
  // (kubeadm reference, join).
  if (join.discoveryFile !== undefined) return found;
  if (endpoint === undefined || (endpoint.text === '' && !endpoint.isOpaque)) {
    found.push(obstacle('CI001', join.at, 'kubeadm join is given no API server'));
  } else if (!endpoint.isOpaque && !hostPortPattern.test(endpoint.text)) {
    const text = `the API server is ${JSON.stringify(endpoint.text)}, not host:port`;
    found.push(obstacle('CI008', endpoint.at(0), text));
  }
  if (token === undefined) {
    found.push(obstacle('CI002', join.at, 'kubeadm join is given no bootstrap token'));
  }
  if (caHash === undefined && !join.isUnsafe) {
    const text =
      'kubeadm join has neither --discovery-token-ca-cert-hash nor the flag to do without';
    found.push(obstacle('CI003', join.at, text));
  } else if (caHash !== undefined && !caHash.isOpaque && !hashPattern.test(caHash.text)) {
    const text = `the hash of the authority is ${JSON.stringify(caHash.text)}, not sha256: and 64 digits`;
    found.push(obstacle('CI004', caHash.at(0), text));
  }
  return found;
};

const versionProblem = (version: string | undefined, kubernetesVersion: string): string => {
  const known = joinVersionsOf(minorOf(kubernetesVersion));
  return known.length === 0
    ? `no JoinConfiguration is known that kubeadm ${kubernetesVersion} reads`
    : `kubeadm ${kubernetesVersion} reads JoinConfigurations of ${known.join(' and ')}, ` +
        `not of ${version ?? 'this apiVersion'}`;
};

/** Why kubeadm, or the kubelet that it starts, refuses a JoinConfiguration. */
const configurationProblems = (
  { version, at, kubeletArguments, argumentsForm, taints, faults }: JoinConfiguration,
  { kubernetesVersion }: NodeFacts,
): readonly Obstacle[] => {
  const found: Obstacle[] = [];
  if (version === undefined || !joinVersionsOf(minorOf(kubernetesVersion)).includes(version)) {
    found.push(obstacle('CI007', at, versionProblem(version, kubernetesVersion)));
  } else if (
    argumentsForm !== undefined &&
    (argumentsForm === 'list') !== takesArgumentList(version)
  ) {
    const form = takesArgumentList(version) ? 'a list of name and value' : 'a map';
    found.push(obstacle('CI007', at, `kubeletExtraArgs of ${version} is ${form}`));
  }
  for (const fault of faults) found.push(obstacle('CI007', fault.at, fault.message));
  for (const taint of taints) {
    const read = taintOf(taint.text);
    if (typeof read === 'string') {
      found.push(obstacle('TN001', taint.at, `the taint ${taint.text} ${read}`));
    }
  }
  return [
    ...found,
    ...argumentProblems(parseArguments(kubeletArguments), minorOf(kubernetesVersion)),
  ];
};

/** kubeadm's arguments in KUBELET_KUBEADM_ARGS, in its order. */
const kubeadmArguments = (join: KubeadmJoin | undefined) => {
  const { kubeletArguments = [], taints = [] } = join?.configuration ?? {};
  const name = join?.nodeName?.text;
  return [
    ...(name === undefined ? [] : [word(`--hostname-override=${name}`)]),
    ...kubeletArguments,
    ...(taints.length === 0
      ? []
      : [word(`--register-with-taints=${taints.map(({ text }) => text).join(',')}`)]),
  ].toSorted((a, b) => (a.text < b.text ? -1 : 1));
};

const kubeconfigArguments =
  '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf ' +
  '--kubeconfig=/etc/kubernetes/kubelet.conf';
const configArguments = '--config=/var/lib/kubelet/config.yaml';
const flagsFile = '/var/lib/kubelet/kubeadm-flags.env';

/** The drop-in of kubeadm's package, which reads the flags from a file that kubeadm writes. */
const dropIn = [
  '[Service]',
  `Environment="KUBELET_KUBECONFIG_ARGS=${kubeconfigArguments}"`,
  `Environment="KUBELET_CONFIG_ARGS=${configArguments}"`,
  `EnvironmentFile=-${flagsFile}`,
  'EnvironmentFile=-/etc/default/kubelet',
  'ExecStart=',
  'ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS ' +
    '$KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS',
  '',
].join('\n');

export const evaluateKubeadm = (bootstrap: Bootstrap, facts: NodeFacts): EvaluatedNode => {
  const join = bootstrap.joins.at(-1);
  const endpoint = join?.endpoint?.text;
  const nodeName = join?.nodeName?.text ?? facts.privateDnsName;
  const added = kubeadmArguments(join);
  const words = added.map(({ text }) => text);
  const kubelet = kubeletView(
    { ...typeMeta },
    undefined,
    [...kubeconfigArguments.split(' '), configArguments, ...words],
    parseArguments(added).flags,
  );
  const obstacles = [
    ...scriptProblems(bootstrap),
    ...bootstrap.cloudConfigs.flatMap(({ config }) =>
      config.faults.map(({ at, message }) => obstacle('CI005', at, `cloud-config: ${message}`)),
    ),
    ...bootstrap.joins.flatMap(joinProblems),
    ...bootstrap.joins.flatMap(({ configuration }) =>
      configuration === undefined ? [] : configurationProblems(configuration, facts),
    ),
    ...(join === undefined
      ? [obstacle('CI001', bootstrap.data.parts[0]?.at ?? begin, 'nothing runs kubeadm join')]
      : []),
  ];
  return {
    family: bootstrap.data.family,
    obstacles,
    nodeName,
    cluster: {
      name: undefined,
      endpoint: endpoint === undefined ? undefined : `https://${endpoint}`,
      certificateAuthority: undefined,
      serviceCidr: undefined,
      dns: [],
    },
    kubelet,
    labels: kubelet.labels,
    taints: kubelet.taints,
    maxPods: kubelet.maxPods,
    files: [
      file(
        '/etc/kubernetes/bootstrap-kubelet.conf',
        bootstrapKubeconfig({
          endpoint: `https://${endpoint ?? ''}`,
          token: join?.token?.text ?? '',
        }),
        '0600',
      ),
      file('/etc/systemd/system/kubelet.service.d/10-kubeadm.conf', dropIn),
      file(flagsFile, `KUBELET_KUBEADM_ARGS="${words.join(' ')}"\n`),
    ],
  };
};

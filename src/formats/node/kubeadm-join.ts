// Plain cloud-init for clusters without EKS: what `kubeadm join` with a bootstrap token leaves on the
// node. The KubeletConfiguration itself comes from the cluster and is not known here. Runs nothing.
import { begin } from '../position.ts';
import type { Bootstrap } from '../user-data/bootstrap.ts';
import type { KubeadmJoin } from '../user-data/kubeadm.ts';
import { scriptProblems } from './bootstrap-sh.ts';
import type { EvaluatedNode } from './evaluated.ts';
import type { NodeFacts } from './facts.ts';
import { bootstrapKubeconfig, file } from './files.ts';
import { kubeletView, typeMeta } from './kubelet.ts';
import { type Obstacle, obstacle } from './problem.ts';

const tokenPattern = /^[a-z0-9]{6}\.[a-z0-9]{16}$/;
const hashPattern = /^sha256:[0-9a-f]{64}$/;

const joinProblems = (join: KubeadmJoin): readonly Obstacle[] => {
  const { token, caHash, endpoint } = join;
  const found: Obstacle[] = [];
  if (endpoint === undefined || (endpoint.text === '' && !endpoint.isOpaque)) {
    found.push(obstacle('CI001', join.at, 'kubeadm join is given no API server'));
  }
  if (token === undefined) {
    found.push(obstacle('CI002', join.at, 'kubeadm join is given no bootstrap token'));
  } else if (!token.isOpaque && !tokenPattern.test(token.text)) {
    const text = 'the bootstrap token is not six characters, a dot and sixteen, all a-z and 0-9';
    found.push(obstacle('CI002', token.at(0), text));
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

export const evaluateKubeadm = (bootstrap: Bootstrap, facts: NodeFacts): EvaluatedNode => {
  const join = bootstrap.joins.at(-1);
  const endpoint = join?.endpoint?.text;
  const nodeName = join?.nodeName?.text ?? facts.privateDnsName;
  const kubelet = kubeletView(
    { ...typeMeta },
    undefined,
    [
      '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf',
      '--kubeconfig=/etc/kubernetes/kubelet.conf',
      '--config=/var/lib/kubelet/config.yaml',
      `--hostname-override=${nodeName}`,
    ],
    [],
  );
  const obstacles = [
    ...scriptProblems(bootstrap),
    ...bootstrap.cloudConfigs.flatMap(({ config }) =>
      config.faults.map(({ at, message }) => obstacle('CI005', at, `cloud-config: ${message}`)),
    ),
    ...bootstrap.joins.flatMap(joinProblems),
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
    labels: {},
    taints: [],
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
      file(
        '/etc/systemd/system/kubelet.service.d/10-kubeadm.conf',
        [
          '[Service]',
          'ExecStart=',
          `ExecStart=/usr/bin/kubelet ${kubelet.arguments.join(' ')}`,
          '',
        ].join('\n'),
      ),
    ],
  };
};

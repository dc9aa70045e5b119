// What a Windows group requires of its cluster and lacks (EKS user guide, "windows-support";
// article 003): its nodes join, but their pods do not run. Pure; what was not looked up is not a
// cause.
import { objectOr } from '../../api/json.ts';
import type { JoinCause, JoinEvidence, WindowsEvidence } from './joining-evidence.ts';

const switchName = 'enable-windows-ipam';
/** The plugin's message for a pod without an address (article 003). */
const missingLabel = 'does not have label vpc.amazonaws.com/PrivateIPv4Address';
/** Further pods add no information. */
const maxPods = 3;

const addressCauses = ({ vpcCni, refused }: WindowsEvidence): readonly JoinCause[] => {
  if (vpcCni === undefined) return [];
  const value = vpcCni === 'absent' ? undefined : vpcCni[switchName];
  if (value === 'true') return [];
  const saying = refused.filter(({ message }) => message.includes(missingLabel));
  const told = [...new Set(saying.map(({ pod }) => pod))];
  const isAbsent = vpcCni === 'absent';
  const found = isAbsent
    ? 'there is no ConfigMap kube-system/amazon-vpc-cni'
    : 'ConfigMap kube-system/amazon-vpc-cni has ' +
      `${value === undefined ? `no ${switchName}` : `${switchName}: ${JSON.stringify(value)}`}`;
  const create =
    '$ kubectl -n kube-system create configmap amazon-vpc-cni ' +
    `--from-literal=${switchName}=true`;
  const patch =
    '$ kubectl -n kube-system patch configmap amazon-vpc-cni --type merge -p ' +
    `'{"data":{"${switchName}":"true"}}'`;
  return [
    {
      code: 'WindowsAddresses',
      certainty: told.length > 0 ? 'shown' : 'likely',
      what:
        'pods on its nodes get no address: ConfigMap kube-system/amazon-vpc-cni does not say ' +
        `${switchName}: "true"`,
      evidence: [
        found,
        ...told.slice(-maxPods).map((pod) => `FailedCreatePodSandBox: pod ${pod} ${missingLabel}`),
      ],
      remedy: [
        isAbsent ? create : patch,
        'Then recreate the pods that wait (kubectl delete pod): an address is promised ' +
          'when a pod is created, to pods with nodeSelector kubernetes.io/os: windows',
      ],
      instances: [],
    },
  ];
};

const linuxCauses = ({ otherNodes }: WindowsEvidence): readonly JoinCause[] =>
  otherNodes !== 0
    ? []
    : [
        {
          code: 'WindowsNeedsLinux',
          certainty: 'likely',
          what:
            'the cluster has no Linux node, which Windows nodes need for CoreDNS and the ' +
            'add-ons',
          evidence: ['none of the nodes has kubernetes.io/os: linux'],
          remedy: ['Create a Linux node group beside it, of one node at least'],
          instances: [],
        },
      ];

const familyCauses = ({ serviceCidr }: WindowsEvidence): readonly JoinCause[] =>
  serviceCidr?.includes(':') !== true
    ? []
    : [
        {
          code: 'WindowsNeedsIPv4',
          certainty: 'likely',
          what: 'the cluster gives pods IPv6 addresses, which Windows nodes cannot have',
          evidence: [`its services have ${serviceCidr}`],
          remedy: ['Use a cluster of the IPv4 family: the family of a cluster cannot be changed'],
          instances: [],
        },
      ];

/** VPC CNI features for Linux nodes that Windows nodes do not support (EKS user guide). */
const settings = [
  {
    name: 'AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG',
    code: 'WindowsCustomNetworking',
    what:
      'custom networking is on, and Windows pods take no part in it: their addresses are of ' +
      'the node’s subnet',
    remedy: 'Give the group subnets with room for its pods; ENIConfig objects do nothing for them',
  },
  {
    name: 'ENABLE_POD_ENI',
    code: 'WindowsPodSecurityGroups',
    what:
      'security groups for pods are on, and Windows pods have none: those of the node are ' +
      'theirs',
    remedy:
      'Let the node’s security groups allow what the pods need; SecurityGroupPolicy objects ' +
      'do nothing for them',
  },
] as const;

const agentCauses = ({ vpcAgent }: WindowsEvidence): readonly JoinCause[] =>
  settings
    .filter(({ name }) => vpcAgent?.[name] === 'true')
    .map(({ name, code, what, remedy }) => ({
      code,
      certainty: 'possible',
      what,
      evidence: [`DaemonSet kube-system/aws-node has ${name}: "true"`],
      // The remedy for the pods leaves the setting on, so this cause is reported until it is off.
      remedy: [
        `${remedy}. This stays said while the setting is on: only ${name}=false in ` +
          'DaemonSet kube-system/aws-node ends it, for Linux nodes too',
      ],
      instances: [],
    }));

/** Environment of the DaemonSet's container aws-node, as far as it has literal values. */
export const vpcAgentOf = (daemonSet: object): Readonly<Record<string, string>> => {
  const template = objectOr(objectOr(objectOr({ ...daemonSet }).spec).template);
  const { containers } = objectOr(template.spec);
  const agent = (Array.isArray(containers) ? containers : [])
    .map((one) => objectOr(one))
    .find(({ name }) => name === 'aws-node');
  const env = Array.isArray(agent?.env) ? agent.env.map((one) => objectOr(one)) : [];
  return Object.fromEntries(
    env.flatMap(({ name, value }) => (typeof value === 'string' ? [[String(name), value]] : [])),
  );
};

/** Empty for groups of other systems. */
export const windowsCauses = ({
  isWindows,
  windows,
}: Pick<JoinEvidence, 'isWindows' | 'windows'>): readonly JoinCause[] =>
  !isWindows || windows === undefined
    ? []
    : [
        ...addressCauses(windows),
        ...linuxCauses(windows),
        ...familyCauses(windows),
        ...agentCauses(windows),
      ];

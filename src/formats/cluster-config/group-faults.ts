// Faults of a node group beyond single fields: contradicting fields, and fields without effect for
// its kind or image family. Never changes a group.
import { kubeletMaySet } from '../node/labels.ts';
import { type GroupConfig, sizeFault, sizesOf } from './groups.ts';
import { numberOf } from './values.ts';

export interface GroupFault {
  /** The faulty field, in a ClusterConfig's terms; undefined for the group itself. */
  readonly field?: string;
  /** A sentence fragment that follows the field, or the group's path. */
  readonly message: string;
}

type Rule = (group: GroupConfig) => readonly GroupFault[];

const notHere = (field: string, why: string): GroupFault => ({
  field,
  message: `is not supported here: ${why}`,
});

const updates: Rule = ({ updateConfig, sizes }) => {
  if (updateConfig === undefined) return [];
  const count = numberOf(updateConfig.maxUnavailable);
  const { max } = sizesOf(sizes);
  return [
    ...('maxUnavailable' in updateConfig && 'maxUnavailablePercentage' in updateConfig
      ? [
          {
            message:
              'has both updateConfig.maxUnavailable and maxUnavailablePercentage; choose one',
          },
        ]
      : []),
    ...(Object.keys(updateConfig).length === 0
      ? [
          {
            message:
              'has an empty updateConfig: name maxUnavailable or maxUnavailablePercentage, ' +
              'or leave it out',
          },
        ]
      : []),
    ...(count !== undefined && count > max
      ? [
          {
            message: `has updateConfig.maxUnavailable ${count}, more than its maximum size ${max}`,
          },
        ]
      : []),
  ];
};

/** Thresholds that EKS accepts as a count or as a percentage. */
const thresholds = ['maxUnhealthyNodeThreshold', 'maxParallelNodesRepaired'];

const repairs: Rule = ({ nodeRepair }) =>
  thresholds.flatMap((name) =>
    `${name}Count` in (nodeRepair?.rest ?? {}) && `${name}Percentage` in (nodeRepair?.rest ?? {})
      ? [
          {
            message: `has both nodeRepairConfig.${name}Count and ${name}Percentage; choose one`,
          },
        ]
      : [],
  );

/** Fields that need Drover's own launch template: with the user's template they would be lost. */
const inTemplate = [
  'volumeSize',
  'volumeType',
  'volumeEncrypted',
  'disableIMDSv1',
  'disablePodIMDS',
];

const templates: Rule = ({ launchTemplate, sshAllowed, ami, written }) =>
  launchTemplate === undefined
    ? []
    : [
        ...(sshAllowed || ami !== undefined
          ? [{ message: 'has launchTemplate together with ssh or ami; say these in the template' }]
          : []),
        ...inTemplate
          .filter((field) => written.includes(field))
          .map((field) => notHere(field, 'launchTemplate is used unchanged; set it there')),
      ];

const access: Rule = (group) => [
  ...(group.sshKeyName !== undefined && !group.sshAllowed
    ? [{ message: 'has ssh.publicKeyName without ssh.allow: true' }]
    : []),
  ...(group.sshSourceGroups.length > 0 && !group.sshAllowed
    ? [{ message: 'has ssh.sourceSecurityGroupIds without ssh.allow: true' }]
    : []),
  ...(group.policyArns.length > 0 && group.instanceRoleArn !== undefined
    ? [{ message: 'has iam.attachPolicyARNs with iam.instanceRoleARN; attach them to that role' }]
    : []),
];

const places: Rule = ({ subnets, zones, written }) => [
  ...(subnets.length > 0 && zones.length > 0
    ? [notHere('availabilityZones', 'subnets says already where instances start')]
    : []),
  ...(written.includes('instanceType') && written.includes('instanceTypes')
    ? [notHere('instanceType', 'instanceTypes is given as well; choose one')]
    : []),
];

const isUbuntu = (family: string | undefined): boolean => family?.startsWith('Ubuntu') === true;

const managed: Rule = (group) => {
  const { ami, amiFamily, overrideBootstrapCommand, preBootstrapCommands, maxPods } = group;
  const faults: GroupFault[] = [];
  const overridden = overrideBootstrapCommand !== undefined;
  const why = overridden
    ? 'overrideBootstrapCommand is the complete user data; set it there'
    : 'EKS writes the user data of a managed group unless it has an ami of its own';
  const lost = ami === undefined || overridden;
  if (overridden && ami === undefined) {
    faults.push(notHere('overrideBootstrapCommand', 'EKS bootstraps its own images; name an ami'));
  }
  if (preBootstrapCommands.length > 0 && lost) faults.push(notHere('preBootstrapCommands', why));
  if (maxPods !== undefined && lost) faults.push(notHere('maxPodsPerNode', why));
  if (ami !== undefined && !overridden && isUbuntu(amiFamily)) {
    const text = `no bootstrap of ${amiFamily} is known; write overrideBootstrapCommand`;
    faults.push(notHere('amiFamily', text));
  }
  return faults;
};

const selfManaged: Rule = (group) => {
  const { amiFamily } = group;
  const faults: GroupFault[] = [];
  // No controller manages these nodes, so a label that kubelets may not set would never be set.
  const reserved = Object.keys(group.labels).filter((key) => !kubeletMaySet(key));
  if (reserved.length > 0) {
    const message = `unknown 'kubernetes.io' or 'k8s.io' labels were specified: [${reserved.join(' ')}]`;
    faults.push({
      field: 'labels',
      message: `of a self-managed group are those that a kubelet may set: ${message}`,
    });
  }
  if (group.spot) {
    faults.push(notHere('spot', 'a self-managed group is on demand; use a managed one'));
  }
  if (group.instanceTypes.length > 1) {
    faults.push(
      notHere('instanceTypes', 'a self-managed group has one type; use a managed one for several'),
    );
  }
  if (isUbuntu(amiFamily)) {
    faults.push(notHere('amiFamily', `no bootstrap of ${amiFamily} is known; use a managed group`));
  }
  // The default family depends on a version that is unknown here, so the family is required.
  if (group.overrideBootstrapCommand !== undefined && amiFamily !== 'AmazonLinux2') {
    faults.push(
      notHere(
        'overrideBootstrapCommand',
        'only AmazonLinux2 has one; write amiFamily: AmazonLinux2',
      ),
    );
  }
  return faults;
};

const bottlerocket: Rule = ({ amiFamily, preBootstrapCommands }) =>
  amiFamily === 'Bottlerocket' && preBootstrapCommands.length > 0
    ? [notHere('preBootstrapCommands', 'Bottlerocket has no shell')]
    : [];

const sizes: Rule = (group) => {
  const fault = sizeFault(group.sizes);
  return fault === undefined ? [] : [{ message: `asks for a ${fault}` }];
};

/** All faults, in the usual order of fields. */
export const groupFaults: Rule = (group) => {
  const ofKind = group.kind === 'managed' ? managed : selfManaged;
  const rules = [sizes, updates, repairs, templates, access, places, ofKind, bottlerocket];
  return rules.flatMap((rule) => rule(group));
};

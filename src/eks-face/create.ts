// CreateNodegroup: creates a NodeGroup object after all of EKS' immediate checks. A repeated
// request with the same token is the same request.

import type { LaunchTemplate } from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import type { JsonObject } from '../api/json.ts';
import { resourceTypes } from '../api/kube.ts';
import {
  clientTokenAnnotation,
  maxDiskGiB,
  type NodeGroup,
  type NodeGroupSpec,
  nodeGroupFinalizer,
} from '../api/nodegroup.ts';
import {
  type AwsCallContext,
  type AwsInput,
  md5Hex,
  optionalNumber,
  optionalStructure,
  optionalText,
  text,
  textMap,
  texts,
} from '../aws-wire/index.ts';
import {
  defaultAmiType,
  defaultInstanceType,
  familyOf,
  first,
  labelsComplaint,
  misfitComplaint,
  nameComplaint,
  nodeRepairComplaint,
  sizeComplaint,
  supportedAmiTypes,
  tagsComplaint,
  taintsComplaint,
  updateConfigComplaint,
} from '../core/nodegroup/index.ts';
import { KubeError } from '../ports/index.ts';
import {
  type Cluster,
  complain,
  type EksFaceOptions,
  findGroup,
  inUse,
  invalid,
  invalidRequest,
  type NamedGroup,
  needCluster,
} from './context.ts';
import { checkTemplate, needRelease, needTypes, readTemplate } from './machines.ts';
import {
  readRepairConfig,
  readScaling,
  readTaints,
  readUpdateConfig,
  requestText,
} from './read-input.ts';

interface Machines {
  readonly amiType: string;
  readonly instanceTypes: readonly string[];
  readonly releaseVersion?: string;
}

/** A template with an image excludes type and version, with EKS' messages. */
const ownImageComplaint = (input: AwsInput): string | undefined => {
  const amiType = optionalText(input, 'amiType') ?? 'CUSTOM';
  if (amiType !== 'CUSTOM') {
    return (
      'You cannot specify an AMI Type other than CUSTOM, when specifying an image id in your ' +
      'launch template.'
    );
  }
  const field = ['version', 'releaseVersion'].find((name) => name in input);
  if (field === undefined) return undefined;
  const what = field === 'version' ? 'kubernetes version' : 'release version';
  return (
    `You cannot specify a ${what} to use when specifying an image id to use within the launch ` +
    'template.'
  );
};

const chooseMachines = async (
  { cloud }: EksFaceOptions,
  input: AwsInput,
  context: { readonly cluster: Cluster; readonly template: LaunchTemplate | undefined } & {
    readonly named: NamedGroup;
  },
): Promise<Machines> => {
  const { cluster, template, named } = context;
  const fromTemplate = template?.data.InstanceType;
  const given = texts(input, 'instanceTypes');
  const instanceTypes =
    given.length > 0 || fromTemplate !== undefined ? given : [defaultInstanceType];
  const names = typeof fromTemplate === 'string' ? [fromTemplate] : instanceTypes;
  const types = await needTypes({ cloud }, names, named);
  const architecture = types[0]?.architectures.includes('arm64') === true ? 'arm64' : 'x86_64';
  if (template !== undefined && 'ImageId' in template.data) {
    complain(ownImageComplaint(input), named);
    return { amiType: 'CUSTOM', instanceTypes };
  }
  const amiType = optionalText(input, 'amiType') ?? defaultAmiType(cluster.version, architecture);
  if (amiType === 'CUSTOM') {
    throw invalid('AMI type CUSTOM takes a launch template that has an image id', named);
  }
  const family = familyOf(amiType);
  if (family === undefined) {
    const known = supportedAmiTypes.join(', ');
    throw invalid(`AMI type ${amiType} is not supported by Drover: use one of ${known}`, named);
  }
  complain(misfitComplaint(amiType, types), named);
  const release = optionalText(input, 'releaseVersion');
  const asked = { amiType, version: cluster.version, release };
  const releaseVersion = await needRelease({ cloud }, asked, named);
  return { amiType, instanceTypes, releaseVersion };
};

const readScalingWhole = (input: AwsInput, named: NamedGroup): NodeGroupSpec['scaling'] => {
  const given = readScaling(input);
  // EKS' default: two nodes.
  if (given === undefined) return { minSize: 1, maxSize: 2, desired: 2 };
  const { minSize, maxSize, desired } = given;
  if (minSize === undefined || maxSize === undefined || desired === undefined) {
    throw invalid('minSize, maxSize and desiredSize must be specified together', named);
  }
  const scaling = { minSize, maxSize, desired };
  complain(sizeComplaint(scaling, 'create'), named);
  return scaling;
};

const readDisk = (input: AwsInput, named: NamedGroup): number | undefined => {
  const diskSize = optionalNumber(input, 'diskSize');
  if (diskSize === undefined || (diskSize >= 1 && diskSize <= maxDiskGiB)) return diskSize;
  throw invalid(`diskSize ${diskSize} is not valid: it takes 1 to ${maxDiskGiB} GiB`, named);
};

const readRemoteAccess = async (
  { cloud }: EksFaceOptions,
  input: AwsInput,
  named: NamedGroup,
): Promise<NodeGroupSpec['remoteAccess']> => {
  const given = optionalStructure(input, 'remoteAccess');
  if (given === undefined) return undefined;
  const ec2SshKey = optionalText(given, 'ec2SshKey');
  const sourceSecurityGroups = texts(given, 'sourceSecurityGroups');
  if (ec2SshKey === undefined) {
    if (sourceSecurityGroups.length === 0) return {};
    throw invalid(
      'remoteAccess.sourceSecurityGroups takes remoteAccess.ec2SshKey beside it',
      named,
    );
  }
  if (!(await cloud.hasKeyPair(ec2SshKey))) throw invalid(`KeyPair ${ec2SshKey} not found`, named);
  if (sourceSecurityGroups.length === 0) return { ec2SshKey };
  const known = await cloud.findSecurityGroups({ ids: sourceSecurityGroups });
  const missing = sourceSecurityGroups.filter((id) => !known.some((one) => one.id === id));
  if (missing.length > 0) {
    throw invalid(`The security group '${missing.join(', ')}' does not exist`, named);
  }
  return { ec2SshKey, sourceSecurityGroups };
};

const rolePattern = /^arn:aws[\w-]*:iam::\d{12}:role\/\S+$/;

const checkPlain = (input: AwsInput, cluster: Cluster, named: NamedGroup): void => {
  complain(
    first(
      nameComplaint(named.nodegroupName),
      labelsComplaint(textMap(input, 'labels')),
      taintsComplaint(readTaints(input, 'taints')),
    ),
    named,
  );
  const version = optionalText(input, 'version');
  if (version !== undefined && version !== cluster.version) {
    const message = `Nodegroup version ${version} is not that of the cluster, ${cluster.version}`;
    throw invalid(message, named);
  }
  if (optionalText(input, 'capacityType') === 'CAPACITY_BLOCK') {
    throw invalid('Capacity type CAPACITY_BLOCK is not supported by Drover', named);
  }
  const role = text(input, 'nodeRole');
  if (!rolePattern.test(role)) throw invalid(`Node role ARN ${role} is not valid.`, named);
  complain(tagsComplaint(textMap(input, 'tags')), named);
  if ('warmPoolConfig' in input) {
    throw invalid('warmPoolConfig is not supported by Drover', named);
  }
};

const checkSubnets = async (
  { cloud }: EksFaceOptions,
  ids: readonly string[],
  named: NamedGroup,
): Promise<void> => {
  if (ids.length === 0) throw invalid('Subnets are not specified', named);
  const known = await cloud.describeSubnets(ids);
  const missing = ids.filter((id) => !known.some((subnet) => subnet.id === id));
  if (missing.length === 0) return;
  throw invalid(`The subnet ID '${missing.join(', ')}' does not exist`, named);
};

const readSpec = async (
  options: EksFaceOptions,
  input: AwsInput,
  cluster: Cluster,
  named: NamedGroup,
): Promise<NodeGroupSpec> => {
  checkPlain(input, cluster, named);
  const scaling = readScalingWhole(input, named);
  const updateConfig = readUpdateConfig(input);
  if (updateConfig !== undefined) {
    complain(updateConfigComplaint(updateConfig, scaling.maxSize), named);
  }
  const subnets = texts(input, 'subnets');
  await checkSubnets(options, subnets, named);
  const template = await readTemplate(options, input, named);
  if (template !== undefined) checkTemplate(template, input, named);
  const machines = await chooseMachines(options, input, { cluster, template, named });
  const taints = readTaints(input, 'taints');
  const remoteAccess = await readRemoteAccess(options, input, named);
  const diskSizeGiB = readDisk(input, named);
  const nodeRepairConfig = readRepairConfig(input);
  if (nodeRepairConfig !== undefined) complain(nodeRepairComplaint(nodeRepairConfig), named);
  return {
    clusterName: cluster.name,
    ...machines,
    capacityType: optionalText(input, 'capacityType') === 'SPOT' ? 'SPOT' : 'ON_DEMAND',
    version: cluster.version,
    nodeRole: text(input, 'nodeRole'),
    subnets,
    scaling,
    labels: textMap(input, 'labels'),
    ...(taints.length === 0 ? {} : { taints }),
    ...(template === undefined
      ? {}
      : { launchTemplate: { id: template.id, name: template.name, version: template.version } }),
    ...defined({ remoteAccess }),
    ...(template !== undefined || diskSizeGiB === undefined ? {} : { diskSizeGiB }),
    tags: textMap(input, 'tags'),
    ...defined({ updateConfig, nodeRepairConfig }),
  };
};

/** The group created by this same request; throws when it is another's, or being deleted. */
const repeated = (group: NodeGroup, token: string, named: NamedGroup): NodeGroup => {
  const { annotations, deletionTimestamp } = group.metadata;
  // A retrying client would wait for a group that is being deleted to become ACTIVE.
  if (annotations?.[clientTokenAnnotation] === token && deletionTimestamp === undefined) {
    return group;
  }
  throw inUse(
    `NodeGroup already exists with name ${named.nodegroupName} and cluster name ` +
      `${named.clusterName}`,
    named,
  );
};

export const createNodegroup = async (
  options: EksFaceOptions,
  input: AwsInput,
  ctx: AwsCallContext,
): Promise<NodeGroup> => {
  const clusterName = text(input, 'clusterName');
  const nodegroupName = text(input, 'nodegroupName');
  const named = { clusterName, nodegroupName };
  const cluster = await needCluster(options, clusterName, ctx);
  const request = optionalText(input, 'clientRequestToken') ?? ctx.requestId;
  const token = `${request}/${md5Hex(requestText(input))}`;
  const known = await findGroup(options, clusterName, nodegroupName);
  if (known !== undefined) return repeated(known, token, named);
  if (cluster.status !== 'ACTIVE') {
    throw invalidRequest(`Cluster '${clusterName}' is not in ACTIVE status`, named);
  }
  const spec = await readSpec(options, input, cluster, named);
  const object: JsonObject = {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroup',
    metadata: {
      name: nodegroupName,
      annotations: { [clientTokenAnnotation]: token },
      finalizers: [nodeGroupFinalizer],
    },
    spec: JSON.parse(JSON.stringify(spec)) as JsonObject,
  };
  try {
    return await options.kube.create<NodeGroup>(resourceTypes.nodegroups, object);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.code === 'Invalid') throw invalid(error.message, named);
    if (error.code !== 'AlreadyExists') throw error;
    const other = await findGroup(options, clusterName, nodegroupName);
    if (other === undefined) {
      throw inUse(
        `The name ${nodegroupName} belongs to a node group of another cluster: Drover's ` +
          'node groups are Kubernetes objects, each with a name of its own. Choose another ' +
          'name.',
        named,
      );
    }
    return repeated(other, token, named);
  }
};

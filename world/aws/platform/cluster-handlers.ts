// EKS clusters over the API: create, read, configure, delete, versions, updates. Makes EKS' checks
// with its messages; the rows handle everything that takes time.
import {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  text,
  textMap,
  texts,
} from '../../../src/aws-wire/index.ts';
import { tagsOfGroup } from '../autoscaling/rows.ts';
import type { GroupStore } from '../autoscaling/store.ts';
import type { Images } from '../ec2/images.ts';
import type { LaunchTemplates } from '../ec2/launch-templates.ts';
import type { Network, SubnetRow } from '../ec2/network.ts';
import { pageOf } from '../paging.ts';
import { refuse, type Scope, type ServiceHandlers, sentence, upperSuffix } from '../scope.ts';
import type { AccessEntries } from './access-entries.ts';
import { ensureImages, findVersion, renderVersions } from './cluster-versions.ts';
import {
  type ClusterRow,
  type Clusters,
  type LogType,
  logTypes,
  serviceCidr,
  type UpdateRow,
} from './clusters.ts';
import type { Identity } from './identity.ts';

export interface ClusterParts {
  readonly scope: Scope;
  readonly clusters: Clusters;
  readonly entries: AccessEntries;
  readonly network: Network;
  readonly images: Images;
  readonly templates: LaunchTemplates;
  readonly identity: Identity;
  readonly store: GroupStore;
  /** The Kubernetes version of the world, the default for a new cluster. */
  readonly kubernetesVersion: string;
}

export const invalidParameter = (message: string) => refuse('InvalidParameterException', message);

/** One page of names, in the form of EKS' List operations. */
export const listed = (names: readonly string[], input: AwsInput) =>
  pageOf(names, {
    max: optionalNumber(input, 'maxResults') ?? 100,
    token: optionalText(input, 'nextToken'),
    keyOf: (name) => name,
    invalid: () => invalidParameter('Invalid nextToken'),
  });

export const clusterHandlers = (parts: ClusterParts): ServiceHandlers => {
  const { clusters, scope } = parts;
  return {
    ListClusters: (input) => {
      const names = clusters.all().map((row) => row.name);
      const page = listed(names, input);
      return { clusters: page.items, nextToken: page.nextToken };
    },
    DescribeCluster: (input) => ({
      cluster: renderCluster(clusters, clusters.need(text(input, 'name'))),
    }),
    CreateCluster: (input) => createCluster(parts, input),
    DeleteCluster: (input) => deleteCluster(parts, input),
    DescribeClusterVersions: (input) => {
      const standard = parts.kubernetesVersion.split('.').slice(0, 2).join('.');
      const all = renderVersions(texts(input, 'clusterVersions'), scope.now(), standard);
      const only = optionalFlag(input, 'defaultOnly') ?? false;
      return { clusterVersions: all.filter((one) => !only || one.defaultVersion) };
    },
    ListUpdates: (input) => {
      const { name } = clusters.need(text(input, 'name'));
      const updates = clusters.updates(name, optionalText(input, 'addonName'));
      const page = listed(
        updates.map((one) => one.id),
        input,
      );
      return { updateIds: page.items, nextToken: page.nextToken };
    },
    DescribeUpdate: (input) => {
      const { name } = clusters.need(text(input, 'name'));
      const id = text(input, 'updateId');
      const update = clusters.updates(name).find((one) => one.id === id);
      if (update !== undefined) return { update: renderUpdate(update) };
      throw refuse('ResourceNotFoundException', `No update found for ID: ${id}`);
    },
    // The world does not model these resources; eksctl lists them before it acts.
    ListFargateProfiles: (input) => {
      clusters.need(text(input, 'clusterName'));
      return { fargateProfileNames: [] };
    },
    ListPodIdentityAssociations: (input) => {
      clusters.need(text(input, 'clusterName'));
      return { associations: [] };
    },
    ListIdentityProviderConfigs: (input) => {
      clusters.need(text(input, 'clusterName'));
      return { identityProviderConfigs: [] };
    },
    ...tagHandlers(parts),
  };
};

const tagHandlers = ({ clusters, scope }: ClusterParts): ServiceHandlers => {
  const owner = (input: AwsInput) => {
    const arn = text(input, 'resourceArn');
    const [, kind, rest = ''] = /:(cluster|addon)\/(.+)$/.exec(arn) ?? [];
    const [cluster = '', name = ''] = rest.split('/');
    if (kind === 'cluster' && arn === clusterArn(scope, cluster)) {
      const row = clusters.need(cluster);
      return {
        tags: row.tags,
        put: (tags: ClusterRow['tags']) => clusters.patch(cluster, { tags }),
      };
    }
    const addon = kind === 'addon' ? clusters.addon(cluster, name) : undefined;
    if (addon !== undefined) {
      return {
        tags: addon.tags,
        put: (tags: ClusterRow['tags']) => clusters.putAddon({ ...addon, tags }),
      };
    }
    throw refuse('NotFoundException', `No resource found for arn: ${arn}`, 404);
  };
  return {
    ListTagsForResource: (input) => ({ tags: owner(input).tags }),
    TagResource: (input) => {
      const { tags, put } = owner(input);
      put({ ...tags, ...textMap(input, 'tags') });
      return {};
    },
    UntagResource: (input) => {
      const { tags, put } = owner(input);
      const gone = texts(input, 'tagKeys');
      put(Object.fromEntries(Object.entries(tags).filter(([key]) => !gone.includes(key))));
      return {};
    },
  };
};

const clusterArn = (scope: Scope, name: string): string => scope.arn('eks', `cluster/${name}`);

const renderCluster = ({ scope, access }: Clusters, row: ClusterRow) => {
  const reach = row.status === 'CREATING' ? undefined : access();
  return {
    name: row.name,
    arn: clusterArn(scope, row.name),
    createdAt: row.createdAt,
    version: row.version,
    ...(reach === undefined
      ? {}
      : {
          endpoint: reach.endpoint,
          certificateAuthority: { data: reach.certificateAuthorityData },
        }),
    roleArn: row.roleArn,
    resourcesVpcConfig: {
      subnetIds: row.subnetIds,
      securityGroupIds: row.securityGroupIds,
      clusterSecurityGroupId: row.clusterSecurityGroupId,
      vpcId: row.vpcId,
      endpointPublicAccess: row.publicAccess,
      endpointPrivateAccess: row.privateAccess,
      publicAccessCidrs: row.publicAccessCidrs,
    },
    kubernetesNetworkConfig: {
      serviceIpv4Cidr: serviceCidr,
      ipFamily: 'ipv4',
      elasticLoadBalancing: { enabled: false },
    },
    logging: { clusterLogging: renderLogging(row.logs) },
    identity: {
      oidc: { issuer: `https://oidc.eks.${scope.region}.amazonaws.com/id/${row.oidcId}` },
    },
    status: row.status === 'ACTIVE' && reach === undefined ? 'CREATING' : row.status,
    platformVersion: findVersion(row.version)?.platform ?? 'eks.1',
    tags: row.tags,
    health: { issues: [] },
    accessConfig: { authenticationMode: row.authenticationMode },
    upgradePolicy: { supportType: 'EXTENDED' },
  };
};

export const renderLogging = (on: readonly LogType[]) => {
  const off = logTypes.filter((type) => !on.includes(type));
  return [
    ...(on.length === 0
      ? []
      : [{ types: logTypes.filter((type) => on.includes(type)), enabled: true }]),
    ...(off.length === 0 ? [] : [{ types: off, enabled: false }]),
  ];
};

/** The enabled types after `setups`, each of which turns its types on or off. */
export const readLogging = (input: AwsInput, before: readonly LogType[]): readonly LogType[] => {
  let on = before;
  for (const setup of structures(optionalStructure(input, 'logging') ?? {}, 'clusterLogging')) {
    const named = texts(setup, 'types');
    const others = on.filter((type) => !named.includes(type));
    const isOn = optionalFlag(setup, 'enabled') ?? false;
    on = isOn ? [...others, ...logTypes.filter((type) => named.includes(type))] : others;
  }
  return on;
};

/** Refuses options that would change behaviour and that the world does not model. */
const checkSupported = (input: AwsInput): void => {
  const computes = optionalStructure(input, 'computeConfig') ?? {};
  if (optionalFlag(computes, 'enabled') === true) {
    throw invalidParameter(
      "EKS Auto Mode is not part of Drover's world: its nodes belong to node groups.",
    );
  }
  const foreign = ['outpostConfig', 'remoteNetworkConfig', 'encryptionConfig'].find(
    (name) => input[name] !== undefined,
  );
  if (foreign !== undefined) throw invalidParameter(`${foreign} is not part of Drover's world.`);
  const network = optionalStructure(input, 'kubernetesNetworkConfig') ?? {};
  const range = optionalText(network, 'serviceIpv4Cidr') ?? serviceCidr;
  if (range !== serviceCidr || optionalText(network, 'ipFamily') === 'ipv6') {
    throw invalidParameter(
      `The service range of a cluster in this world is ${serviceCidr}: leave serviceIpv4Cidr out.`,
    );
  }
};

const checkFree = (clusters: Clusters, name: string): void => {
  const [existing] = clusters.all();
  if (existing?.name === name) {
    throw refuse('ResourceInUseException', `Cluster already exists with name: ${name}`);
  }
  if (existing === undefined) return;
  throw refuse(
    'ResourceLimitExceededException',
    sentence(
      `This world has one Kubernetes API, that of cluster ${existing.name}. Start`,
      `another world with \`drover up --data-dir DIR\` for ${name}.`,
    ),
  );
};

const readSubnets = (network: Network, ids: readonly string[]): readonly SubnetRow[] => {
  const rows = ids.map((id) => {
    const row = network.subnet(id);
    if (row !== undefined) return row;
    throw invalidParameter(
      sentence(
        `The subnet ID '${id}' does not exist (Service: AmazonEC2; Status Code: 400; Error`,
        'Code: InvalidSubnetID.NotFound)',
      ),
    );
  });
  if (new Set(rows.map((row) => row.vpcId)).size > 1) {
    throw invalidParameter('Subnets specified must belong to the same VPC');
  }
  if (new Set(rows.map((row) => row.zone)).size < 2) {
    throw invalidParameter('Subnets specified must be in at least two different AZs');
  }
  return rows;
};

const createCluster = (parts: ClusterParts, input: AwsInput) => {
  const { clusters, network, images, scope } = parts;
  const name = text(input, 'name');
  checkFree(clusters, name);
  checkSupported(input);
  const wanted = optionalText(input, 'version') ?? parts.kubernetesVersion;
  const version = wanted.split('.').slice(0, 2).join('.');
  const known = findVersion(version);
  if (known === undefined) {
    throw invalidParameter(`unsupported Kubernetes version ${wanted}`);
  }
  const roleArn = text(input, 'roleArn');
  if (!/^arn:aws:iam::\d{12}:role\/./.test(roleArn)) {
    throw invalidParameter(
      `Invalid role arn: ${roleArn} (arn:aws:iam::${scope.account}:role/NAME)`,
    );
  }
  const given = optionalStructure(input, 'resourcesVpcConfig') ?? {};
  const subnets = readSubnets(network, texts(given, 'subnetIds'));
  const vpcId = subnets[0]?.vpcId ?? '';
  ensureImages(images, known.version);
  const cidrs = texts(given, 'publicAccessCidrs');
  const access = optionalStructure(input, 'accessConfig') ?? {};
  const authenticationMode = optionalText(access, 'authenticationMode') ?? 'CONFIG_MAP';
  const isAdmin = optionalFlag(access, 'bootstrapClusterCreatorAdminPermissions') ?? true;
  if (!isAdmin && authenticationMode === 'CONFIG_MAP') {
    throw invalidParameter(
      'bootstrapClusterCreatorAdminPermissions must be true if cluster authentication mode ' +
        'is set ' +
        'to CONFIG_MAP',
    );
  }
  parts.entries.forgetCluster(name);
  const row = clusters.create({
    name,
    version,
    roleArn,
    vpcId,
    subnetIds: subnets.map((subnet) => subnet.subnetId),
    securityGroupIds: texts(given, 'securityGroupIds'),
    clusterSecurityGroupId: addSecurityGroup(parts, name, vpcId),
    logs: readLogging(input, []),
    publicAccess: optionalFlag(given, 'endpointPublicAccess') ?? true,
    privateAccess: optionalFlag(given, 'endpointPrivateAccess') ?? false,
    publicAccessCidrs: cidrs.length === 0 ? ['0.0.0.0/0'] : cidrs,
    authenticationMode,
    bringsAddons: optionalFlag(input, 'bootstrapSelfManagedAddons') ?? true,
    tags: textMap(input, 'tags'),
  });
  return { cluster: renderCluster(clusters, row) };
};

const addSecurityGroup = ({ scope, network }: ClusterParts, name: string, vpcId: string): string =>
  network.addSecurityGroup({
    name: `eks-cluster-sg-${name}-${upperSuffix(scope.kernel.random('aws.eks'), 10)}`,
    description: sentence(
      'EKS created security group applied to ENI that is attached to EKS Control Plane',
      'master nodes, as well as any managed workloads.',
    ),
    vpcId,
    tags: {
      Name: `eks-cluster-sg-${name}`,
      'aws:eks:cluster-name': name,
      [`kubernetes.io/cluster/${name}`]: 'owned',
    },
  }).groupId;

const deleteCluster = ({ clusters, store, network }: ClusterParts, input: AwsInput) => {
  const row = clusters.need(text(input, 'name'));
  const attached = store.groups().some((group) => {
    const tags = tagsOfGroup(group);
    return tags['eks:cluster-name'] === row.name && tags['eks:nodegroup-name'] !== undefined;
  });
  if (attached) throw refuse('ResourceInUseException', 'Cluster has nodegroups attached');
  if (row.status === 'CREATING' || row.status === 'UPDATING') {
    throw refuse('ResourceInUseException', `Cluster is in ${row.status} state`);
  }
  if (row.status === 'DELETING') return { cluster: renderCluster(clusters, row) };
  network.removeSecurityGroup(row.clusterSecurityGroupId);
  return { cluster: renderCluster(clusters, clusters.remove(row.name)) };
};

export const renderUpdate = (row: UpdateRow) => ({
  id: row.id,
  status: row.status,
  type: row.type,
  params: row.params,
  createdAt: row.createdAt,
  errors: [],
});

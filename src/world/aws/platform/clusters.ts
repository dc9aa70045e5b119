// EKS clusters and add-ons. Node groups and updates are Drover's own objects and are served by the
// EKS face, not here. A world has one Kubernetes API, hence one cluster.
import {
  type AwsInput,
  optionalNumber,
  optionalStructure,
  optionalText,
  text,
  textMap,
  texts,
} from '../../../wire/index.ts';
import { hexString, type Table } from '../../kernel/index.ts';
import { pageOf } from '../paging.ts';
import type { ClusterAccess } from '../parts.ts';
import { refuse, type Scope, type ServiceHandlers, sentence } from '../scope.ts';
import { addonCatalogue, addonVersionsOf } from './addon-catalogue.ts';

export type ClusterRow = {
  readonly name: string;
  /** Minor version, e.g. `1.32`. */
  readonly version: string;
  readonly createdAt: number;
  readonly roleArn: string;
  readonly oidcId: string;
  readonly vpcId: string;
  readonly subnetIds: readonly string[];
  readonly securityGroupIds: readonly string[];
  readonly clusterSecurityGroupId: string;
  readonly tags: Readonly<Record<string, string>>;
};

export type AddonRow = {
  readonly cluster: string;
  readonly name: string;
  readonly version: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly tags: Readonly<Record<string, string>>;
};

const component = 'aws.eks';
/** An add-on shows as CREATING for this long. */
const addonCreatingMs = 15_000;

export class Clusters {
  readonly scope: Scope;
  readonly access: () => ClusterAccess | undefined;
  readonly #clusters: Table<ClusterRow>;
  readonly #addons: Table<AddonRow>;

  constructor(scope: Scope, access: () => ClusterAccess | undefined) {
    this.scope = scope;
    this.access = access;
    this.#clusters = scope.kernel.tables.open<ClusterRow>('aws/eks/clusters');
    this.#addons = scope.kernel.tables.open<AddonRow>('aws/eks/addons');
  }

  all(): readonly ClusterRow[] {
    return [...this.#clusters.values()];
  }

  add(cluster: Omit<ClusterRow, 'oidcId' | 'createdAt'>): ClusterRow {
    const oidcId = hexString(this.scope.kernel.random(component), 32).toUpperCase();
    const row = { ...cluster, oidcId, createdAt: this.scope.now() };
    this.#clusters.put(row.name, row);
    return row;
  }

  need(name: string): ClusterRow {
    const row = this.#clusters.get(name);
    if (row !== undefined) return row;
    throw refuse('ResourceNotFoundException', `No cluster found for name: ${name}.`);
  }

  addons(cluster: string): readonly AddonRow[] {
    return [...this.#addons.values()].filter((row) => row.cluster === cluster);
  }
  addon(cluster: string, name: string): AddonRow | undefined {
    return this.#addons.get(`${cluster}/${name}`);
  }
  putAddon(addon: AddonRow): void {
    this.#addons.put(`${addon.cluster}/${addon.name}`, addon);
  }
  dropAddon(addon: AddonRow): void {
    this.#addons.delete(`${addon.cluster}/${addon.name}`);
  }
}

const invalidToken = () => refuse('InvalidParameterException', 'Invalid nextToken');

const listed = (names: readonly string[], input: AwsInput) =>
  pageOf(names, {
    max: optionalNumber(input, 'maxResults') ?? 100,
    token: optionalText(input, 'nextToken'),
    keyOf: (name) => name,
    invalid: invalidToken,
  });

export const clusterHandlers = (clusters: Clusters): ServiceHandlers => ({
  ListClusters: (input) => {
    const page = listed(
      clusters.all().map((row) => row.name),
      input,
    );
    return { clusters: page.items, nextToken: page.nextToken };
  },
  DescribeCluster: (input) => ({
    cluster: renderCluster(clusters, clusters.need(text(input, 'name'))),
  }),
  CreateCluster: (input) => createCluster(clusters, input),
  DescribeClusterVersions: () => ({
    clusterVersions: [...new Set(clusters.all().map((row) => row.version))].map((version) => ({
      clusterVersion: version,
      clusterType: 'eks',
      defaultPlatformVersion: platformVersion,
      defaultVersion: true,
      status: 'standard-support',
      versionStatus: 'STANDARD_SUPPORT',
    })),
  }),
  ...addonHandlers(clusters),
});

const addonHandlers = (clusters: Clusters): ServiceHandlers => ({
  ListAddons: (input) => {
    const { name } = clusters.need(text(input, 'clusterName'));
    const page = listed(
      clusters.addons(name).map((row) => row.name),
      input,
    );
    return { addons: page.items, nextToken: page.nextToken };
  },
  DescribeAddon: (input) => ({ addon: renderAddon(clusters, needAddon(clusters, input)) }),
  CreateAddon: (input) => createAddon(clusters, input),
  DeleteAddon: (input) => {
    const addon = needAddon(clusters, input);
    clusters.dropAddon(addon);
    return { addon: { ...renderAddon(clusters, addon), status: 'DELETING' } };
  },
  DescribeAddonVersions: (input) => {
    const wanted = optionalText(input, 'addonName');
    const version = optionalText(input, 'kubernetesVersion') ?? clusters.all()[0]?.version ?? '';
    return {
      addons: addonCatalogue
        .filter((addon) => wanted === undefined || addon.name === wanted)
        .map((addon) => ({
          addonName: addon.name,
          type: addon.type,
          publisher: 'eks',
          owner: 'aws',
          defaultNamespace: 'kube-system',
          addonVersions: addonVersionsOf(addon, version).map((addonVersion, index) => ({
            addonVersion,
            architecture: ['amd64', 'arm64'],
            computeTypes: ['ec2', 'auto', 'hybrid'],
            compatibilities: [
              { clusterVersion: version, platformVersions: ['*'], defaultVersion: index === 0 },
            ],
            requiresConfiguration: false,
            requiresIamPermissions: false,
          })),
        })),
    };
  },
});

const platformVersion = 'eks.17';

const clusterArn = (scope: Scope, name: string): string => scope.arn('eks', `cluster/${name}`);

const renderCluster = ({ scope, access }: Clusters, row: ClusterRow) => {
  const reach = access();
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
      endpointPublicAccess: true,
      endpointPrivateAccess: false,
      publicAccessCidrs: ['0.0.0.0/0'],
    },
    kubernetesNetworkConfig: {
      serviceIpv4Cidr: '10.100.0.0/16',
      ipFamily: 'ipv4',
      elasticLoadBalancing: { enabled: false },
    },
    logging: {
      clusterLogging: [
        {
          types: ['api', 'audit', 'authenticator', 'controllerManager', 'scheduler'],
          enabled: true,
        },
      ],
    },
    identity: {
      oidc: { issuer: `https://oidc.eks.${scope.region}.amazonaws.com/id/${row.oidcId}` },
    },
    status: reach === undefined ? 'CREATING' : 'ACTIVE',
    platformVersion,
    tags: row.tags,
    health: { issues: [] },
    accessConfig: { authenticationMode: 'API_AND_CONFIG_MAP' },
    upgradePolicy: { supportType: 'EXTENDED' },
  };
};

const createCluster = (clusters: Clusters, input: AwsInput) => {
  const name = text(input, 'name');
  const [existing] = clusters.all();
  if (existing?.name === name) {
    throw refuse('ResourceInUseException', `Cluster already exists with name: ${name}`);
  }
  if (existing !== undefined) {
    throw refuse(
      'ResourceLimitExceededException',
      sentence(
        `This world has one Kubernetes API, that of cluster ${existing.name}. Start`,
        `another world with \`drover up --data-dir DIR\` for ${name}.`,
      ),
    );
  }
  const vpc = optionalStructure(input, 'resourcesVpcConfig') ?? {};
  const row = clusters.add({
    name,
    version: optionalText(input, 'version') ?? '',
    roleArn: text(input, 'roleArn'),
    vpcId: '',
    subnetIds: texts(vpc, 'subnetIds'),
    securityGroupIds: texts(vpc, 'securityGroupIds'),
    clusterSecurityGroupId: '',
    tags: textMap(input, 'tags'),
  });
  return { cluster: renderCluster(clusters, row) };
};

const needAddon = (clusters: Clusters, input: AwsInput): AddonRow => {
  const cluster = clusters.need(text(input, 'clusterName'));
  const name = text(input, 'addonName');
  const addon = clusters.addon(cluster.name, name);
  if (addon !== undefined) return addon;
  throw refuse('ResourceNotFoundException', `No addon: ${name} found in cluster: ${cluster.name}`);
};

const renderAddon = ({ scope }: Clusters, row: AddonRow) => ({
  addonName: row.name,
  clusterName: row.cluster,
  status: scope.now() < row.createdAt + addonCreatingMs ? 'CREATING' : 'ACTIVE',
  addonVersion: row.version,
  health: { issues: [] },
  addonArn: scope.arn('eks', `addon/${row.cluster}/${row.name}`),
  createdAt: row.createdAt,
  modifiedAt: row.modifiedAt,
  tags: row.tags,
});

/** A version may be given as eksctl's users do, without `v` and build: the first that begins so. */
const chooseVersion = (name: string, clusterVersion: string, given: string | undefined): string => {
  const addon = addonCatalogue.find((one) => one.name === name);
  if (addon === undefined) {
    throw refuse('InvalidParameterException', `Addon ${name} specified is not supported`);
  }
  const versions = addonVersionsOf(addon, clusterVersion);
  const wanted = given === undefined || given === 'latest' ? '' : given.replace(/^v/, '');
  const chosen = versions.find((version) => version.slice(1).startsWith(wanted));
  if (chosen !== undefined) return chosen;
  throw refuse('InvalidParameterException', `Addon version specified is not supported: ${given}`);
};

const createAddon = (clusters: Clusters, input: AwsInput) => {
  const cluster = clusters.need(text(input, 'clusterName'));
  const name = text(input, 'addonName');
  if (clusters.addon(cluster.name, name) !== undefined) {
    throw refuse('ResourceInUseException', 'Addon already exists.');
  }
  const now = clusters.scope.now();
  const addon: AddonRow = {
    cluster: cluster.name,
    name,
    version: chooseVersion(name, cluster.version, optionalText(input, 'addonVersion')),
    createdAt: now,
    modifiedAt: now,
    tags: textMap(input, 'tags'),
  };
  clusters.putAddon(addon);
  return { addon: renderAddon(clusters, addon) };
};

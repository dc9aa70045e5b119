// EKS add-ons over the API. An add-on is a record; listeners create its objects. Those belong to
// Drover, so there is never a conflict to resolve.
import { defined } from '../../../src/api/defined.ts';
import { type AwsInput, optionalText, text, textMap } from '../../../src/aws-wire/index.ts';
import { refuse, type ServiceHandlers } from '../scope.ts';
import { addonCatalogue, addonVersionsOf } from './addon-catalogue.ts';
import { type ClusterParts, invalidParameter, listed, renderUpdate } from './cluster-handlers.ts';
import type { AddonRow, Clusters } from './clusters.ts';

export const addonHandlers = ({
  clusters,
  kubernetesVersion,
}: Pick<ClusterParts, 'clusters' | 'kubernetesVersion'>): ServiceHandlers => ({
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
  UpdateAddon: (input) => updateAddon(clusters, input),
  DeleteAddon: (input) => {
    const isPreserved = input.preserve === true;
    const addon: AddonRow = { ...needAddon(clusters, input), status: 'DELETING', isPreserved };
    clusters.putAddon(addon);
    return { addon: renderAddon(clusters, addon) };
  },
  // The publisher defines the schema of an add-on's values; here any JSON object is valid.
  DescribeAddonConfiguration: (input) => {
    const addonName = text(input, 'addonName');
    const clusterVersion = clusters.all()[0]?.version ?? kubernetesVersion;
    const addonVersion = chooseVersion(addonName, clusterVersion, text(input, 'addonVersion'));
    const configurationSchema = JSON.stringify({ type: 'object' });
    const podIdentityConfiguration = identitiesOf(addonName);
    return { addonName, addonVersion, configurationSchema, podIdentityConfiguration };
  },
  DescribeAddonVersions: (input) => {
    const wanted = optionalText(input, 'addonName');
    const minor = kubernetesVersion.split('.').slice(0, 2).join('.');
    const version = optionalText(input, 'kubernetesVersion') ?? clusters.all()[0]?.version ?? minor;
    return { addons: addonVersions(wanted, version) };
  },
});

const identitiesOf = (name: string) => {
  const identity = addonCatalogue.find((one) => one.name === name)?.identity;
  if (identity === undefined) return [];
  const { serviceAccount, policies } = identity;
  const recommendedManagedPolicies = policies.map((one) => `arn:aws:iam::aws:policy/${one}`);
  return [{ serviceAccount, recommendedManagedPolicies }];
};

const addonVersions = (wanted: string | undefined, version: string) =>
  addonCatalogue
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
        requiresIamPermissions: addon.identity !== undefined,
      })),
    }));

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
  status: row.status,
  addonVersion: row.version,
  health: { issues: [] },
  addonArn: scope.arn('eks', `addon/${row.cluster}/${row.name}`),
  createdAt: row.createdAt,
  modifiedAt: row.modifiedAt,
  ...defined({ serviceAccountRoleArn: row.roleArn, configurationValues: row.configuration }),
  tags: row.tags,
});

/**
 * A version may omit `v` and the build, as in eksctl; the first version with that prefix is chosen.
 */
const chooseVersion = (name: string, clusterVersion: string, given: string | undefined): string => {
  const addon = addonCatalogue.find((one) => one.name === name);
  if (addon === undefined) throw invalidParameter(`Addon ${name} specified is not supported`);
  const versions = addonVersionsOf(addon, clusterVersion);
  const wanted = given === undefined || given === 'latest' ? '' : given.replace(/^v/, '');
  // An exact match comes first: `eksbuild.2` must not select `eksbuild.28`.
  const chosen =
    versions.find((version) => version.slice(1) === wanted) ??
    versions.find((version) => version.slice(1).startsWith(wanted));
  if (chosen !== undefined) return chosen;
  throw invalidParameter(`Addon version specified is not supported: ${given}`);
};

const optionsOf = (input: AwsInput) => {
  const roleArn = optionalText(input, 'serviceAccountRoleArn');
  const configuration = optionalText(input, 'configurationValues');
  return {
    ...defined({ roleArn, configuration }),
  };
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
    status: 'CREATING',
    createdAt: now,
    modifiedAt: now,
    ...optionsOf(input),
    tags: textMap(input, 'tags'),
  };
  clusters.putAddon(addon);
  return { addon: renderAddon(clusters, addon) };
};

const updateAddon = (clusters: Clusters, input: AwsInput) => {
  const before = needAddon(clusters, input);
  if (before.status !== 'ACTIVE') {
    throw refuse('ResourceInUseException', `Addon ${before.name} is ${before.status}`);
  }
  const cluster = clusters.need(before.cluster);
  const given = optionalText(input, 'addonVersion');
  const version =
    given === undefined ? before.version : chooseVersion(before.name, cluster.version, given);
  const modifiedAt = clusters.scope.now();
  const changes = optionsOf(input);
  const resolve = optionalText(input, 'resolveConflicts');
  clusters.putAddon({ ...before, ...changes, version, status: 'UPDATING', modifiedAt });
  const params = [
    ...(given === undefined ? [] : [{ type: 'AddonVersion', value: version }]),
    ...(changes.roleArn === undefined
      ? []
      : [{ type: 'ServiceAccountRoleArn', value: changes.roleArn }]),
    ...(changes.configuration === undefined
      ? []
      : [{ type: 'ConfigurationValues', value: changes.configuration }]),
    ...(resolve === undefined ? [] : [{ type: 'ResolveConflicts', value: resolve }]),
  ];
  const update = clusters.update({
    cluster: before.cluster,
    addon: before.name,
    type: 'AddonUpdate',
    params,
  });
  return { update: renderUpdate(update) };
};

// Updates of EKS clusters over the API: logging, endpoint access, authentication mode, Kubernetes
// version. Makes EKS' checks with its messages, except those on node groups, which the node group
// API makes first.
import {
  type AwsInput,
  optionalFlag,
  optionalStructure,
  optionalText,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import { refuse, type ServiceHandlers, sentence } from '../scope.ts';
import { checkModeChange } from './access-entries.ts';
import {
  type ClusterParts,
  invalidParameter,
  readLogging,
  renderLogging,
  renderUpdate,
} from './cluster-handlers.ts';
import { ensureImages, findVersion } from './cluster-versions.ts';
import type { ClusterRow, Clusters } from './clusters.ts';
import { managedRoles } from './managed-roles.ts';

export const clusterUpdateHandlers = (parts: ClusterParts): ServiceHandlers => ({
  UpdateClusterConfig: (input) => updateConfig(parts, input),
  UpdateClusterVersion: (input) => updateVersion(parts, input),
});

/** `type`: the name of the update in EKS' error. */
const needActive = (clusters: Clusters, input: AwsInput, type: string): ClusterRow => {
  const row = clusters.need(text(input, 'name'));
  if (row.status === 'ACTIVE') return row;
  throw refuse(
    'ResourceInUseException',
    `Cannot ${type} because cluster ${row.name} currently has status ${row.status}`,
  );
};

const minorOf = (version: string): number => Number(version.split('.')[1]);

/** One minor version at a time; a downgrade is refused. */
const updateVersion = ({ clusters, images }: ClusterParts, input: AwsInput) => {
  const row = needActive(clusters, input, 'VersionUpdate');
  const wanted = optionalText(input, 'version');
  if (wanted === undefined) throw invalidParameter('A Kubernetes version must be specified.');
  if (wanted === row.version) {
    throw invalidParameter(`Cluster is already at version: ${row.version}`);
  }
  const known = findVersion(wanted);
  if (known === undefined) throw invalidParameter(`unsupported Kubernetes version ${wanted}`);
  if (minorOf(wanted) !== minorOf(row.version) + 1) {
    throw invalidParameter(
      sentence(
        `Unsupported Kubernetes minor version update from ${row.version} to ${wanted}:`,
        'a cluster moves to its next minor version.',
      ),
    );
  }
  ensureImages(images, wanted);
  const params = [
    { type: 'Version', value: wanted },
    { type: 'PlatformVersion', value: known.platform },
  ];
  const update = clusters.update({ cluster: row.name, type: 'VersionUpdate', params });
  return { update: renderUpdate(update) };
};

/** The roles of managed groups get an entry each; the user creates those of self-managed groups. */
const updateMode = (parts: ClusterParts, row: ClusterRow, input: AwsInput) => {
  const { clusters, entries } = parts;
  const wanted = optionalText(input, 'authenticationMode') ?? row.authenticationMode;
  if (optionalFlag(input, 'bootstrapClusterCreatorAdminPermissions') !== undefined) {
    throw invalidParameter('bootstrapClusterCreatorAdminPermissions cannot be updated');
  }
  checkModeChange(row, wanted);
  clusters.patch(row.name, { authenticationMode: wanted });
  for (const [principalArn, type] of managedRoles(parts, row.name)) {
    if (entries.get(row.name, principalArn) !== undefined) continue;
    entries.create({ cluster: row.name, principalArn, type });
  }
  entries.changed();
  const params = [{ type: 'AuthenticationMode', value: JSON.stringify(wanted) }];
  const update = clusters.update({ cluster: row.name, type: 'AccessConfigUpdate', params });
  return { update: renderUpdate(update) };
};

const updateConfig = (parts: ClusterParts, input: AwsInput) => {
  const { clusters } = parts;
  const row = needActive(clusters, input, 'LoggingUpdate');
  const logging = optionalStructure(input, 'logging');
  const network = optionalStructure(input, 'resourcesVpcConfig');
  const access = optionalStructure(input, 'accessConfig');
  if ([logging, network, access].filter((one) => one !== undefined).length !== 1) {
    throw invalidParameter(
      'Exactly one of logging, resourcesVpcConfig and accessConfig must be given.',
    );
  }
  if (access !== undefined) return updateMode(parts, row, access);
  if (logging !== undefined) {
    const logs = readLogging(input, row.logs);
    if (logs.length === row.logs.length && logs.every((type) => row.logs.includes(type))) {
      throw invalidParameter('No changes needed for the logging config provided');
    }
    clusters.patch(row.name, { logs });
    const value = JSON.stringify({ clusterLogging: renderLogging(logs) });
    const params = [{ type: 'ClusterLogging', value }];
    return {
      update: renderUpdate(clusters.update({ cluster: row.name, type: 'LoggingUpdate', params })),
    };
  }
  const publicAccess = optionalFlag(network ?? {}, 'endpointPublicAccess') ?? row.publicAccess;
  const privateAccess = optionalFlag(network ?? {}, 'endpointPrivateAccess') ?? row.privateAccess;
  const cidrs = texts(network ?? {}, 'publicAccessCidrs');
  const publicAccessCidrs = cidrs.length === 0 ? row.publicAccessCidrs : cidrs;
  clusters.patch(row.name, { publicAccess, privateAccess, publicAccessCidrs });
  parts.entries.changed();
  const params = [
    { type: 'EndpointPublicAccess', value: String(publicAccess) },
    { type: 'EndpointPrivateAccess', value: String(privateAccess) },
    { type: 'PublicAccessCidrs', value: JSON.stringify(publicAccessCidrs) },
  ];
  const update = clusters.update({ cluster: row.name, type: 'EndpointAccessUpdate', params });
  return { update: renderUpdate(update) };
};

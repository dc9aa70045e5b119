// Whom the cluster lets in as a node, as EKS' authenticator and the Node authorizer do: a machine
// whose user data names this cluster and whose role an access entry or kube-system/aws-auth maps to
// its node name.
import { objectOr } from '../src/api/json.ts';
import { mappedUser } from '../src/formats/index.ts';
import type { AwsWorld } from './aws/index.ts';
import type { JoinGate, JoinRefusal, WorldKube } from './contracts.ts';

const configMaps = { group: '', resource: 'configmaps' };
const awsAuth = { namespace: 'kube-system', name: 'aws-auth' };

/** Stands for the node's name, so that one look serves all machines of a role. */
const anyName = '\u0000';

interface Mapped {
  readonly username: string;
  readonly groups: readonly string[];
}

/** What a role is mapped to, remembered until aws-auth changes. */
class RoleMap {
  readonly #kube: WorldKube;
  #version: string | undefined;
  readonly #known = new Map<string, Mapped | undefined>();

  constructor(kube: WorldKube) {
    this.#kube = kube;
  }

  of(roleArn: string): Mapped | undefined {
    const map = this.#kube.read(configMaps, awsAuth);
    const version = map?.metadata.resourceVersion;
    if (version !== this.#version) {
      this.#known.clear();
      this.#version = version;
    }
    if (this.#known.has(roleArn)) return this.#known.get(roleArn);
    const data = Object.entries(objectOr(map?.data)).map(([key, value]) => [key, String(value)]);
    const session = roleArn.replace(
      /^(arn:[^:]*):iam::(\d*):role\/(?:.*\/)?([^/]+)$/,
      '$1:sts::$2:assumed-role/$3/i-0',
    );
    const user = mappedUser(Object.fromEntries(data), session, () => anyName);
    this.#known.set(roleArn, user);
    return user;
  }
}

const isNode = ({ username, groups }: Mapped): boolean =>
  groups.includes('system:masters') ||
  (username === `system:node:${anyName}` && groups.includes('system:nodes'));

const sameOrigin = (a: string, b: string): boolean => {
  const plain = (url: string): string => url.toLowerCase().replace(/\/$/, '');
  return plain(a) === plain(b);
};

/** An entry comes first; what there is none for, aws-auth is asked, as long as the mode has it. */
const userOf = (
  mode: string,
  entry: Mapped | undefined,
  ofMap: () => Mapped | undefined,
): Mapped | undefined => {
  if (mode === 'CONFIG_MAP') return ofMap();
  if (entry === undefined) return mode === 'API' ? undefined : ofMap();
  const username = entry.username
    .replaceAll('{{EC2PrivateDNSName}}', anyName)
    .replaceAll(/\{\{SessionName(?:Raw)?\}\}/g, 'i-0');
  return { username, groups: entry.groups };
};

export const createJoinGate = (kube: WorldKube, aws: Pick<AwsWorld, 'nodeAccess'>): JoinGate => {
  const roles = new RoleMap(kube);
  return (instanceId): JoinRefusal | undefined => {
    const access = aws.nodeAccess(instanceId);
    // An instance that EC2 has forgotten runs nowhere.
    if (access === undefined) return undefined;
    const { clusterName, cluster, endpoint, clusterEndpoint, roleArn, privateDnsName } = access;
    // With the endpoint given nothing asks EKS for the cluster: its token is for another one.
    if (cluster === undefined && endpoint === undefined) {
      return { kind: 'unknownCluster', cluster: clusterName ?? '' };
    }
    if (endpoint !== undefined && clusterEndpoint !== undefined) {
      const own = [clusterEndpoint, ...access.formerEndpoints];
      if (!own.some((one) => sameOrigin(endpoint, one))) return { kind: 'endpoint', endpoint };
    }
    if (!access.isReached) return { kind: 'unreachable', endpoint: clusterEndpoint ?? '' };
    if (roleArn === undefined) return { kind: 'noCredentials' };
    if (cluster === undefined) return { kind: 'unauthorized' };
    const user = userOf(cluster.authenticationMode, access.entry, () => roles.of(roleArn));
    if (user === undefined) return { kind: 'unauthorized' };
    if (isNode(user)) return undefined;
    return { kind: 'forbidden', user: user.username.replaceAll(anyName, privateDnsName) };
  };
};

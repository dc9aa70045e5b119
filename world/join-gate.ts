// Which machines the cluster authorizes as nodes, like EKS' authenticator and the Node authorizer.
// The user data must name this cluster, and an access entry or kube-system/aws-auth must map the
// machine's role to its node name.
import { objectOr } from '../src/api/json.ts';
import { mappedUser } from '../src/formats/index.ts';
import type { AwsWorld } from './aws/index.ts';
import type { JoinGate, JoinRefusal, WorldKube } from './contracts.ts';

const configMaps = { group: '', resource: 'configmaps' };
const awsAuth = { namespace: 'kube-system', name: 'aws-auth' };

/** A placeholder for the node's name, so that one lookup serves all machines of a role. */
const anyName = '\u0000';

interface Mapped {
  readonly username: string;
  readonly groups: readonly string[];
}

/** The users of each role, cached until aws-auth changes. */
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

/**
 * An access entry takes precedence. Without one, aws-auth decides if the cluster's mode uses it.
 */
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
    // An instance that EC2 does not list any more does not run.
    if (access === undefined) return undefined;
    const { clusterName, cluster, endpoint, clusterEndpoint, roleArn, privateDnsName } = access;
    // Only a machine without an endpoint in its user data looks its cluster up in EKS.
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

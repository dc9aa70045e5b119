// Which certificate signing requests of kubelets are approved: those whose names and addresses all
// belong to the instance in the cloud's records. Others stay pending with a reason. Nothing is
// denied: a denial is final, and the cloud's record may just be late.
import type { EpochMs } from '../../api/brand.ts';
import type { CertificateRequest } from '../../formats/index.ts';

export const kubeletSigners = {
  serving: 'kubernetes.io/kubelet-serving',
  client: 'kubernetes.io/kube-apiserver-client-kubelet',
} as const;

export interface KubeletRequest {
  readonly signer: string;
  /** The requestor, as the API server authenticated it. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  readonly createdAt: EpochMs;
  /** Undefined: it cannot be parsed. */
  readonly content: CertificateRequest | undefined;
}

/** The cloud's record of one instance. */
export interface InstanceRecord {
  readonly instanceId: string;
  /** The state as EC2 names it. */
  readonly state: string;
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  readonly launchedAt: EpochMs | undefined;
}

export interface RequestFacts {
  /** The instance with this node's name, or with this id; undefined: the cloud knows none. */
  readonly instance: InstanceRecord | undefined;
  /** The instance that the Node of that name refers to; undefined: the node does not exist. */
  readonly node: { readonly instanceId: string | undefined } | undefined;
  /** Pending requests of this node, without this one. */
  readonly pending: number;
  /** Approved requests of this node and signer within `approvalWindowMs`. */
  readonly approvedLately: number;
  /** Pending requests of all kubelets. */
  readonly pendingInAll: number;
  readonly nodes: number;
}

/** Why a request stays pending: one list, for events and tables. */
export type WaitingReason =
  | 'Unreadable'
  | 'WrongSubject'
  | 'WrongRequestor'
  | 'WrongUsages'
  | 'WeakKey'
  | 'LongLived'
  | 'NoInstance'
  | 'NoNode'
  | 'NodeExists'
  | 'OtherInstance'
  | 'ForeignName'
  | 'ForeignAddress'
  | 'TooOld'
  | 'TooMany';

export type CertificateDecision =
  | { readonly kind: 'approve'; readonly message: string }
  | { readonly kind: 'wait'; readonly reason: WaitingReason; readonly message: string };

/** A year and two days: no kubelet requests more. */
const maxSeconds = 367 * 86_400;
const maxPendingOfNode = 5;
export const approvalWindowMs = 3_600_000;
/**
 * A kubelet renews once in months; one that restarts repeatedly requests a certificate each time.
 */
const maxApprovalsPerWindow = 6;
/** If more requests are pending, most do not come from nodes of the cluster. */
const pendingLimit = (nodes: number): number => Math.max(100, 2 * nodes);
/**
 * The holder of a bootstrap token may name any node, so only instances launched this recently
 * qualify.
 */
const bootstrapWithinMs = 2 * 3_600_000;
/** Allowed difference between the clocks of cloud and cluster. */
const skewMs = 60_000;

const nodePrefix = 'system:node:';
const running = new Set(['pending', 'running']);

const wait = (reason: WaitingReason, message: string): CertificateDecision => ({
  kind: 'wait',
  reason,
  message,
});

/** The node's name in the subject; undefined: it has none. */
export const nodeNameOf = (content: CertificateRequest | undefined): string | undefined => {
  const name = content?.commonName ?? '';
  const rest = name.startsWith(nodePrefix) ? name.slice(nodePrefix.length) : '';
  return rest === '' ? undefined : rest;
};

const subjectComplaint = (
  { signer }: KubeletRequest,
  content: CertificateRequest,
): string | undefined => {
  const { organisations, dnsNames, ipAddresses, emailAddresses, uris } = content;
  if (nodeNameOf(content) === undefined) return 'its common name is not system:node:NAME';
  if (organisations.length !== 1 || organisations[0] !== 'system:nodes') {
    return 'its organization is not system:nodes alone';
  }
  if (emailAddresses.length + uris.length > 0) return 'it asks for e-mail addresses or URIs';
  const names = dnsNames.length + ipAddresses.length;
  if (signer === kubeletSigners.serving) {
    return names === 0 ? 'it asks for no name and no address' : undefined;
  }
  return names > 0 ? 'a client certificate has no names and addresses' : undefined;
};

const usageComplaint = ({ signer, usages }: KubeletRequest): string | undefined => {
  const purpose = signer === kubeletSigners.serving ? 'server auth' : 'client auth';
  const rest = new Set(usages.filter((usage) => usage !== 'key encipherment'));
  return rest.size === 2 && rest.has('digital signature') && rest.has(purpose)
    ? undefined
    : `its usages are [${usages.join(', ')}], not [digital signature, ${purpose}]`;
};

const keyComplaint = ({ key }: CertificateRequest): string | undefined => {
  switch (key.kind) {
    case 'rsa':
      return key.bits >= 2048 ? undefined : `its RSA key has ${key.bits} bits, not 2048`;
    case 'ec':
      return key.bits >= 256 ? undefined : 'its elliptic curve is not P-256, P-384 or P-521';
    case 'ed25519':
      return undefined;
    case 'other':
      return 'its key is neither RSA nor on an elliptic curve';
  }
};

const isRenewal = ({ username }: KubeletRequest, content: CertificateRequest): boolean =>
  username === content.commonName;

const requestorComplaint = (
  request: KubeletRequest,
  content: CertificateRequest,
): string | undefined => {
  const { groups, username, signer } = request;
  const lacks = (group: string): string | undefined =>
    groups.includes(group) ? undefined : `${username} is not in the group ${group}`;
  if (isRenewal(request, content)) return lacks('system:nodes') ?? lacks('system:authenticated');
  if (signer === kubeletSigners.serving) {
    return `${username} asks for ${content.commonName}: a node asks for itself alone`;
  }
  if (!username.startsWith('system:bootstrap:')) {
    return `${username} has no bootstrap token and is not ${content.commonName}`;
  }
  return lacks('system:bootstrappers') ?? lacks('system:authenticated');
};

/** Names without a final dot and in lower case, addresses in one form. */
const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

/** Normalizes IPv6: `2001:DB8::1` and `2001:db8:0:0:0:0:0:1` are equal. IPv4 is unchanged. */
export const plainAddress = (address: string): string => {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const all = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return all.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
};

const foreignName = (
  content: CertificateRequest,
  node: string,
  { names, instanceId }: InstanceRecord,
): string | undefined => {
  const own = new Set([node, instanceId, ...names].map(plainName));
  for (const name of names) own.add(plainName(name).split('.')[0] ?? '');
  return content.dnsNames.find((name) => !own.has(plainName(name)));
};

const foreignAddress = (
  { ipAddresses }: CertificateRequest,
  { addresses }: InstanceRecord,
): string | undefined => {
  const own = new Set(addresses.map(plainAddress));
  return ipAddresses.find((address) => !own.has(plainAddress(address)));
};

const contentDecision = (
  request: KubeletRequest,
  content: CertificateRequest,
): CertificateDecision | undefined => {
  const { expirationSeconds = 0 } = request;
  const checks: readonly (readonly [WaitingReason, string | undefined])[] = [
    ['WrongSubject', subjectComplaint(request, content)],
    ['WrongRequestor', requestorComplaint(request, content)],
    ['WrongUsages', usageComplaint(request)],
    ['WeakKey', keyComplaint(content)],
    [
      'LongLived',
      expirationSeconds > maxSeconds
        ? `it asks for ${expirationSeconds} s, ${maxSeconds} are allowed`
        : undefined,
    ],
  ];
  for (const [reason, message] of checks) {
    if (message !== undefined) return wait(reason, message);
  }
  return undefined;
};

const capDecision = (facts: RequestFacts, node: string): CertificateDecision | undefined => {
  const { pending, approvedLately, pendingInAll, nodes } = facts;
  if (pendingInAll > pendingLimit(nodes)) {
    const most = pendingLimit(nodes);
    return wait('TooMany', `${pendingInAll} requests of kubelets are pending, more than ${most}`);
  }
  if (pending >= maxPendingOfNode) {
    return wait(
      'TooMany',
      `${pending} other requests of ${node} are pending; they go after an hour`,
    );
  }
  if (approvedLately >= maxApprovalsPerWindow) {
    return wait('TooMany', `${approvedLately} requests of ${node} were approved in the last hour`);
  }
  return undefined;
};

/** A request with a bootstrap token: for a recently launched instance without a node. */
const firstDecision = (
  { createdAt }: KubeletRequest,
  { node }: RequestFacts,
  { instanceId, launchedAt }: InstanceRecord,
): CertificateDecision | undefined => {
  if (node !== undefined) {
    return wait('NodeExists', 'there is such a node: it renews with its own certificate');
  }
  const age = launchedAt === undefined ? Number.NaN : createdAt - launchedAt;
  if (age >= -skewMs && age <= bootstrapWithinMs) return undefined;
  return wait('TooOld', `${instanceId} was not started within the two hours before the request`);
};

export const decideCertificate = (
  request: KubeletRequest,
  facts: RequestFacts,
): CertificateDecision => {
  const { content } = request;
  const node = nodeNameOf(content);
  if (content === undefined) return wait('Unreadable', 'it is no PKCS #10 request');
  const wrong = contentDecision(request, content);
  if (wrong !== undefined || node === undefined) {
    return wrong ?? wait('WrongSubject', 'it names no node');
  }
  const { instance } = facts;
  if (instance === undefined || !running.has(instance.state)) {
    const what = instance === undefined ? 'no instance has the name' : `${instance.instanceId} is`;
    return wait('NoInstance', `${what} ${instance === undefined ? node : instance.state}`);
  }
  if (isRenewal(request, content)) {
    if (facts.node === undefined) return wait('NoNode', `there is no node ${node} yet`);
    if (facts.node.instanceId !== instance.instanceId) {
      const said = facts.node.instanceId ?? 'no instance';
      return wait('OtherInstance', `node ${node} says it is ${said}, not ${instance.instanceId}`);
    }
  } else {
    const early = firstDecision(request, facts, instance);
    if (early !== undefined) return early;
  }
  const name = foreignName(content, node, instance);
  if (name !== undefined)
    return wait('ForeignName', `${name} is no name of ${instance.instanceId}`);
  const address = foreignAddress(content, instance);
  if (address !== undefined) {
    return wait('ForeignAddress', `${address} is no address of ${instance.instanceId}`);
  }
  const capped = capDecision(facts, node);
  if (capped !== undefined) return capped;
  const what = request.signer === kubeletSigners.serving ? 'serving' : 'client';
  return {
    kind: 'approve',
    message:
      `every name and address of this kubelet ${what} certificate is that of ` +
      `${instance.instanceId}`,
  };
};

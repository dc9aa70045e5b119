// Certificate requests of kubelets: the conditions under which each can be approved.
import { epochMs } from '../../../../src/api/brand.ts';
import type {
  InstanceRecord,
  KubeletRequest,
  RequestFacts,
} from '../../../../src/core/identity/index.ts';
import type { CertificateRequest } from '../../../../src/formats/index.ts';
import type { Case, Topic } from '../topic.ts';

interface Given {
  readonly request: KubeletRequest;
  readonly facts: RequestFacts;
}
/** `approve`, or the reason why the request stays pending. */
type Expected = string;

interface Changes {
  readonly request?: Partial<KubeletRequest>;
  readonly content?: Partial<CertificateRequest> | undefined;
  readonly instance?: Partial<InstanceRecord>;
  readonly facts?: Partial<RequestFacts>;
}

const hour = 3_600_000;
const now = epochMs(100 * hour);
const dns = 'ip-10-1-2-3.eu-central-1.compute.internal';
const year = 365 * 86_400;

const instance: InstanceRecord = {
  instanceId: 'i-0fee',
  state: 'running',
  names: [dns, 'ec2-198-51-100-7.eu-central-1.compute.amazonaws.com'],
  addresses: ['10.1.2.3', '198.51.100.7', '2001:db8::7'],
  launchedAt: epochMs(now - hour),
};
const content: CertificateRequest = {
  commonName: `system:node:${dns}`,
  organisations: ['system:nodes'],
  dnsNames: [dns],
  ipAddresses: ['10.1.2.3'],
  emailAddresses: [],
  uris: [],
  key: { kind: 'ec', bits: 256 },
};
const ofServing: KubeletRequest = {
  signer: 'kubernetes.io/kubelet-serving',
  username: `system:node:${dns}`,
  groups: ['system:nodes', 'system:authenticated'],
  usages: ['digital signature', 'key encipherment', 'server auth'],
  expirationSeconds: undefined,
  createdAt: now,
  content,
};
const ofClient: KubeletRequest = {
  ...ofServing,
  signer: 'kubernetes.io/kube-apiserver-client-kubelet',
  username: 'system:bootstrap:abc123',
  groups: ['system:bootstrappers', 'system:authenticated'],
  usages: ['digital signature', 'client auth'],
  content: { ...content, dnsNames: [], ipAddresses: [] },
};
const base: RequestFacts = {
  instance,
  node: { instanceId: instance.instanceId },
  pending: 0,
  approvedLately: 0,
  pendingInAll: 1,
  nodes: 10,
};

const of =
  (request: KubeletRequest, facts: RequestFacts, kind: string) =>
  (name: string, expected: Expected, changes: Changes = {}): Case<Given, Expected> => ({
    name: `${kind}: ${name}`,
    given: {
      request: {
        ...request,
        content: request.content && { ...request.content, ...changes.content },
        ...changes.request,
      },
      facts: {
        ...facts,
        instance: { ...instance, ...changes.instance },
        ...changes.facts,
      },
    },
    expected,
  });

const serving = of(ofServing, base, 'serving');
const client = of(ofClient, { ...base, node: undefined }, 'client');
const renewal = of(
  { ...ofClient, username: ofServing.username, groups: ofServing.groups },
  base,
  'client, renewed',
);

const servingCases: readonly Case<Given, Expected>[] = [
  serving('its own name and address', 'approve'),
  serving('without key encipherment', 'approve', {
    request: { usages: ['server auth', 'digital signature'] },
  }),
  serving('its name alone', 'approve', { content: { ipAddresses: [] } }),
  serving('its address alone', 'approve', { content: { dnsNames: [] } }),
  serving('its public name and address', 'approve', {
    content: { dnsNames: [...instance.names], ipAddresses: ['198.51.100.7'] },
  }),
  serving('another case and a last dot', 'approve', {
    content: { dnsNames: [`${dns.toUpperCase()}.`] },
  }),
  serving('an IPv6 address written out', 'approve', {
    content: { ipAddresses: ['2001:0db8:0:0:0:0:0:7'] },
  }),
  serving('RSA of 2048 bits', 'approve', { content: { key: { kind: 'rsa', bits: 2048 } } }),
  serving('a year', 'approve', { request: { expirationSeconds: year } }),
  serving('367 days', 'approve', { request: { expirationSeconds: 367 * 86_400 } }),
  serving('a second more', 'LongLived', { request: { expirationSeconds: 367 * 86_400 + 1 } }),
  serving('no name and no address', 'WrongSubject', { content: { dnsNames: [], ipAddresses: [] } }),
  serving('a common name without the prefix', 'WrongSubject', { content: { commonName: dns } }),
  serving('the prefix alone', 'WrongSubject', { content: { commonName: 'system:node:' } }),
  serving('no organization', 'WrongSubject', { content: { organisations: [] } }),
  serving('an organization more', 'WrongSubject', {
    content: { organisations: ['system:nodes', 'system:masters'] },
  }),
  serving('another organization', 'WrongSubject', {
    content: { organisations: ['system:masters'] },
  }),
  serving('a URI', 'WrongSubject', { content: { uris: ['spiffe://a/b'] } }),
  serving('an e-mail address', 'WrongSubject', { content: { emailAddresses: ['a@example.com'] } }),
  serving('asked for by another node', 'WrongRequestor', {
    request: { username: 'system:node:other' },
  }),
  serving('asked for by an administrator', 'WrongRequestor', { request: { username: 'admin' } }),
  serving('asked for by "test", as two entries of one role make it', 'WrongRequestor', {
    request: { username: 'test' },
  }),
  serving('not of system:nodes', 'WrongRequestor', {
    request: { groups: ['system:authenticated'] },
  }),
  serving('not authenticated', 'WrongRequestor', { request: { groups: ['system:nodes'] } }),
  serving('client auth besides', 'WrongUsages', {
    request: { usages: [...ofServing.usages, 'client auth'] },
  }),
  serving('client auth instead', 'WrongUsages', { request: { usages: ofClient.usages } }),
  serving('server auth alone', 'WrongUsages', { request: { usages: ['server auth'] } }),
  serving('no usage', 'WrongUsages', { request: { usages: [] } }),
  serving('RSA of 1024 bits', 'WeakKey', { content: { key: { kind: 'rsa', bits: 1024 } } }),
  serving('a key of another algorithm', 'WeakKey', {
    content: { key: { kind: 'other', algorithm: '608648016503040311' } },
  }),
  serving('a name that only begins as the node’s', 'ForeignName', {
    content: { dnsNames: [dns, `${dns}.example.com`] },
  }),
  serving('a name of the company', 'ForeignName', {
    content: { dnsNames: [dns, 'auth.example.com'] },
  }),
  serving('a wildcard', 'ForeignName', {
    content: { dnsNames: ['*.eu-central-1.compute.internal'] },
  }),
  serving('kubernetes.default', 'ForeignName', {
    content: { dnsNames: ['kubernetes.default.svc'] },
  }),
  serving('a neighbour’s address', 'ForeignAddress', {
    content: { ipAddresses: ['10.1.2.3', '10.1.2.4'] },
  }),
  serving('127.0.0.1', 'ForeignAddress', { content: { ipAddresses: ['127.0.0.1'] } }),
  serving('no such instance', 'NoInstance', { facts: { instance: undefined } }),
  serving('an instance that is gone', 'NoInstance', { instance: { state: 'terminated' } }),
  serving('an instance that shuts down', 'NoInstance', { instance: { state: 'shutting-down' } }),
  serving('an instance that is pending', 'approve', { instance: { state: 'pending' } }),
  serving('no such node yet', 'NoNode', { facts: { node: undefined } }),
  serving('a node of another instance', 'OtherInstance', {
    facts: { node: { instanceId: 'i-0bad' } },
  }),
  serving('a node of no instance', 'OtherInstance', { facts: { node: { instanceId: undefined } } }),
  serving('five pending already', 'TooMany', { facts: { pending: 5 } }),
  serving('a hundred pending of all', 'approve', { facts: { pendingInAll: 100 } }),
  serving('more than a hundred pending of ten nodes', 'TooMany', { facts: { pendingInAll: 101 } }),
  serving('as many pending of a thousand nodes', 'approve', {
    facts: { pendingInAll: 101, nodes: 1000 },
  }),
  serving('approved six times in an hour', 'TooMany', { facts: { approvedLately: 6 } }),
  serving('what cannot be read', 'Unreadable', { request: { content: undefined } }),
];

const clientCases: readonly Case<Given, Expected>[] = [
  client('a fresh instance with a bootstrap token', 'approve'),
  client('with key encipherment', 'approve', {
    request: { usages: [...ofClient.usages, 'key encipherment'] },
  }),
  client('two hours after the start', 'approve', {
    instance: { launchedAt: epochMs(now - 2 * hour) },
  }),
  client('later than that', 'TooOld', { instance: { launchedAt: epochMs(now - 2 * hour - 1) } }),
  client('clocks a minute apart', 'approve', { instance: { launchedAt: epochMs(now + 60_000) } }),
  client('started after the request', 'TooOld', {
    instance: { launchedAt: epochMs(now + 60_001) },
  }),
  client('a start that nobody knows', 'TooOld', { instance: { launchedAt: undefined } }),
  client('a node that is there', 'NodeExists', { facts: { node: { instanceId: 'i-0fee' } } }),
  client('no such instance', 'NoInstance', { facts: { instance: undefined } }),
  client('a stopped instance', 'NoInstance', { instance: { state: 'stopped' } }),
  client('a name besides', 'WrongSubject', { content: { dnsNames: [dns] } }),
  client('an address besides', 'WrongSubject', { content: { ipAddresses: ['10.1.2.3'] } }),
  client('of masters', 'WrongSubject', { content: { organisations: ['system:masters'] } }),
  client('server auth', 'WrongUsages', { request: { usages: ofServing.usages } }),
  client('asked for by a service account', 'WrongRequestor', {
    request: { username: 'system:serviceaccount:a:b' },
  }),
  client('asked for by another node', 'WrongRequestor', {
    request: { username: 'system:node:other' },
  }),
  client('a token without its group', 'WrongRequestor', {
    request: { groups: ['system:authenticated'] },
  }),
  client('more than 367 days', 'LongLived', { request: { expirationSeconds: 10 * year } }),
  renewal('by the node itself', 'approve'),
  renewal('long after the start', 'approve', { instance: { launchedAt: epochMs(0) } }),
  renewal('of a node that is gone', 'NoNode', { facts: { node: undefined } }),
  renewal('of a node of another instance', 'OtherInstance', {
    facts: { node: { instanceId: 'i-0bad' } },
  }),
  renewal('without system:nodes', 'WrongRequestor', {
    request: { groups: ['system:authenticated'] },
  }),
];

export const certificates: Topic<Given, Expected> = {
  topic: 'Certificate requests of kubelets',
  upstream:
    'kubernetes: pkg/apis/certificates/helpers.go; openshift/cluster-machine-approver: csr_check.go; ' +
    'postfinance/kubelet-csr-approver',
  behaviour:
    'Subject, groups, usages and SANs exactly as the signers ask; who asks is who it is for; every name ' +
    'and address is the instance’s by the cloud’s record; first client certificates only of instances ' +
    'that have just been started',
  differences: [
    'nothing is denied: what is not approved is left pending with an event',
    'names are compared with the cloud’s record, not with a prefix or a DNS look-up',
  ],
  cases: [...servingCases, ...clientCases],
};

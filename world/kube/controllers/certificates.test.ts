// Which certificate requests are approved, and which are not signed.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { kubeletIdentity, resources } from '../actors/index.ts';
import { certificateRequests, signingOrderOf } from './certificates.ts';
import { clientRequest, servingRequest } from './csr-samples.ts';
import { aMachine, SmallWorld } from './small-world.ts';

const serving = 'kubernetes.io/kubelet-serving';
const client = 'kubernetes.io/kube-apiserver-client-kubelet';
const usagesOf = (kind: string): readonly string[] => ['digital signature', `${kind} auth`];

interface Asked {
  readonly signerName?: string;
  readonly pem?: string;
  readonly usages?: readonly string[];
  readonly by?: { readonly username: string; readonly groups: readonly string[] };
}

const world = (...machines: Parameters<SmallWorld['start']>): SmallWorld => {
  const small = new SmallWorld();
  small.start(...machines);
  small.advance(15);
  return small;
};

const ask = (small: SmallWorld, asked: Asked): void => {
  const { signerName = serving, pem = servingRequest, usages = usagesOf('server') } = asked;
  const user = asked.by ?? kubeletIdentity('n1', 'v1').user;
  const csr: JsonObject = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r' },
    spec: { request: btoa(pem), signerName, usages },
  };
  small.must(small.kube.as({ user, userAgent: 't' }).create(certificateRequests, undefined, csr));
  small.advance(1);
};

const read = (small: SmallWorld) => {
  const csr = small.kube.read(certificateRequests, { name: 'r' });
  if (csr === undefined) throw new Error('no request');
  const { conditions = [] } = (csr.status ?? {}) as { readonly conditions?: JsonObject[] };
  return { csr, said: conditions.map(({ type, message }) => `${type}: ${message}`) };
};

const selfServing =
  'Approved: Auto approving self kubelet server certificate after SubjectAccessReview.';
const selfClient =
  'Approved: Auto approving self kubelet client certificate after SubjectAccessReview.';

describe('a request of a kubelet', () => {
  it('for its own names and address is approved, and waits for a signer outside', () => {
    const small = world(aMachine(1));
    ask(small, {});
    const { csr, said } = read(small);
    expect(said).toEqual([selfServing]);
    expect(signingOrderOf(csr)).toMatchObject({ name: 'r', request: servingRequest });
  });

  it('for its next client certificate is approved where nodes may ask for theirs', () => {
    const small = world(aMachine(1));
    const apiGroup = 'rbac.authorization.k8s.io';
    const name = 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient';
    const binding = {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'rotation' },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ apiGroup, kind: 'Group', name: 'system:nodes' }],
    };
    small.must(small.admin.create(resources.clusterrolebindings, undefined, binding));
    ask(small, { signerName: client, pem: clientRequest, usages: usagesOf('client') });
    expect(read(small).said).toEqual([selfClient]);
  });

  const others: readonly (readonly [string, Parameters<SmallWorld['start']>, Asked])[] = [
    ['with the address of another machine', [aMachine(1, { privateIp: '10.0.0.9' })], {}],
    ['of a machine that is no node', [aMachine(2)], {}],
    ['sent by another node', [aMachine(1)], { by: kubeletIdentity('n2', 'v1').user }],
    ['with the usages of a client', [aMachine(1)], { usages: usagesOf('client') }],
    ['for a signer of somebody else', [aMachine(1)], { signerName: 'example.com/s' }],
  ];
  it.each(others)('%s is left to people', (_, machines, asked) => {
    const small = world(...machines);
    ask(small, asked);
    expect(read(small).said).toEqual([]);
  });
});

describe('a request with a bootstrap token', () => {
  const by = { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
  const asked = { signerName: client, pem: clientRequest, usages: usagesOf('client'), by };

  it('waits until a user lets bootstrappers ask for the certificates of nodes', () => {
    const small = world();
    ask(small, asked);
    expect(read(small).said).toEqual([]);
    const role = { kind: 'ClusterRole', name: 'nodeclient', apiGroup: 'rbac.authorization.k8s.io' };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const rule = {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/nodeclient'],
      verbs: ['create'],
    };
    const [metadata, kind] = [{ name: 'nodeclient' }, 'ClusterRole'];
    const rules = { apiVersion, kind, metadata, rules: [rule] };
    small.must(small.admin.create(resources.clusterroles, undefined, rules));
    const subject = { kind: 'Group', name: 'system:bootstrappers' };
    const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef: role };
    const bound = { ...binding, subjects: [subject] };
    small.must(small.admin.create(resources.clusterrolebindings, undefined, bound));
    small.advance(1);
    expect(read(small).said).toEqual([
      'Approved: Auto approving kubelet client certificate after SubjectAccessReview.',
    ]);
  });
});

describe('a request that people approved', () => {
  it('against the rules of its signer is failed with the rule, and never signed', () => {
    const small = world();
    const usages = usagesOf('server');
    ask(small, { pem: clientRequest, usages });
    const before: JsonObject = read(small).csr;
    const status = {
      conditions: [{ type: 'Approved', status: 'True', reason: 'x', message: 'y' }],
    };
    small.must(small.admin.update(certificateRequests, { ...before, status }, 'approval'));
    small.advance(1);
    const { csr, said } = read(small);
    expect(said).toEqual(['Approved: y', 'Failed: DNS or IP subjectAltName is required']);
    expect(signingOrderOf(csr)).toBeUndefined();
  });
});

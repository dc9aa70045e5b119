// The kubelets of a life ask for serving certificates in a share of the lives, some with the name
// or address of another node. Never approves a request: the controller does.
import type { WorldClient } from '../../../world/contracts.ts';
import { certificateRequests, nodeManagerUser, type World } from '../../../world/index.ts';
import { microsPerSecond } from '../../../world/kernel/index.ts';
import { certificateGrants } from '../../api/controller-rights.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import { aRequest } from '../../formats/index.ts';
import type { Random } from '../../ports/index.ts';
import { pickOf } from './action.ts';
import { nodes } from './node-causes.ts';

const askingShare = 0.25;
const forgedShare = 0.2;
/** A kubelet asks soon after its node registers. */
const maxDelaySeconds = 20;
const apiGroup = 'rbac.authorization.k8s.io';

const must = (result: { readonly kind: string }): void => {
  if (result.kind === 'error') throw new Error(`refused: ${JSON.stringify(result)}`);
};

const addressOf = (node: JsonObject): string => {
  const { addresses } = objectOr(node.status);
  const all = Array.isArray(addresses) ? addresses.map(objectOr) : [];
  return String(all.find(({ type }) => type === 'InternalIP')?.address ?? '');
};

/** A certificate request of the kubelet of `name`; a forged one uses the names of another node. */
const ask = (world: World, random: Random, name: string): void => {
  const isForged = random.next() < forgedShare;
  const others = [...world.kube.readAll(nodes)].filter(({ metadata }) => metadata.name !== name);
  const other = pickOf(random, others);
  const takesAddress = random.next() < 0.5;
  const own = world.kube.read(nodes, { name });
  if (own === undefined || (isForged && other === undefined)) return;
  const forged = isForged ? other : undefined;
  const addressed = takesAddress ? (forged ?? own) : own;
  const named = takesAddress ? own : (forged ?? own);
  const user = `system:node:${name}`;
  const request = aRequest({
    commonName: user,
    dnsNames: [named.metadata.name],
    ipAddresses: [addressOf(addressed)],
  });
  const kubelet = world.kube.as({
    user: { username: user, groups: ['system:nodes', 'system:authenticated'] },
    userAgent: 'kubelet',
  });
  must(
    kubelet.create(certificateRequests, undefined, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: `csr-${own.metadata.uid}` },
      spec: {
        signerName: 'kubernetes.io/kubelet-serving',
        usages: ['digital signature', 'server auth'],
        request: btoa(request),
      },
    }),
  );
};

/** Returns whether the kubelets of this life ask, and the controller has the right to approve. */
export const askForCertificates = (world: World, user: WorldClient): boolean => {
  const random = world.kernel.random('life.certificates');
  if (random.next() >= askingShare) return false;
  const subject = { apiGroup, kind: 'User', name: nodeManagerUser.username };
  for (const object of certificateGrants('certificates', subject)) {
    const resource = `${String(object.kind).toLowerCase()}s`;
    must(user.create({ group: apiGroup, resource }, undefined, object));
  }
  world.kube.onChange(nodes, ({ type, object }) => {
    if (type !== 'ADDED') return;
    const delay = (1 + random.next() * maxDelaySeconds) * microsPerSecond;
    world.kernel.after(Math.round(delay), () => ask(world, random, object.metadata.name));
  });
  return true;
};

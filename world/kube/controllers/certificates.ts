// Certificate requests: approves those of kubelets as kube-controller-manager and EKS do, and
// refuses to sign what a signer's rules forbid. Never signs: signing needs keys and is done outside
// the world. Upstream: pkg/controller/certificates/approver and signer (1.32).

import { instanceIdOfProviderId } from '../../../src/api/brand.ts';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import {
  asNode,
  controllerIdentity,
  type Identity,
  kubeTime,
  nameOfKey,
  type Outcome,
  resources,
  type Worker,
} from '../actors/index.ts';
import { machineOf } from '../kubelet/index.ts';
import {
  isOurs,
  pemOf,
  refusalOf,
  type SigningRequest,
  signers,
  signingRequestOf,
} from './certificate-rules.ts';
import { type Controller, type ControllerContext, newWorker } from './context.ts';

export const certificateRequests = resources.certificatesigningrequests;
const csrs = certificateRequests;

const conditionsOf = (csr: JsonObject): readonly JsonObject[] => {
  const { conditions } = objectOr(csr.status);
  return Array.isArray(conditions) ? conditions.map(objectOr) : [];
};
const has = (csr: JsonObject, type: string): boolean =>
  conditionsOf(csr).some((one) => one.type === type);
const isIssued = (csr: JsonObject): boolean => Boolean(objectOr(csr.status).certificate);

/** What a signer outside the world needs to sign a request. */
export interface SigningOrder {
  readonly name: string;
  readonly uid: string;
  /** PEM. */
  readonly request: string;
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
}

/** The order for a request that is approved, not yet signed and allowed by its signer's rules. */
export const signingOrderOf = (csr: StoreChange['object']): SigningOrder | undefined => {
  if (!has(csr, 'Approved') || has(csr, 'Denied') || has(csr, 'Failed') || isIssued(csr)) {
    return undefined;
  }
  const asked = signingRequestOf(csr);
  if (asked === undefined || !isOurs(asked.signer) || refusalOf(asked) !== undefined) {
    return undefined;
  }
  const { expirationSeconds } = objectOr(csr.spec);
  return {
    name: csr.metadata.name,
    uid: csr.metadata.uid,
    request: pemOf(csr),
    usages: asked.usages,
    expirationSeconds: typeof expirationSeconds === 'number' ? expirationSeconds : undefined,
  };
};

/** The identity that stores signed certificates: kube-controller-manager's signing controller. */
export const certificateIssuer: Identity = controllerIdentity(
  'certificate-controller',
  'v1.32.9-eks-113cf36',
);

/** A subresource of certificatesigningrequests that the requestor must be allowed to create. */
interface Recognised {
  readonly permission: string;
  readonly message: string;
}

export class CertificateController implements Controller {
  readonly #context: ControllerContext;
  readonly #identity: Identity;
  readonly #client: WorldClient;
  readonly #worker: Worker;
  readonly #approvesKubelets: boolean;

  constructor(context: ControllerContext, approvesKubelets = true) {
    this.#context = context;
    this.#approvesKubelets = approvesKubelets;
    this.#identity = controllerIdentity('certificate-controller', context.version);
    this.#client = context.kube.as(this.#identity);
    this.#worker = newWorker(context, 'certificates', (key) => this.#reconcile(key));
    context.kube.onChange(csrs, ({ type, object }) => {
      if (type !== 'DELETED') this.#worker.mark(object.metadata.name);
    });
    // Permissions to request a node's certificate may change while a request is pending.
    for (const what of [resources.clusterrolebindings, resources.clusterroles, resources.nodes]) {
      context.kube.onChange(what, ({ type }) => {
        if (type === 'ADDED') this.resume();
      });
    }
  }

  resume(): void {
    for (const csr of this.#context.kube.readAll(csrs)) {
      if (!isIssued(csr)) this.#worker.mark(csr.metadata.name);
    }
  }

  #reconcile(key: string): Outcome {
    const csr = this.#context.kube.read(csrs, nameOfKey(key));
    if (csr === undefined || isIssued(csr) || has(csr, 'Denied') || has(csr, 'Failed')) return;
    const asked = signingRequestOf(csr);
    if (asked === undefined || !isOurs(asked.signer)) return;
    if (!has(csr, 'Approved')) {
      return this.#approvesKubelets ? this.#approve(csr, asked) : undefined;
    }
    const why = refusalOf(asked);
    return why === undefined ? undefined : this.#fail(csr, why);
  }

  #approve(csr: JsonObject, asked: SigningRequest): Outcome {
    const recognised = this.#recognise(asked).find(({ permission }) =>
      this.#may(asked, permission),
    );
    if (recognised === undefined) return undefined;
    const { message } = recognised;
    const now = kubeTime(this.#context.kernel.now());
    const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
    return this.#write(csr, 'approval', {
      conditions: [...conditionsOf(csr), { ...approved, lastUpdateTime: now }],
    });
  }

  #fail(csr: JsonObject, message: string): Outcome {
    const now = kubeTime(this.#context.kernel.now());
    const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message };
    return this.#write(csr, 'status', {
      conditions: [
        ...conditionsOf(csr),
        { ...failed, lastUpdateTime: now, lastTransitionTime: now },
      ],
    });
  }

  #write(csr: JsonObject, subresource: 'approval' | 'status', status: JsonObject): Outcome {
    const body = { ...csr, status: { ...objectOr(csr.status), ...status } };
    const written = this.#client.update(csrs, body, subresource);
    return written.kind === 'ok' || written.status.code === 404 ? undefined : 'retry';
  }

  /** What the request may be, strictest first; empty when no approver handles it. */
  #recognise(asked: SigningRequest): readonly Recognised[] {
    if (refusalOf(asked) !== undefined) return [];
    const isOwn = asked.username === asked.request.commonName;
    const after = 'after SubjectAccessReview.';
    if (asked.signer === signers.kubelet) {
      const node = `Auto approving kubelet client certificate ${after}`;
      const self = `Auto approving self kubelet client certificate ${after}`;
      return [
        ...(isOwn ? [{ permission: 'selfnodeclient', message: self }] : []),
        { permission: 'nodeclient', message: node },
      ];
    }
    if (asked.signer !== signers.serving || !isOwn || !this.#isOfItsMachine(asked)) return [];
    const message = `Auto approving self kubelet server certificate ${after}`;
    return [{ permission: 'selfnodeserver', message }];
  }

  /**
   * Compares names and addresses with the instance, never with the node's status, which the node
   * writes itself.
   */
  #isOfItsMachine({ request, username, groups }: SigningRequest): boolean {
    if (!groups.includes('system:nodes') || !groups.includes('system:authenticated')) return false;
    const name = username.slice('system:node:'.length);
    const node = this.#context.kube.read(resources.nodes, { name });
    const providerId = node && asNode(node).spec?.providerID;
    if (providerId === undefined) return false;
    const id = instanceIdOfProviderId(providerId);
    const machine = id === undefined ? undefined : machineOf(this.#context.kernel, id);
    if (machine === undefined || machine.privateDnsName !== name) return false;
    const names = [machine.privateDnsName, machine.privateDnsName.split('.')[0]];
    return (
      request.ipAddresses.every((ip) => ip === machine.privateIp) &&
      request.dnsNames.every((dns) => names.includes(dns.toLowerCase().replace(/\.$/, '')))
    );
  }

  /** A SubjectAccessReview, as kube-controller-manager sends it. */
  #may(asked: SigningRequest, subresource: string): boolean {
    const group = 'certificates.k8s.io';
    const answer = this.#context.kube.handle({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      query: new URLSearchParams(),
      contentType: 'application/json',
      accept: 'application/json',
      body: {
        spec: {
          user: asked.username,
          groups: asked.groups,
          resourceAttributes: {
            group,
            resource: 'certificatesigningrequests',
            verb: 'create',
            subresource,
          },
        },
      },
      ...this.#identity,
      sourceIp: '127.0.0.1',
    });
    return answer.kind === 'object' && objectOr(answer.body.status).allowed === true;
  }
}

// Unanswered certificate signing requests of kubelets. Without its client certificate a kubelet
// with a bootstrap token registers no node; without its serving certificate its logs cannot be
// read. Pure.
import { parseTime } from '../../api/brand.ts';
import type { KubeObject } from '../../api/kube.ts';
import { parseCertificateRequest } from '../../formats/index.ts';
import { kubeletSigners } from '../identity/index.ts';
import type { JoinCause, JoiningInstance, UnansweredRequest } from './joining-evidence.ts';

const remedyOf = ({ name, isDenied }: UnansweredRequest): readonly string[] =>
  isDenied
    ? [
        `$ kubectl delete csr ${name}`,
        'The kubelet sends a new request; find out first who denied it, and why',
      ]
    : [
        `$ kubectl describe csr ${name}`,
        '`drover controller --approve-certificates` approves what is the instance’s own; an ' +
          'event on the ' +
          'request says why it does not',
      ];

const word = ({ isDenied }: UnansweredRequest): string => (isDenied ? 'denied' : 'pending');

/** Requests have times in whole seconds, launches in milliseconds. */
const secondMs = 1000;

/**
 * Whether it belongs to an earlier instance of that name: requests outlive their kubelets by a day.
 */
const isOfAnother = ({ since }: UnansweredRequest, launchTime: string | undefined): boolean => {
  const [asked, launched] = [parseTime(since), parseTime(launchTime)];
  return asked !== undefined && launched !== undefined && asked + secondMs <= launched;
};

export const requestCause = (instance: JoiningInstance): JoinCause | undefined => {
  const { node, requests = [], instanceId, launchTime } = instance;
  const kind = node === undefined ? 'client' : 'serving';
  const request = requests.findLast((one) => one.kind === kind && !isOfAnother(one, launchTime));
  if (request === undefined) return undefined;
  const { name, since } = request;
  return {
    code: request.isDenied ? 'CertificateDenied' : 'CertificatePending',
    certainty: kind === 'client' ? 'shown' : 'possible',
    what:
      kind === 'client'
        ? `its request for a client certificate is ${word(request)}: the kubelet registers no node`
        : `its request for a serving certificate is ${word(request)}: logs and exec of its ` +
          'pods fail',
    evidence: [`certificate request ${name} of ${instanceId}: ${word(request)} since ${since}`],
    remedy: remedyOf(request),
    instances: [instanceId],
  };
};

/** As defined in certificates.k8s.io/v1. */
export interface SigningRequest extends KubeObject {
  readonly spec: { readonly request: string; readonly signerName: string };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string }[];
    readonly certificate?: string;
  };
}

const nodeOf = ({ spec }: SigningRequest): string | undefined => {
  try {
    const parsed = parseCertificateRequest(atob(spec.request));
    const name = parsed.kind === 'ok' ? parsed.request.commonName : '';
    return /^system:node:(.+)$/.exec(name)?.[1];
  } catch {
    return undefined;
  }
};

const kinds: Readonly<Record<string, UnansweredRequest['kind']>> = {
  [kubeletSigners.client]: 'client',
  [kubeletSigners.serving]: 'serving',
};

/**
 * The unanswered requests by node name, oldest first. A kubelet without an answer, or with a
 * denial, sends a new request, so only the newest one per node and signer counts.
 */
export const unansweredRequests = (
  items: readonly SigningRequest[],
): ReadonlyMap<string, readonly UnansweredRequest[]> => {
  const newest = new Map<string, { node: string; request: UnansweredRequest | undefined }>();
  const age = ({ metadata }: SigningRequest): string => metadata.creationTimestamp ?? '';
  for (const csr of items.toSorted((a, b) => (age(a) < age(b) ? -1 : age(a) > age(b) ? 1 : 0))) {
    const kind = kinds[csr.spec.signerName];
    const node = kind === undefined ? undefined : nodeOf(csr);
    if (kind === undefined || node === undefined) continue;
    const types = (csr.status?.conditions ?? []).map(({ type }) => type);
    const isDenied = types.includes('Denied');
    const isAnswered = types.includes('Approved') || csr.status?.certificate !== undefined;
    const request = { name: csr.metadata.name, kind, isDenied, since: age(csr) };
    // Deleted first, because a map keeps the position of an existing key.
    newest.delete(`${kind} ${node}`);
    newest.set(`${kind} ${node}`, { node, request: isAnswered ? undefined : request });
  }
  const found = new Map<string, UnansweredRequest[]>();
  for (const { node, request } of newest.values()) {
    if (request !== undefined) found.set(node, [...(found.get(node) ?? []), request]);
  }
  return found;
};

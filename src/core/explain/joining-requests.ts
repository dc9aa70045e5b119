// Certificate requests of kubelets that nobody has answered: without its client certificate a kubelet that
// came with a bootstrap token registers no node, without the one for serving nobody reads its logs. Pure.
import type { KubeObject } from '../../api/kube.ts';
import { parseCertificateRequest } from '../../formats/index.ts';
import { kubeletSigners } from '../identity/index.ts';
import type { JoinCause, JoiningInstance, UnansweredRequest } from './joining-evidence.ts';

const remedyOf = ({ name, isDenied }: UnansweredRequest): readonly string[] =>
  isDenied
    ? [`$ kubectl delete csr ${name}`, 'The kubelet asks anew; see first who denied it, and why']
    : [
        `$ kubectl describe csr ${name}`,
        '`drover controller --approve-certificates` approves what is the instance’s own; an event on the ' +
          'request says why it does not',
      ];

const word = ({ isDenied }: UnansweredRequest): string => (isDenied ? 'denied' : 'pending');

export const requestCause = (instance: JoiningInstance): JoinCause | undefined => {
  const { node, requests = [], instanceId } = instance;
  const kind = node === undefined ? 'client' : 'serving';
  const request = requests.find((one) => one.kind === kind);
  if (request === undefined) return undefined;
  const { name, since } = request;
  return {
    code: request.isDenied ? 'CertificateDenied' : 'CertificatePending',
    certainty: kind === 'client' ? 'shown' : 'possible',
    what:
      kind === 'client'
        ? `its request for a client certificate is ${word(request)}: the kubelet registers no node`
        : `its request for a serving certificate is ${word(request)}: logs and exec of its pods fail`,
    evidence: [`certificate request ${name} of ${instanceId}: ${word(request)} since ${since}`],
    remedy: remedyOf(request),
    instances: [instanceId],
  };
};

/** As certificates.k8s.io/v1 has it. */
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

/** Those that are evidence, by node name, oldest first. */
export const unansweredRequests = (
  items: readonly SigningRequest[],
): ReadonlyMap<string, readonly UnansweredRequest[]> => {
  const found = new Map<string, UnansweredRequest[]>();
  const age = ({ metadata }: SigningRequest): string => metadata.creationTimestamp ?? '';
  for (const csr of items.toSorted((a, b) => (age(a) < age(b) ? -1 : 1))) {
    const kind = kinds[csr.spec.signerName];
    const types = (csr.status?.conditions ?? []).map(({ type }) => type);
    const isDenied = types.includes('Denied');
    const isAnswered = types.includes('Approved') || csr.status?.certificate !== undefined;
    const node = kind === undefined || isAnswered ? undefined : nodeOf(csr);
    if (kind === undefined || node === undefined) continue;
    const request = { name: csr.metadata.name, kind, isDenied, since: age(csr) };
    found.set(node, [...(found.get(node) ?? []), request]);
  }
  return found;
};

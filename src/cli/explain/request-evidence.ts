// Which certificate requests of kubelets have had no answer, by the node that they name. Reads only.
import { type KubeObject, resourceTypes } from '../../api/kube.ts';
import type { UnansweredRequest } from '../../core/explain/index.ts';
import { kubeletSigners } from '../../core/identity/index.ts';
import { parseCertificateRequest } from '../../formats/index.ts';
import { type KubeApi, KubeError } from '../../ports/index.ts';

interface SigningRequest extends KubeObject {
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

/** By node name, oldest first; undefined: they may not be read. */
export const gatherRequests = async (
  kube: KubeApi,
): Promise<ReadonlyMap<string, readonly UnansweredRequest[]> | undefined> => {
  try {
    const { items } = await kube.list<SigningRequest>(resourceTypes.certificatesigningrequests);
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
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
};

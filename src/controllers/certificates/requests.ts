// Parses CertificateSigningRequests into the input of core's decision. Judges nothing.
import { parseTime } from '../../api/brand.ts';
import type { KubeObject } from '../../api/kube.ts';
import { type KubeletRequest, kubeletSigners, nodeNameOf } from '../../core/identity/index.ts';
import { parseCertificateRequest } from '../../formats/index.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastUpdateTime?: string;
}

export interface SigningRequest extends KubeObject {
  readonly spec: {
    /** PEM in base64. */
    readonly request: string;
    readonly signerName: string;
    readonly username?: string;
    readonly groups?: readonly string[];
    readonly usages?: readonly string[];
    readonly expirationSeconds?: number;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly certificate?: string;
  };
}

const signers: readonly string[] = Object.values(kubeletSigners);

export const isKubelets = ({ spec }: SigningRequest): boolean => signers.includes(spec.signerName);

export const isPending = ({ status }: SigningRequest): boolean =>
  (status?.conditions ?? []).length === 0 && status?.certificate === undefined;

export const approvedAt = ({ status, metadata }: SigningRequest): number | undefined => {
  const found = (status?.conditions ?? []).find(({ type }) => type === 'Approved');
  return found && parseTime(found.lastUpdateTime ?? metadata.creationTimestamp);
};

const contentOf = ({ spec }: SigningRequest): KubeletRequest['content'] => {
  let pem: string;
  try {
    pem = atob(spec.request);
  } catch {
    return undefined;
  }
  const parsed = parseCertificateRequest(pem);
  return parsed.kind === 'ok' ? parsed.request : undefined;
};

export const readRequest = (csr: SigningRequest, now: number): KubeletRequest => {
  const { spec, metadata } = csr;
  return {
    signer: spec.signerName,
    username: spec.username ?? '',
    groups: spec.groups ?? [],
    usages: spec.usages ?? [],
    expirationSeconds: spec.expirationSeconds,
    createdAt: (parseTime(metadata.creationTimestamp) ?? now) as KubeletRequest['createdAt'],
    content: contentOf(csr),
  };
};

/** Key of the limits on requests: signer and node. Empty for a request that is not of a kubelet. */
export const ownerKey = (csr: SigningRequest): string => {
  const node = isKubelets(csr) ? nodeNameOf(contentOf(csr)) : undefined;
  return node === undefined ? '' : `${csr.spec.signerName} ${node}`;
};

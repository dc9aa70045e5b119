// The rules of the cluster's signers for certificate requests, with upstream's messages. Upstream:
// pkg/apis/certificates/helpers.go, pkg/controller/certificates/signer (1.32). Never signs.

import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { type CertificateRequest, parseCertificateRequest } from '../../../src/formats/index.ts';

export const signers = {
  serving: 'kubernetes.io/kubelet-serving',
  kubelet: 'kubernetes.io/kube-apiserver-client-kubelet',
  client: 'kubernetes.io/kube-apiserver-client',
} as const;

export interface SigningRequest {
  readonly signer: string;
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly request: CertificateRequest;
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** The PEM text of a CertificateSigningRequest; empty when it is not base64. */
export const pemOf = (csr: JsonObject): string => {
  try {
    return atob(String(objectOr(csr.spec).request ?? ''));
  } catch {
    return '';
  }
};

/** Undefined when the request cannot be parsed. */
export const signingRequestOf = (csr: JsonObject): SigningRequest | undefined => {
  const { signerName, username, groups, usages } = objectOr(csr.spec);
  const parsed = parseCertificateRequest(pemOf(csr));
  if (parsed.kind === 'error') return undefined;
  return {
    signer: String(signerName ?? ''),
    username: String(username ?? ''),
    groups: textsOf(groups),
    usages: textsOf(usages),
    request: parsed.request,
  };
};

const nodePrefix = 'system:node:';
const encipherment = 'key encipherment';

const hasExactly = (usages: readonly string[], wanted: readonly string[]): boolean => {
  const rest = new Set(usages.filter((usage) => usage !== encipherment));
  return rest.size === wanted.length && wanted.every((usage) => rest.has(usage));
};

const notNode = ({ organisations, commonName }: CertificateRequest): string | undefined => {
  if (organisations.length !== 1 || organisations[0] !== 'system:nodes') {
    return 'subject organization is not system:nodes';
  }
  return commonName.startsWith(nodePrefix)
    ? undefined
    : 'subject common name does not begin with system:node:';
};

const notKubeletServing = ({ request, usages }: SigningRequest): string | undefined => {
  const { dnsNames, ipAddresses, emailAddresses, uris } = request;
  const wrong = notNode(request);
  if (wrong !== undefined) return wrong;
  if (dnsNames.length + ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (uris.length > 0) return 'URI subjectAltNames are not allowed';
  return hasExactly(usages, ['digital signature', 'server auth'])
    ? undefined
    : `usages did not match [digital signature server auth] or with [${encipherment}]`;
};

const notKubeletClient = ({ request, usages }: SigningRequest): string | undefined => {
  const wrong = notNode(request);
  if (wrong !== undefined) return wrong;
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return hasExactly(usages, ['digital signature', 'client auth'])
    ? undefined
    : `usages did not match [digital signature client auth] or with [${encipherment}]`;
};

const notClient = ({ usages }: SigningRequest): string | undefined => {
  const allowed = ['client auth', 'digital signature', encipherment];
  const other = usages.find((usage) => !allowed.includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes('client auth')
    ? undefined
    : 'missing required usage for client certificate: client auth';
};

const rules: Readonly<Record<string, (asked: SigningRequest) => string | undefined>> = {
  [signers.serving]: notKubeletServing,
  [signers.kubelet]: notKubeletClient,
  [signers.client]: notClient,
};

/** Whether one of the cluster's own signers handles it; other signers run outside the cluster. */
export const isOurs = (signer: string): boolean => signer in rules;

/** Why the signer refuses the request; undefined when it may be signed. */
export const refusalOf = (asked: SigningRequest): string | undefined =>
  rules[asked.signer]?.(asked);

// Certificate requests: the request, never its body, determines the requestor. Validates content
// with the API server's messages (pkg/apis/certificates/validation, certificate admission, 1.32).
import type { JsonObject } from '../../../../src/api/json.ts';
import { parseCertificateRequest } from '../../../../src/formats/index.ts';
import { values } from '../../schema/index.ts';
import type { Strategy } from '../definition.ts';
import { metadataOf, numberOf, specOf, textOf, textsOf, withFields } from '../objects.ts';
import {
  type FieldError,
  forbidden,
  immutableField,
  invalidValue,
  requiredValue,
} from '../status.ts';

const csrs = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' };
const clientSigner = 'kubernetes.io/kube-apiserver-client';
const shortestSeconds = 600;

const parsed = (spec: JsonObject): ReturnType<typeof parseCertificateRequest> => {
  try {
    return parseCertificateRequest(atob(textOf(spec.request) ?? ''));
  } catch {
    return parseCertificateRequest('');
  }
};

/**
 * CertificateSubjectRestriction admission: a certificate cannot make its holder an administrator.
 */
const refuseMasters = (csr: JsonObject): void => {
  const spec = specOf(csr);
  if (spec.signerName !== clientSigner) return;
  const read = parsed(spec);
  if (read.kind === 'error' || !read.request.organisations.includes('system:masters')) return;
  const why = `use of ${clientSigner} signer with system:masters group is not allowed`;
  throw forbidden(csrs, textOf(metadataOf(csr).name) ?? '', why);
};

const validate = (csr: JsonObject): readonly FieldError[] => {
  const spec = specOf(csr);
  const errors: FieldError[] = [];
  const read = parsed(spec);
  if (read.kind === 'error') {
    errors.push(invalidValue('spec.request', spec.request ?? null, read.message));
  }
  if (textsOf(spec.usages).length === 0) errors.push(requiredValue('spec.usages'));
  const signer = textOf(spec.signerName) ?? '';
  if (signer === '') errors.push(requiredValue('spec.signerName'));
  else if (!/^[a-z0-9.-]+\.[a-z0-9-]+\/.+$/.test(signer)) {
    const message =
      "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    errors.push(invalidValue('spec.signerName', signer, message));
  }
  const seconds = numberOf(spec.expirationSeconds);
  if (seconds !== undefined && seconds < shortestSeconds) {
    const message = `may not specify a duration less than ${shortestSeconds} seconds (10 minutes)`;
    errors.push(invalidValue('spec.expirationSeconds', seconds, message));
  }
  return errors;
};

export const csrStrategy: Strategy = {
  prepareForCreate: (csr, { user }) => {
    refuseMasters(csr);
    return {
      ...csr,
      spec: withFields(specOf(csr), {
        username: user.username,
        uid: user.uid,
        groups: user.groups,
        extra: user.extra,
      }),
    };
  },
  validate,
  validateUpdate: (next, old) =>
    values.deepEqual(specOf(next), specOf(old)) ? [] : [immutableField('spec', specOf(next))],
};

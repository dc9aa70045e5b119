// The wording of each service's refusals: codes for a malformed value, a violated constraint, a
// wrong signature, an unknown action. Decides only wording, never whether to refuse.
import { AwsError } from './aws-error.ts';
import { abbreviate } from './scalar.ts';
import type { ServiceEntry } from './services.ts';

/** A violated constraint of the model. `path` is in AWS's form: `tags.1.member.key`. */
export interface Violation {
  readonly path: string;
  /** The innermost member's name as sent, for services that print only that. */
  readonly field: string;
  readonly kind: 'required' | 'length' | 'range' | 'pattern' | 'enum' | 'union';
  /** The offending value as AWS prints it; undefined when it must not be printed. */
  readonly shown: string | undefined;
  /** `Member must ...` */
  readonly constraint: string;
  readonly shape: string;
}

const SHOWN_VIOLATIONS_MAX = 10;

/** A value or body that is unreadable. */
export function malformed(service: ServiceEntry, message: string): AwsError {
  const code = {
    query: 'MalformedInput',
    ec2: 'InvalidParameterValue',
    json: 'SerializationException',
    'rest-json': 'SerializationException',
  }[service.protocol];
  return new AwsError({ code, message });
}

/** A readable input that violates constraints; `violations` is not empty. */
export function invalid(service: ServiceEntry, violations: readonly Violation[]): AwsError {
  const first = violations[0];
  if (first === undefined) throw new Error('no violations');
  if (service.name === 'ec2') return invalidEc2(first);
  if (service.name === 'sqs') return invalidSqs(first);
  const code = CONSTRAINT_CODES[service.name] ?? CONSTRAINT_CODE_BY_PROTOCOL[service.protocol];
  return new AwsError({ code: code ?? 'ValidationException', message: describe(violations) });
}

/** Services that do not use their protocol's usual code for violated constraints. */
const CONSTRAINT_CODES: Readonly<Record<string, string>> = {
  eks: 'InvalidParameterException',
  logs: 'InvalidParameterException',
  sns: 'InvalidParameter',
};
const CONSTRAINT_CODE_BY_PROTOCOL: Readonly<Record<string, string>> = {
  query: 'ValidationError',
};

/** The message of AWS's shared validation layer, for one or several violations. */
function describe(violations: readonly Violation[]): string {
  const count = violations.length;
  const head = `${count} validation error${count === 1 ? '' : 's'} detected: `;
  const parts = violations.slice(0, SHOWN_VIOLATIONS_MAX).map((violation) => {
    const shown = violation.shown === undefined ? '' : ` ${abbreviate(violation.shown)}`;
    const { path, constraint } = violation;
    return `Value${shown} at '${path}' failed to satisfy constraint: ${constraint}`;
  });
  return head + parts.join('; ');
}

function invalidEc2(violation: Violation): AwsError {
  const parameter = violation.field;
  if (violation.kind === 'required') {
    return new AwsError({
      code: 'MissingParameter',
      message: `The request must contain the parameter ${parameter}`,
    });
  }
  const shown = violation.shown === undefined ? '' : ` (${abbreviate(violation.shown)})`;
  return new AwsError({
    code: 'InvalidParameterValue',
    message: `Value${shown} for parameter ${parameter} is invalid. ${violation.constraint}.`,
  });
}

function invalidSqs(violation: Violation): AwsError {
  if (violation.kind === 'required') {
    return new AwsError({
      code: 'MissingParameter',
      message: `The request must contain the parameter ${violation.field}.`,
    });
  }
  if (['QueueAttributeName', 'MessageSystemAttributeName'].includes(violation.shape)) {
    const name = (violation.shown ?? '').replace(/^'|'$/g, '');
    return new AwsError({ code: 'InvalidAttributeName', message: `Unknown Attribute ${name}.` });
  }
  return new AwsError({ code: 'InvalidParameterValue', message: describe([violation]) });
}

export function unknownOperation(service: ServiceEntry, asked: string): AwsError {
  const what = abbreviate(asked);
  switch (service.protocol) {
    case 'query':
      return new AwsError({
        code: 'InvalidAction',
        message: `Could not find operation ${what} for version ${service.apiVersion}`,
      });
    case 'ec2':
      return new AwsError({
        code: 'InvalidAction',
        message: `The action ${what} is not valid for this web service.`,
      });
    case 'json':
      return new AwsError({
        code: 'UnknownOperationException',
        message: `${service.name} has no operation ${what}.`,
      });
    default:
      return new AwsError({
        code: 'UnknownOperationException',
        message: `${service.name} has no operation at ${what}.`,
        httpStatus: 404,
      });
  }
}

export type AuthFault = 'missing' | 'incomplete' | 'unknown-key' | 'wrong-signature';

const AUTH_CODES: Readonly<Record<AuthFault, { readonly query: string; readonly json: string }>> = {
  missing: { query: 'MissingAuthenticationToken', json: 'MissingAuthenticationTokenException' },
  incomplete: { query: 'IncompleteSignature', json: 'IncompleteSignatureException' },
  'unknown-key': { query: 'InvalidClientTokenId', json: 'UnrecognizedClientException' },
  'wrong-signature': { query: 'SignatureDoesNotMatch', json: 'InvalidSignatureException' },
};

/** `protocol` and `name` of an unmodelled service are unknown: uses the query codes. */
export function unauthenticated(
  service: ServiceEntry | undefined,
  fault: AuthFault,
  detail?: string,
): AwsError {
  if (service?.name === 'ec2' && (fault === 'unknown-key' || fault === 'wrong-signature')) {
    // Only EC2 does not report which half of the credentials was wrong.
    return new AwsError({
      code: 'AuthFailure',
      message: 'AWS was not able to validate the provided access credentials',
      httpStatus: 401,
    });
  }
  const isJson = service?.protocol === 'rest-json' || service?.protocol === 'json';
  // SQS kept its query codes when it moved to JSON (awsQueryCompatible).
  const code = AUTH_CODES[fault][isJson && service?.name !== 'sqs' ? 'json' : 'query'];
  const message = {
    missing: 'Request is missing Authentication Token',
    incomplete: detail ?? 'The request signature is incomplete.',
    'unknown-key': 'The security token included in the request is invalid.',
    'wrong-signature': detail ?? 'The request signature we calculated does not match.',
  }[fault];
  return new AwsError({ code, message, httpStatus: 403 });
}

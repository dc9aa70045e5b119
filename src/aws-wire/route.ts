// Finds the service of a request: by the SigV4 credential scope or, if unsigned, by target header
// or API version. Names no operation and reads no model.
import type { HttpRequest } from '../api/http.ts';
import {
  type ServiceEntry,
  serviceByApiVersion,
  serviceBySigningName,
  serviceByTargetPrefix,
} from './services.ts';
import type { Credentials } from './sigv4.ts';

export interface Route {
  /** A modelled service, or a placeholder with the protocol that the caller seems to use. */
  readonly service: ServiceEntry;
  readonly isKnown: boolean;
}

/** Services outside the world whose clients read XML although they send no form. */
const XML_SERVICES = new Set(['s3', 's3express', 's3-outposts', 'route53', 'cloudfront']);

export function isForm(request: HttpRequest): boolean {
  const type = request.headers['content-type'] ?? '';
  return type.startsWith('application/x-www-form-urlencoded');
}

export function routeOf(request: HttpRequest, credentials: Credentials): Route {
  const signingName = credentials.kind === 'none' ? undefined : credentials.service;
  const known =
    (signingName === undefined
      ? undefined
      : serviceBySigningName(signingName, versionOf(request))) ??
    (signingName === undefined ? (byTarget(request) ?? byVersion(request)) : undefined) ??
    (signingName === undefined ? byPath(request) : undefined);
  if (known !== undefined) return { service: known, isKnown: true };
  return { service: standIn(request, signingName ?? 'unknown'), isKnown: false };
}

function byTarget(request: HttpRequest): ServiceEntry | undefined {
  const target = request.headers['x-amz-target'];
  if (target === undefined) return undefined;
  return serviceByTargetPrefix(target.slice(0, target.lastIndexOf('.')));
}

function byVersion(request: HttpRequest): ServiceEntry | undefined {
  const version = versionOf(request);
  return version === undefined ? undefined : serviceByApiVersion(version);
}

/** The `Version` of a form, in the URL or in the body. */
function versionOf(request: HttpRequest): string | undefined {
  const inUrl = new URLSearchParams(request.query).get('Version');
  return inUrl ?? (isForm(request) ? formOf(request).get('Version') : null) ?? undefined;
}

/** Only EKS among the modelled services has paths; these start with a few known words. */
function byPath(request: HttpRequest): ServiceEntry | undefined {
  return /^\/(clusters|addons|tags|cluster-versions|access-policies)(\/|$)/.test(request.path)
    ? serviceBySigningName('eks')
    : undefined;
}

function formOf(request: HttpRequest): URLSearchParams {
  return new URLSearchParams(new TextDecoder().decode(request.body));
}

function standIn(request: HttpRequest, name: string): ServiceEntry {
  const base = { name, signingName: name, apiVersion: '' };
  const isJson =
    request.headers['x-amz-target'] !== undefined ||
    (request.headers['content-type'] ?? '').startsWith('application/x-amz-json');
  if (isJson) return { ...base, protocol: 'json', jsonVersion: '1.1' };
  const isXml = isForm(request) || XML_SERVICES.has(name);
  return { ...base, protocol: isXml ? 'query' : 'rest-json' };
}

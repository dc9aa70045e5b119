// Tokens of service accounts: issues them for `kubectl create token` and kubelets, and identifies
// their holder. They look like a cluster's JSON web tokens and are looked up, not verified: no key
// signs here. Upstream: pkg/registry/core/serviceaccount/storage/token.go, pkg/serviceaccount
// (1.32).
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { ApiRequest, UserInfo } from '../../contracts.ts';
import { type Kernel, type Micros, microsPerSecond, type Table, uuid } from '../../kernel/index.ts';
import { dryRunOf } from './deletion.ts';
import { kubeTime, numberOf, type Stored, specOf, textOf, textsOf } from './objects.ts';
import {
  badRequest,
  conflict,
  type FieldError,
  invalid,
  invalidValue,
  methodNotAllowed,
  notFound,
  unsupportedValue,
} from './status.ts';
import { objectKey, type Store } from './store.ts';

const group = 'authentication.k8s.io';
const accounts = { group: '', resource: 'serviceaccounts' };
const issuer = 'https://kubernetes.default.svc';
const standardSeconds = 3600;
const shortestSeconds = 600;
const longestSeconds = 2 ** 32;
/** Size of an RSA signature with 2048 bits. */
const signatureBytes = 256;

const boundKinds: Readonly<
  Record<string, { readonly resource: string; readonly spaced: boolean }>
> = {
  Pod: { resource: 'pods', spaced: true },
  Secret: { resource: 'secrets', spaced: true },
  Node: { resource: 'nodes', spaced: false },
};

interface Bound extends JsonObject {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

interface Row extends JsonObject {
  readonly token: string;
  readonly namespace: string;
  readonly account: string;
  readonly uid: string;
  readonly until: Micros;
  /** Whether this API server is among the audiences. */
  readonly ours: boolean;
  readonly bound: Bound | null;
  /** Extra user information of the holder. */
  readonly extra?: JsonObject;
}

const base64Url = (binary: string): string =>
  btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const encoded = (part: JsonObject): string => base64Url(JSON.stringify(part));

const payloadOf = (token: string): JsonObject => {
  const text = token.split('.')[1] ?? '';
  try {
    return objectOr(JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '/'))) as Json);
  } catch {
    return {};
  }
};

const durationErrors = (seconds: number): readonly FieldError[] => {
  const at = 'spec.expirationSeconds';
  if (seconds < shortestSeconds) {
    return [invalidValue(at, seconds, 'may not specify a duration less than 10 minutes')];
  }
  return seconds > longestSeconds
    ? [invalidValue(at, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : [];
};

export class Tokens {
  readonly #kernel: Kernel;
  readonly #store: Store;
  readonly #table: Table<Row>;

  constructor(kernel: Kernel, store: Store) {
    this.#kernel = kernel;
    this.#store = store;
    this.#table = kernel.tables.open<Row>('kube.tokens');
  }

  /** The answer to a TokenRequest for `account`. */
  issue(account: Stored, { method, body, query }: ApiRequest): JsonObject {
    if (method !== 'POST') throw methodNotAllowed(accounts, method.toLowerCase());
    if (!isObject(body)) throw badRequest('the body of the request must be a TokenRequest');
    const spec = specOf(body);
    const seconds = numberOf(spec.expirationSeconds) ?? standardSeconds;
    const bound = this.#bound(account, spec);
    const errors = durationErrors(seconds);
    if (errors.length > 0) throw invalid({ group, kind: 'TokenRequest' }, '', errors);
    const asked = textsOf(spec.audiences);
    const audiences = asked.length === 0 ? [issuer] : asked;
    const until = this.#kernel.now() + seconds * microsPerSecond;
    const id = uuid(this.#kernel.random('kube.tokens'));
    const token = this.#token(account, { id, audiences, until, bound });
    const { name, namespace = '', uid } = account.metadata;
    if (!dryRunOf(query.getAll('dryRun'))) {
      this.#prune();
      const ours = audiences.includes(issuer);
      const extra = this.#extra(namespace, bound);
      this.#table.put(id, { token, namespace, account: name, uid, until, ours, bound, extra });
    }
    return {
      kind: 'TokenRequest',
      apiVersion: `${group}/v1`,
      metadata: { name, namespace, creationTimestamp: kubeTime(this.#kernel.now()) },
      spec: {
        audiences,
        expirationSeconds: seconds,
        boundObjectRef: bound === null ? null : { ...bound, apiVersion: 'v1' },
      },
      status: { token, expirationTimestamp: kubeTime(until) },
    };
  }

  /** The user that a token authenticates at this API server. */
  userOf(token: string): UserInfo | undefined {
    const row = this.#table.get(textOf(payloadOf(token).jti) ?? '');
    return row?.ours === true ? this.#holder(token) : undefined;
  }

  /** The status of a TokenReview; `asked`: the token must be for one of these audiences. */
  review(token: string, asked: readonly string[]): JsonObject {
    const user = this.#holder(token);
    if (user === undefined) return { user: {}, error: 'invalid bearer token' };
    const wanted = asked.length === 0 ? [issuer] : asked;
    const own = textsOf(payloadOf(token).aud);
    const audiences = wanted.filter((one) => own.includes(one));
    if (audiences.length === 0) {
      const [has, wants] = [own, wanted].map((list) => list.map((one) => `"${one}"`).join(' '));
      const why = `token audiences [${has}] is invalid for the target audiences [${wants}]`;
      return { user: {}, error: `[invalid bearer token, ${why}]` };
    }
    const { username, uid = '', groups, extra = {} } = user;
    return { authenticated: true, user: { username, uid, groups, extra }, audiences };
  }

  /** Undefined once the token has expired, or its account or bound object is deleted. */
  #holder(token: string): UserInfo | undefined {
    const row = this.#table.get(textOf(payloadOf(token).jti) ?? '');
    if (row === undefined || row.token !== token) return undefined;
    if (row.until <= this.#kernel.now()) return undefined;
    const { namespace, account, uid, bound } = row;
    const found = this.#store.get(accounts, objectKey(namespace, account));
    if (found?.metadata.uid !== uid) return undefined;
    if (bound !== null && this.#find(bound, namespace)?.metadata.uid !== bound.uid)
      return undefined;
    return {
      username: `system:serviceaccount:${namespace}:${account}`,
      uid,
      groups: [
        'system:serviceaccounts',
        `system:serviceaccounts:${namespace}`,
        'system:authenticated',
      ],
      extra: {
        'authentication.kubernetes.io/credential-id': [`JTI=${textOf(payloadOf(token).jti)}`],
        ...(row.extra as UserInfo['extra']),
      },
    };
  }

  /** The pod that a token is bound to, and that pod's node at the time of issue. */
  #extra(namespace: string, bound: Bound | null): JsonObject {
    const about = (kind: string, { name, uid }: { name: string; uid: string }): JsonObject => ({
      [`authentication.kubernetes.io/${kind}-name`]: [name],
      [`authentication.kubernetes.io/${kind}-uid`]: [uid],
    });
    if (bound?.kind === 'Node') return about('node', bound);
    if (bound?.kind !== 'Pod') return {};
    const pod = this.#find(bound, namespace);
    const nodeName = textOf(specOf(pod ?? {}).nodeName) ?? '';
    const node = this.#find({ kind: 'Node', name: nodeName }, namespace);
    return { ...about('pod', bound), ...(node === undefined ? {} : about('node', node.metadata)) };
  }

  #find({ kind, name }: Pick<Bound, 'kind' | 'name'>, namespace: string): Stored | undefined {
    const of = boundKinds[kind];
    if (of === undefined) return undefined;
    const key = objectKey(of.spaced ? namespace : undefined, name);
    return this.#store.get({ group: '', resource: of.resource }, key);
  }

  /** The stored object whose deletion invalidates the token. */
  #bound(account: Stored, spec: JsonObject): Bound | null {
    if (!isObject(spec.boundObjectRef)) return null;
    const { kind = '', name = '', uid = '' } = spec.boundObjectRef;
    const of = boundKinds[String(kind)];
    if (of === undefined) {
      const kinds = Object.keys(boundKinds);
      const error = unsupportedValue('spec.boundObjectRef.kind', kind, kinds);
      throw invalid({ group, kind: 'TokenRequest' }, '', [error]);
    }
    const resource = { group: '', resource: of.resource };
    const wanted = { kind: String(kind), name: String(name) };
    const found = this.#find(wanted, account.metadata.namespace ?? '');
    if (found === undefined) throw notFound(resource, wanted.name);
    if (uid !== '' && uid !== found.metadata.uid) {
      const why =
        `the UID in the bound object reference (${String(uid)}) does not match the UID in ` +
        'record. ' +
        'The object might have been deleted and then recreated';
      throw conflict(resource, wanted.name, why);
    }
    if (of.resource === 'pods' && specOf(found).serviceAccountName !== account.metadata.name) {
      throw badRequest(
        `cannot bind token for serviceaccount "${account.metadata.name}" to pod running with ` +
          'different serviceaccount name.',
      );
    }
    return { ...wanted, uid: found.metadata.uid };
  }

  #token(
    { metadata: { name, namespace = '', uid } }: Stored,
    of: {
      readonly id: string;
      readonly audiences: readonly string[];
      readonly until: Micros;
      readonly bound: Bound | null;
    },
  ): string {
    const now = Math.floor(this.#kernel.now() / microsPerSecond);
    const { bound } = of;
    const claims = {
      aud: of.audiences,
      exp: Math.floor(of.until / microsPerSecond),
      iat: now,
      iss: issuer,
      jti: of.id,
      'kubernetes.io': {
        namespace,
        ...(bound === null
          ? {}
          : { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
        serviceaccount: { name, uid },
      },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const random = this.#kernel.random('kube.tokens');
    const bytes = Array.from({ length: signatureBytes }, () => random.below(256));
    const signature = base64Url(String.fromCharCode(...bytes));
    return `${encoded({ alg: 'RS256', kid: 'world' })}.${encoded(claims)}.${signature}`;
  }

  #prune(): void {
    const now = this.#kernel.now();
    for (const [id, { until }] of [...this.#table.entries()]) {
      if (until <= now) this.#table.delete(id);
    }
  }
}

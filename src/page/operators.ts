// Who owns a bearer token and what that user may do: a TokenReview, then one SubjectAccessReview
// for each right. Nothing is cached between two questions.
import { isObject, type Json, type JsonObject, objectOr } from '../api/json.ts';
import type { ResourceType } from '../api/kube.ts';
import { type KubeApi, KubeError } from '../ports/index.ts';

const tokenReviews: ResourceType = {
  group: 'authentication.k8s.io',
  version: 'v1',
  resource: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
};
const accessReviews: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};

export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name?: string;
}

export interface Operator {
  readonly username: string;
  readonly groups: readonly string[];
}

export type Verdict =
  | { readonly kind: 'ok'; readonly operator: Operator }
  | { readonly kind: 'error'; readonly status: number; readonly message: string };

/** What the page shows. */
export const readRights: readonly Right[] = [
  { verb: 'list', group: '', resource: 'nodes' },
  { verb: 'list', group: '', resource: 'pods' },
  { verb: 'list', group: 'policy', resource: 'poddisruptionbudgets' },
  { verb: 'list', group: 'drover.dev', resource: 'nodegroups' },
  { verb: 'list', group: 'drover.dev', resource: 'nodegroupupdates' },
  { verb: 'list', group: 'drover.dev', resource: 'nodedisruptions' },
  { verb: 'list', group: 'drover.dev', resource: 'noderepairs' },
];

/** A request to an update is a patch of it. */
export const actRights = (name: string): readonly Right[] => [
  { verb: 'patch', group: 'drover.dev', resource: 'nodegroupupdates', name },
];

const textsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

const statusOf = (review: unknown): JsonObject => objectOr(objectOr(review as Json).status);

const identify = async (kube: KubeApi, token: string): Promise<JsonObject | undefined> => {
  const spec = { token };
  const review = await kube.create(tokenReviews, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec,
  });
  const { authenticated, user } = statusOf(review);
  return authenticated === true && isObject(user) ? user : undefined;
};

const isAllowed = async (kube: KubeApi, user: JsonObject, right: Right): Promise<boolean> => {
  const { username, groups = [], uid = '', extra = {} } = user;
  const review = await kube.create(accessReviews, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: username ?? '', groups, uid, extra, resourceAttributes: { ...right } },
  });
  return statusOf(review).allowed === true;
};

const rightText = ({ verb, resource, group, name }: Right): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` ${name}`}`;

/** Asks for every right, so that one sentence can name all missing ones. */
export const judge = async (
  kube: KubeApi,
  token: string | undefined,
  rights: readonly Right[],
): Promise<Verdict> => {
  if (token === undefined || token === '') {
    const message = 'a token of yours is needed: `kubectl create token NAME` prints one';
    return { kind: 'error', status: 401, message };
  }
  try {
    const user = await identify(kube, token);
    if (user === undefined) {
      const message = 'the API server does not accept this token: it is wrong or has expired';
      return { kind: 'error', status: 401, message };
    }
    const username = String(user.username);
    const asked = await Promise.all(rights.map((right) => isAllowed(kube, user, right)));
    const missing = rights.filter((_, at) => asked[at] !== true).map(rightText);
    if (missing.length === 0) {
      return { kind: 'ok', operator: { username, groups: textsOf(user.groups) } };
    }
    const message = `${username} may not ${missing.join(', ')}: grant it with a ClusterRole`;
    return { kind: 'error', status: 403, message };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const message = `the token could not be reviewed: ${error.message}`;
    return { kind: 'error', status: 503, message };
  }
};

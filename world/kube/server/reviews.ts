// Virtual resources that answer who a user is and what it may do. Stored nowhere.
import { defined } from '../../../src/api/defined.ts';
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { UserInfo } from '../../contracts.ts';
import type { Verdict } from './authorization.ts';
import { kubeTime, metadataOf, objectsOf, specOf, textOf, textsOf } from './objects.ts';
import { mayDoEverything, type Rbac } from './rbac.ts';
import { badRequest, invalid, invalidValue } from './status.ts';
import type { Tokens } from './tokens.ts';

export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly answer: (asked: ReviewRequest) => JsonObject;
}

export interface ReviewRequest {
  readonly body: JsonObject;
  readonly user: UserInfo;
  readonly namespace: string | undefined;
  readonly rbac: Rbac;
  readonly tokens: Tokens;
}

function verdictOn(user: UserInfo, { body, rbac }: ReviewRequest): JsonObject {
  const spec = specOf(body);
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (isObject(resourceAttributes) === isObject(nonResourceAttributes)) {
    const of = { group: authorization.group, kind: textOf(body.kind) ?? '' };
    const message = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw invalid(of, '', [invalidValue('spec.resourceAttributes', null, message)]);
  }
  if (isObject(nonResourceAttributes)) {
    const verb = textOf(nonResourceAttributes.verb) ?? '';
    return shown(rbac.judgePath(user, verb, textOf(nonResourceAttributes.path) ?? ''));
  }
  const asked = objectOr(resourceAttributes);
  const text = (key: string): string | undefined => textOf(asked[key]) || undefined;
  return shown(
    rbac.judge(user, {
      verb: text('verb') ?? '',
      group: text('group') ?? '',
      resource: text('resource') ?? '',
      subresource: text('subresource'),
      namespace: text('namespace'),
      name: text('name'),
    }),
  );
}

const shown = ({ allowed, reason }: Verdict): JsonObject => ({
  allowed,
  ...(reason === '' ? {} : { reason }),
});

function someone({ body }: ReviewRequest): UserInfo {
  const spec = specOf(body);
  return { username: textOf(spec.user) ?? '', groups: textsOf(spec.groups) };
}

function localReview(asked: ReviewRequest): JsonObject {
  const attributes = objectOr(specOf(asked.body).resourceAttributes);
  if (attributes.namespace !== asked.namespace) {
    throw badRequest(
      `spec.resourceAttributes.namespace must match namespace: ${asked.namespace ?? ''}`,
    );
  }
  return verdictOn(someone(asked), asked);
}

const everything: readonly JsonObject[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function rulesReview({ body, user, rbac }: ReviewRequest): JsonObject {
  const namespace = textOf(specOf(body).namespace);
  const rules = mayDoEverything(user) ? everything : rbac.rules(user, namespace);
  const [onPaths, onResources] = [true, false].map((paths) =>
    objectsOf(rules as Json).filter((rule) => (rule.nonResourceURLs !== undefined) === paths),
  );
  return {
    resourceRules: onResources ?? [],
    nonResourceRules: onPaths ?? [],
    incomplete: false,
  };
}

const userInfo = ({ user }: ReviewRequest): JsonObject => ({
  userInfo: {
    username: user.username,
    ...defined({ uid: user.uid }),
    groups: user.groups,
    ...defined({ extra: user.extra }),
  },
});

/** Tokens of service accounts; the authenticator in front of this server handles AWS tokens. */
function tokenReview({ body, tokens }: ReviewRequest): JsonObject {
  const spec = specOf(body);
  const token = textOf(spec.token) ?? '';
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  return tokens.review(token, textsOf(spec.audiences));
}

const authorization = { group: 'authorization.k8s.io', version: 'v1' } as const;

export const reviewKinds: readonly ReviewKind[] = [
  {
    ...authorization,
    resource: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    namespaced: false,
    answer: (asked) => verdictOn(asked.user, asked),
  },
  {
    ...authorization,
    resource: 'subjectaccessreviews',
    kind: 'SubjectAccessReview',
    namespaced: false,
    answer: (asked) => verdictOn(someone(asked), asked),
  },
  {
    ...authorization,
    resource: 'localsubjectaccessreviews',
    kind: 'LocalSubjectAccessReview',
    namespaced: true,
    answer: localReview,
  },
  {
    ...authorization,
    resource: 'selfsubjectrulesreviews',
    kind: 'SelfSubjectRulesReview',
    namespaced: false,
    answer: rulesReview,
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    resource: 'tokenreviews',
    kind: 'TokenReview',
    namespaced: false,
    answer: tokenReview,
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    resource: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    namespaced: false,
    answer: userInfo,
  },
];

export function answerReview(
  review: ReviewKind,
  body: Json | undefined,
  asked: Omit<ReviewRequest, 'body'>,
  now: number,
): JsonObject {
  const given = { kind: review.kind, ...(isObject(body) ? body : {}) };
  return {
    kind: review.kind,
    apiVersion: `${review.group}/${review.version}`,
    metadata: { ...metadataOf(given), creationTimestamp: kubeTime(now) },
    ...('spec' in given && given.spec !== undefined ? { spec: objectOr(given.spec) } : {}),
    status: review.answer({ ...asked, body: given }),
  };
}

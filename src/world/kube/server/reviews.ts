// Virtual resources that answer about the caller: what it may do and who it is. The world has no
// RBAC: every identity that the listener let in may do everything.
import { isObject, type Json, type JsonObject, objectOr } from '../../../api/json.ts';
import type { UserInfo } from '../../contracts.ts';
import { kubeTime, metadataOf } from './objects.ts';

export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly answer: (body: JsonObject, user: UserInfo) => JsonObject;
}

const allowed = (): JsonObject => ({
  allowed: true,
  reason: 'the embedded world allows every known user',
});

const everything = (): JsonObject => ({
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
});

const userInfo = (user: UserInfo): JsonObject => ({
  userInfo: {
    username: user.username,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: user.groups,
    ...(user.extra === undefined ? {} : { extra: user.extra }),
  },
});

const authorization = { group: 'authorization.k8s.io', version: 'v1' } as const;

export const reviewKinds: readonly ReviewKind[] = [
  {
    ...authorization,
    resource: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    namespaced: false,
    answer: allowed,
  },
  {
    ...authorization,
    resource: 'subjectaccessreviews',
    kind: 'SubjectAccessReview',
    namespaced: false,
    answer: allowed,
  },
  {
    ...authorization,
    resource: 'localsubjectaccessreviews',
    kind: 'LocalSubjectAccessReview',
    namespaced: true,
    answer: allowed,
  },
  {
    ...authorization,
    resource: 'selfsubjectrulesreviews',
    kind: 'SelfSubjectRulesReview',
    namespaced: false,
    answer: everything,
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    resource: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    namespaced: false,
    answer: (_body, user) => userInfo(user),
  },
];

export function answerReview(
  review: ReviewKind,
  body: Json | undefined,
  user: UserInfo,
  now: number,
): JsonObject {
  const given = isObject(body) ? body : {};
  return {
    kind: review.kind,
    apiVersion: `${review.group}/${review.version}`,
    metadata: { ...metadataOf(given), creationTimestamp: kubeTime(now) },
    ...(given.spec === undefined ? {} : { spec: objectOr(given.spec) }),
    status: review.answer(given, user),
  };
}

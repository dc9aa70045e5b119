// The schemas of update-hooks.ts. A hook is a Job or a webhook.
import {
  count,
  listOf,
  longText,
  object,
  oneOf,
  positive,
  type Schema,
  text,
  time,
} from './crd-schema.ts';
import {
  hookFailurePolicies,
  hookKinds,
  maxDoneWebhooks,
  maxHookTimes,
  maxToldHooks,
} from './update-hooks.ts';

const nameOf = (maxLength: number): Schema => ({ ...text(maxLength), minLength: 1 });

const webhook: Schema = object(
  {
    url: { ...text(2_048), pattern: '^https?://[^/@?#\\s]+(/[^@?#\\s]*)?$' },
    caBundle: {
      ...text(65_536),
      pattern: '^[A-Za-z0-9+/=\\s]*$',
    },
    bearerTokenSecret: object({ namespace: nameOf(63), name: nameOf(253), key: nameOf(253) }, [
      'namespace',
      'name',
    ]),
  },
  ['url'],
);

const eitherOf: Schema = {
  'x-kubernetes-validations': [
    {
      rule: 'has(self.job) != has(self.webhook)',
      message: 'a hook has one of job and webhook',
    },
  ],
};

const hook: Schema = {
  ...object({
    job: object(
      {
        namespace: nameOf(63),
        cronJob: nameOf(253),
      },
      ['namespace', 'cronJob'],
    ),
    timeoutSeconds: { ...positive, maximum: 86_400 },
    webhook,
    onFailure: oneOf(hookFailurePolicies),
  }),
  ...eitherOf,
};

/** Properties of `spec.updateConfig`. */
export const hookFields: Readonly<Record<string, Schema>> = {
  hooks: {
    ...object({
      preDrain: hook,
      postDrain: hook,
      preTerminate: hook,
      postReady: hook,
    }),
    'x-kubernetes-validations': [
      {
        rule: hookKinds.map((kind) => `has(self.${kind})`).join(' || '),
        message: `hooks has at least one of ${hookKinds.join(', ')}`,
      },
    ],
  },
};

/** Properties of an update's status. */
export const hookStatus: Readonly<Record<string, Schema>> = {
  hooks: listOf(
    object(
      {
        hook: oneOf(hookKinds),
        instanceId: text(63),
        node: text(),
        job: text(317),
        webhook: text(2_048),
        id: text(128),
        state: oneOf(['Running', 'Failed']),
        since: time,
        attempt: count,
        message: longText,
      },
      ['hook', 'instanceId', 'state'],
    ),
    maxToldHooks,
  ),
  hookTimes: listOf(
    object({ hook: oneOf(hookKinds), seconds: count }, ['hook', 'seconds']),
    maxHookTimes,
  ),
  webhooksDone: listOf(text(128), maxDoneWebhooks),
};

// The schemas of update-hooks.ts. Webhooks are not there: one that names them alone is refused.
import {
  described,
  listOf,
  longText,
  object,
  oneOf,
  positive,
  type Schema,
  text,
} from './crd-schema.ts';
import { hookFailurePolicies, hookKinds, maxToldHooks } from './update-hooks.ts';

const nameOf = (maxLength: number): Schema => ({ ...text(maxLength), minLength: 1 });

const hook: Schema = object(
  {
    job: object(
      {
        namespace: nameOf(63),
        cronJob: described(
          'Name of a CronJob, a suspended one as a rule, whose jobTemplate is run for each node.',
          nameOf(253),
        ),
      },
      ['namespace', 'cronJob'],
    ),
    timeoutSeconds: { ...positive, maximum: 86_400 },
    onFailure: described('Default Fail: the update ends.', oneOf(hookFailurePolicies)),
  },
  ['job'],
);

/** Properties of `spec.updateConfig`. */
export const hookFields: Readonly<Record<string, Schema>> = {
  hooks: {
    ...object({
      preDrain: described('Runs while the node is marked and keeps its pods.', hook),
      postDrain: described(
        'Runs as soon as the drain is over; the instance is terminated after it.',
        hook,
      ),
      preTerminate: described(
        'Runs when the instance would be terminated, which waits for it.',
        hook,
      ),
      postReady: described('A new node counts when it is done.', hook),
    }),
    'x-kubernetes-validations': [
      {
        rule: hookKinds.map((kind) => `has(self.${kind})`).join(' || '),
        message: `hooks has at least one of ${hookKinds.join(', ')}`,
      },
    ],
  },
};

/** Of the status of an update. */
export const hookStatus: Readonly<Record<string, Schema>> = {
  hooks: listOf(
    object(
      {
        hook: oneOf(hookKinds),
        instanceId: text(63),
        node: text(),
        job: text(317),
        state: oneOf(['Running', 'Failed']),
        message: longText,
      },
      ['hook', 'instanceId', 'job', 'state'],
    ),
    maxToldHooks,
  ),
};

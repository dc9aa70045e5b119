// The schema of NodeGroupUpdateSequence: exactly the types of update-sequence.ts, and the rules by
// which the API server refuses changes of a request. Errors that concern all groups together
// (cycles) are reported in the status.
import { launchTemplateRef } from './crd-nodegroup.ts';
import {
  boolean,
  conditions,
  count,
  generation,
  listOf,
  longText,
  object,
  oneOf,
  positive,
  type Schema,
  text,
  time,
} from './crd-schema.ts';
import { updatePolicyFields, updatePolicyRules } from './crd-update-policy.ts';
import { updateStrategies } from './nodegroup-update.ts';
import { sequenceGroupStates, sequencePhases } from './update-sequence.ts';

/** Maximum number of groups in a sequence. */
const maxGroups = 50;

const target = object({
  version: text(63),
  releaseVersion: text(63),
  launchTemplate: launchTemplateRef,
});

const byName = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] } as const;

const group: Schema = object(
  {
    name: { ...text(63), minLength: 1 },
    after: listOf(text(63), maxGroups),
    target,
  },
  ['name'],
);

export const updateSequenceSpec: Schema = {
  ...object(
    {
      groups: { ...listOf(group, maxGroups), ...byName, minItems: 1 },
      target,
      force: boolean,
      strategy: oneOf(updateStrategies),
      policies: { ...object(updatePolicyFields), 'x-kubernetes-validations': updatePolicyRules },
      paused: boolean,
      abort: oneOf(['Stop', 'RollBack']),
      resume: text(63),
    },
    ['groups'],
  ),
  'x-kubernetes-validations': [
    {
      rule: 'self.groups == oldSelf.groups',
      message: 'groups of a sequence never change: make another',
    },
    {
      rule:
        'has(self.target) == has(oldSelf.target) && (!has(self.target) || self.target == ' +
        'oldSelf.target)',
      message: 'target of a sequence never changes: make another',
    },
    {
      rule: '!has(oldSelf.abort) || (has(self.abort) && self.abort == oldSelf.abort)',
      message: 'a sequence that is aborted stays so',
    },
  ],
};

export const updateSequenceStatus: Schema = object(
  {
    status: oneOf(['InProgress', 'Successful', 'Failed', 'Cancelled']),
    phase: oneOf(sequencePhases),
    message: longText,
    groups: {
      ...listOf(
        object(
          {
            name: text(63),
            status: oneOf(sequenceGroupStates),
            update: text(),
            attempt: positive,
            message: longText,
          },
          ['name', 'status', 'attempt'],
        ),
        maxGroups,
      ),
      ...byName,
    },
    progress: object({ done: count, total: count }, ['done', 'total']),
    startedAt: time,
    endedAt: time,
    ending: oneOf(['Successful', 'Failed', 'Cancelled']),
    endedGeneration: generation,
    conditions,
  },
  ['status', 'phase', 'groups', 'progress'],
);

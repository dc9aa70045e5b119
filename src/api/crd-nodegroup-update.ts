// The schema of NodeGroupUpdate: exactly the types of nodegroup-update.ts, and the rules by which
// the API server refuses mistakes.
import {
  issue,
  issueFields,
  launchTemplateRef,
  nodeRepairConfig,
  revision,
  sizes,
  taints,
  updateConfig,
} from './crd-nodegroup.ts';
import {
  boolean,
  count,
  generation,
  listOf,
  longText,
  nodeLabels,
  object,
  oneOf,
  type Schema,
  text,
  time,
} from './crd-schema.ts';
import { stopTimesOf } from './crd-stop-times.ts';
import { hookStatus } from './crd-update-hooks.ts';
import { newNodesStatus } from './crd-update-nodes.ts';
import { pacingStatus } from './crd-update-pacing.ts';
import { updatePolicyFields, updatePolicyRules } from './crd-update-policy.ts';
import { updatePhases, updateStrategies } from './nodegroup-update.ts';
import { stopTimesOfUpdate } from './stop-times.ts';

export const nodeGroupUpdateSpec: Schema = {
  ...object(
    {
      nodeGroup: text(),
      type: oneOf(['ConfigUpdate', 'VersionUpdate']),
      params: listOf(object({ type: text(63), value: text(16_384) }, ['type', 'value']), 40),
      change: object({
        scaling: object(sizes),
        addLabels: nodeLabels,
        removeLabels: listOf(text(317), 50),
        addTaints: taints,
        removeTaints: taints,
        updateConfig,
        nodeRepairConfig,
        version: text(63),
        releaseVersion: text(63),
        launchTemplate: launchTemplateRef,
      }),
      action: oneOf(['Update', 'Rollback']),
      force: boolean,
      replaceEqual: boolean,
      strategy: oneOf(updateStrategies),
      reason: longText,
      policies: { ...object(updatePolicyFields), 'x-kubernetes-validations': updatePolicyRules },
      waivers: listOf(object({ check: text(63), reason: longText, by: text() }, ['check']), 40),
      planHash: text(128),
      predicted: object({ p50Seconds: count, p90Seconds: count }, ['p50Seconds', 'p90Seconds']),
      paused: boolean,
      abort: oneOf(['Stop', 'RollBack']),
    },
    ['nodeGroup', 'type', 'params', 'change'],
  ),
  'x-kubernetes-validations': [
    ...['nodeGroup', 'type', 'params', 'change'].map((field) => ({
      rule: `self.${field} == oldSelf.${field}`,
      message: `${field} of an update never changes`,
    })),
    ...[
      'action',
      'force',
      'replaceEqual',
      'strategy',
      'reason',
      'policies',
      'waivers',
      'planHash',
      'predicted',
    ].map((field) => ({
      rule:
        `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} ` +
        `== oldSelf.${field})`,
      message: `${field} of an update never changes`,
    })),
    {
      rule: '!has(oldSelf.abort) || (has(self.abort) && self.abort == oldSelf.abort)',
      message: 'an update that is aborted stays so',
    },
  ],
};

export const nodeGroupUpdateStatus: Schema = object(
  {
    status: oneOf(['InProgress', 'Successful', 'Failed', 'Cancelled']),
    phase: oneOf(updatePhases),
    generation,
    startedAt: time,
    endedAt: time,
    errors: listOf(object(issue, issueFields), 20),
    message: longText,
    strategy: oneOf(updateStrategies),
    from: revision,
    target: revision,
    original: object(sizes, ['minSize', 'maxSize', 'desired']),
    suspends: listOf(text(63), 10),
    suspendedIn: generation,
    ...pacingStatus,
    ...hookStatus,
    stopTimes: stopTimesOf(stopTimesOfUpdate),
    maxUnavailable: count,
    surge: count,
    progress: object(
      {
        total: count,
        done: count,
        draining: count,
        failed: count,
        emptied: count,
        quarantined: count,
        eta: object({ p50: time, p90: time }, ['p50', 'p90']),
      },
      ['total', 'done', 'draining', 'failed'],
    ),
    pace: listOf(object({ at: time, done: count, paused: boolean }, ['at', 'done']), 20),
    ...newNodesStatus,
    waitingSince: time,
    phases: listOf(object({ phase: oneOf(updatePhases), at: time }, ['phase', 'at']), 40),
    failedNodes: listOf(
      object(
        {
          instanceId: text(63),
          node: text(),
          message: longText,
          outcome: oneOf(['Skipped', 'Quarantined', 'Paused']),
        },
        ['instanceId', 'message'],
      ),
      20,
    ),
    goesBack: longText,
    pausedSince: time,
    leftover: count,
    restored: text(63),
    ending: oneOf(['Failed', 'Cancelled']),
  },
  ['status'],
);

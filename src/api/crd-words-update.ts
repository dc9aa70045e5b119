// The text of `kubectl explain` for nodegroupupdate and nodegroupupdatesequence. Decides nothing.
import { stopTimesWords } from './crd-stop-times.ts';
import { conditionWords, issueWords, taintWords, type Words } from './crd-words.ts';
import {
  nodeRepairWords,
  requestedRevisionWords,
  revisionWords,
  sizeWords,
} from './crd-words-nodegroup.ts';
import { updateConfigWords, updatePolicyWords } from './crd-words-policy.ts';

const updateSpecWords: Words = {
  nodeGroup: 'Name of the NodeGroup.',
  type: "VersionUpdate replaces nodes; ConfigUpdate changes the NodeGroup's configuration.",
  params: [
    'Requested changes, as EKS reports them.',
    { type: 'The changed property, such as Version or MaxSize.', value: 'Its new value, as text.' },
  ],
  change: [
    'Changes to the NodeGroup.',
    {
      scaling: ['New sizes. An absent size is unchanged.', sizeWords],
      addLabels: 'Labels to add or to change.',
      removeLabels: 'Keys of labels to remove.',
      addTaints: ['Taints to add or to change.', taintWords],
      removeTaints: ['Taints to remove, by key and effect.', taintWords],
      updateConfig: ['New update configuration.', updateConfigWords],
      nodeRepairConfig: ["EKS's nodeRepairConfig, kept as given.", nodeRepairWords],
      ...requestedRevisionWords,
    },
  ],
  action: 'Update (default), or Rollback to the previous revision.',
  force: "Deletes the pods that remain at a drain's timeout instead of failing the update.",
  replaceEqual:
    'Replaces nodes even if the new launch template version has the same content, as EKS does.',
  strategy: "DEFAULT, MINIMAL, SURGE or BLUE_GREEN; default: the group's.",
  reason: 'Why Drover requested the update, if it did.',
  policies: [
    "What happens when a step of this update fails. Overrides the group's policies.",
    updatePolicyWords,
  ],
  waivers: [
    'Preflight findings that an operator accepted.',
    {
      check: 'Name of the check.',
      reason: 'Reason.',
      by: 'User name that the API server reported.',
    },
  ],
  planHash: 'Hash of the plan that was reviewed.',
  predicted: [
    "The plan's prediction, in seconds from the start.",
    {
      p50Seconds: 'Half of such updates end by then.',
      p90Seconds: 'Nine of ten such updates end by then.',
    },
  ],
  paused:
    'While true, no node is started; drains in progress complete. May change during the update.',
  abort: 'Stop ends the update with nodes of both revisions. RollBack reverts it. Cannot be unset.',
};

const updateStatusWords: Words = {
  status: "EKS's status: InProgress, Successful, Failed or Cancelled.",
  phase:
    'Current phase: Pending, Preparing, ScalingUp, Marking, Rolling, Soaking, ScalingDown, ' +
    'Restoring, Ended; Applied for a ConfigUpdate.',
  generation: 'Generation of the NodeGroup that contains the change.',
  startedAt: 'Start.',
  endedAt: 'End.',
  errors: ['Why the update failed.', issueWords],
  message: 'The current state in one sentence.',
  strategy: 'Strategy of this update.',
  from: ['Revision of the nodes before the update.', revisionWords],
  target: ['Revision that the update installs.', revisionWords],
  original: ['Sizes before the update changed anything.', sizeWords],
  suspends: 'EC2 Auto Scaling processes that were running and are suspended during the update.',
  suspendedIn: "The leader's term in which this was recorded.",
  holds: [
    'What keeps the next step from starting. Drains in progress continue.',
    {
      kind: 'Paused, Approval, Window, Freeze, Soak, WaveApproval, WaveProbes or Probe.',
      reason: 'One sentence that says what ends the hold.',
      since: 'Start of the hold.',
      until: 'When the hold ends by itself; absent if an operator must act.',
    },
  ],
  held: 'Kinds of all holds, separated by commas.',
  wave: [
    'The current wave, if the group has waves.',
    {
      number: 'Number of the wave, from 1; of + 1 after the last one.',
      of: 'Number of waves.',
      upTo: 'Number of updated nodes at the end of the wave.',
      doneAt: 'When its last node was updated and its rest started.',
    },
  ],
  failingProbes: [
    'Failing probes.',
    { name: 'Name.', failures: 'Consecutive failures.', message: 'Last result.' },
  ],
  hooks: [
    'Hooks that run, and failed hooks that were ignored.',
    {
      hook: 'preDrain, postDrain, preTerminate or postReady.',
      instanceId: 'Instance for which the hook runs.',
      node: 'Its node.',
      job: 'Namespace and name of the Job.',
      webhook: 'Scheme and host of the URL. The path is omitted because it may be secret.',
      id: 'Id sent to the webhook. Each attempt of a drain has a new one.',
      state: 'Running or Failed.',
      since: 'For a webhook: start of its time limit.',
      attempt: 'For a webhook: number of calls.',
      message: 'Last answer.',
    },
  ],
  hookTimes: [
    'Durations of completed hooks, used by plans.',
    { hook: 'The hook.', seconds: 'Its duration.' },
  ],
  ...stopTimesWords,
  webhooksDone: 'Ids of the webhooks that ended during this update.',
  maxUnavailable: 'Maximum number of nodes out of service at once.',
  surge: 'Number of instances added at the start.',
  progress: [
    'Progress in nodes.',
    {
      total: 'Nodes to replace or to terminate, completed ones included.',
      done: 'Nodes replaced or terminated.',
      draining: 'Nodes that are drained or terminated now.',
      failed: 'Nodes whose drain failed.',
      emptied: 'For BLUE_GREEN: empty nodes that are kept until the soak ends.',
      quarantined: 'Failed nodes that stay cordoned, each with a replacement.',
      eta: [
        'Predicted end; absent without enough data.',
        {
          p50: 'Half of such updates end by then.',
          p90: 'Nine of ten such updates end by then.',
        },
      ],
    },
  ],
  pace: [
    'The last 20 changes of progress.done, from which the end is predicted.',
    { at: 'Time.', done: 'Completed nodes.', paused: 'The update was paused at this time.' },
  ],
  shortages: [
    'Zones without capacity for a new node.',
    {
      zone: 'The Availability Zone.',
      code: "EKS' code.",
      message: "EC2's words.",
      at: 'Time of the failed launch.',
    },
  ],
  missing: [
    'Requested nodes that have not joined.',
    {
      zone: 'The Availability Zone.',
      instanceId: 'The running EC2 instance that has not joined; absent if its launch fails.',
      code: "EKS' code.",
      message: "EC2's message, or what is known about the node.",
      since: 'Since when it is missing.',
    },
  ],
  skippedTypes: [
    'Instance types that are not launched during the update.',
    { type: 'The instance type.', message: 'Reason.' },
  ],
  fallbacks: [
    'New nodes of another instance type because the first one had no capacity.',
    { zone: 'The Availability Zone.', type: 'The instance type.', nodes: 'Number of nodes.' },
  ],
  waitingSince: 'Since when the update waits for new instances to become nodes.',
  phases: ['Start of each phase, in order.', { phase: 'The phase.', at: 'Its start.' }],
  failedNodes: [
    'The first 20 nodes whose drain failed.',
    {
      instanceId: 'The instance.',
      node: 'Its node.',
      message: 'Reason, with pod and budget.',
      outcome: 'Outcome if the update continued: Skipped, Quarantined or Paused.',
    },
  ],
  goesBack: 'Why an automatic rollback follows this update.',
  pausedSince: 'When the update paused itself; message gives the reason.',
  leftover: 'Surplus nodes that could not be drained at the end and stay.',
  restored: 'Launch template version that was restored.',
  ending: 'Result of a failed or aborted update once everything is restored.',
};

export const nodeGroupUpdateWords: Words = {
  spec: ['The request. Immutable except for paused and abort.', updateSpecWords],
  status: ['Progress and result. Only Drover writes it.', updateStatusWords],
};

const sequenceSpecWords: Words = {
  groups: [
    'The node groups, in order. Immutable.',
    {
      name: 'Name of the NodeGroup.',
      after:
        'Groups of this sequence that must finish first; default: the previous one in the list.',
      target: ["Target of this group, instead of the sequence's target.", requestedRevisionWords],
    },
  ],
  target: [
    "Target of all groups; default: the newest release of each group's version. Immutable.",
    requestedRevisionWords,
  ],
  force: 'force of each NodeGroupUpdate.',
  strategy: 'strategy of each NodeGroupUpdate.',
  policies: ['policies of each NodeGroupUpdate.', updatePolicyWords],
  paused: 'While true, nothing new is started, in the running update either.',
  abort: 'Stop, or RollBack of the running updates; finished groups are kept. Cannot be unset.',
  resume: 'A new text resumes a failed sequence.',
};

const sequenceStatusWords: Words = {
  status: "EKS's status: InProgress, Successful, Failed or Cancelled.",
  phase: 'Pending (no node was changed), Rolling, Restoring (taints are removed) or Ended.',
  message: 'The current state in one sentence.',
  groups: [
    'Each group and its update.',
    {
      name: 'Name of the NodeGroup.',
      status: 'Waiting, InProgress, Successful, Failed or Cancelled.',
      update: "The group's NodeGroupUpdate.",
      attempt: 'Number of the attempt, from 1.',
      message: 'The current state in one sentence.',
    },
  ],
  progress: ['Progress in groups.', { done: 'Finished groups.', total: 'All groups.' }],
  startedAt: 'Start.',
  endedAt: 'End.',
  ending: 'Result once all taints are removed.',
  endedGeneration: 'Generation with which it ended. A later one may resume it.',
  conditions: ['Complete: True when every group has its target.', conditionWords],
};

export const updateSequenceWords: Words = {
  spec: ['The request.', sequenceSpecWords],
  status: ['Progress and result. Only Drover writes it.', sequenceStatusWords],
};

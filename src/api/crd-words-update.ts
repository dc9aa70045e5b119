// What `kubectl explain` says of nodegroupupdate and nodegroupupdatesequence. Decides nothing.
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
  type: 'VersionUpdate replaces nodes; ConfigUpdate changes what stands in the NodeGroup.',
  params: [
    'What was asked for, as EKS tells it.',
    { type: 'What of the group, such as Version or MaxSize.', value: 'To what, as text.' },
  ],
  change: [
    'What becomes of the NodeGroup.',
    {
      scaling: ['New sizes; what is absent stays.', sizeWords],
      addLabels: 'Labels that are added or get another value.',
      removeLabels: 'Keys of labels that are taken away.',
      addTaints: ['Taints that are added or get another value.', taintWords],
      removeTaints: ['Taints that are taken away, by key and effect.', taintWords],
      updateConfig: ['How nodes are updated from now on.', updateConfigWords],
      nodeRepairConfig: ["EKS' nodeRepairConfig, kept as given.", nodeRepairWords],
      ...requestedRevisionWords,
    },
  ],
  action: 'Update (default), or Rollback to what the nodes were made of before.',
  force: "Pods that are left after a drain's time are deleted instead of ending the update.",
  replaceEqual:
    'Nodes are replaced although their launch template would have the same content, as on EKS.',
  strategy: "DEFAULT, MINIMAL, SURGE or BLUE_GREEN; default: the group's.",
  reason: 'Why it was asked for, where Drover asked.',
  policies: [
    "What happens when a step does not succeed, in this update: before the group's own.",
    updatePolicyWords,
  ],
  waivers: [
    'Findings of the preflight that somebody accepted.',
    { check: 'Name of the check.', reason: 'Why.', by: 'Who, as the API server told the client.' },
  ],
  planHash: 'Hash of the plan that was looked at before: a record.',
  predicted: [
    'What that plan predicted, in seconds from the begin.',
    {
      p50Seconds: 'Half of such updates are over by then.',
      p90Seconds: 'Nine of ten are over by then.',
    },
  ],
  paused: 'Nothing new is begun while it is set; drains under way end. May change while it runs.',
  abort: 'Stop ends it with nodes of both revisions; RollBack takes it back. Set once, it stays.',
};

const updateStatusWords: Words = {
  status: "EKS' word: InProgress, Successful, Failed or Cancelled.",
  phase:
    'Where it is: Pending, Preparing, ScalingUp, Marking, Rolling, Soaking, ScalingDown, Restoring, Ended; Applied of a ConfigUpdate.',
  generation: 'Of the NodeGroup: from that one on the change stands in it.',
  startedAt: 'When it began.',
  endedAt: 'When it ended.',
  errors: ['Why it failed.', issueWords],
  message: 'Why it is where it is, in one line.',
  strategy: 'The one it goes by.',
  from: ['What nodes were made of before.', revisionWords],
  target: ['What they are to be made of.', revisionWords],
  original: ['Sizes before its first effect.', sizeWords],
  suspends: 'Processes of EC2 Auto Scaling that were running and are suspended while it runs.',
  suspendedIn: "The leader's term in which that was noted.",
  holds: [
    'What keeps the next step from beginning; drains under way go on.',
    {
      kind: 'Paused, Approval, Window, Freeze, Soak, WaveApproval, WaveProbes or Probe.',
      reason: 'One sentence, with what ends it.',
      since: 'Since when.',
      until: 'When it ends by itself; absent = not before somebody does something.',
    },
  ],
  held: 'The kinds of all holds, with commas between.',
  wave: [
    'Where it is, if the group has waves.',
    {
      number: 'The wave, from 1 on; behind the last one more than of.',
      of: 'How many there are.',
      upTo: 'So many nodes are done when it is over.',
      doneAt: 'When its nodes were done and its rest began.',
    },
  ],
  failingProbes: [
    'Probes that do not pass.',
    { name: 'Of the probe.', failures: 'How many in a row.', message: 'What was found.' },
  ],
  hooks: [
    'Hooks that run, and those that failed and were gone on without.',
    {
      hook: 'preDrain, postDrain, preTerminate or postReady.',
      instanceId: 'The instance that it runs for.',
      node: 'Its node.',
      job: 'Namespace and name of the Job.',
      webhook: 'Scheme and host of its URL; the path may be a secret.',
      id: 'The id that the webhook is asked with; another for each try of a drain.',
      state: 'Running or Failed.',
      since: 'Of a webhook: its time counts from then.',
      attempt: 'Of a webhook: how often it was asked.',
      message: 'What it said.',
    },
  ],
  hookTimes: [
    'How long hooks took that were done: plans go by them.',
    { hook: 'Which of the four.', seconds: 'How long.' },
  ],
  ...stopTimesWords,
  webhooksDone: 'Ids of webhooks that are over, while the update goes on.',
  maxUnavailable: 'How many nodes may be out of service at once.',
  surge: 'How many instances more than asked for it began with.',
  progress: [
    'How far it is, in nodes.',
    {
      total: 'To be replaced or retired, the done ones included.',
      done: 'Replaced or retired.',
      draining: 'Being drained or terminated.',
      failed: 'Whose drain failed.',
      emptied: 'Of BLUE_GREEN: empty, and kept until the soak is over.',
      quarantined: 'Of those that failed: left cordoned, each with a new node beside it.',
      eta: [
        'When it ends; absent where there is no ground for it.',
        {
          p50: 'Half of such updates are over by then.',
          p90: 'Nine of ten are over by then.',
        },
      ],
    },
  ],
  pace: [
    'The last 20 changes of progress.done: what the end is predicted by.',
    { at: 'When.', done: 'How many nodes.', paused: 'Nothing was begun from then on.' },
  ],
  shortages: [
    'Where there was no room for a new node when last one was wanted.',
    {
      zone: 'The Availability Zone.',
      code: "EKS' code.",
      message: "EC2's words.",
      at: 'When.',
    },
  ],
  missing: [
    'New nodes that were asked for and are none yet.',
    {
      zone: 'The Availability Zone.',
      instanceId: 'The EC2 instance, which runs and has not joined; absent: its launch fails.',
      code: "EKS' code.",
      message: "EC2's words, or what is seen of the node.",
      since: 'Since when.',
    },
  ],
  skippedTypes: [
    'Instance types of the group that are left out meanwhile.',
    { type: 'The instance type.', message: 'Why.' },
  ],
  fallbacks: [
    "New nodes that are not of the group's first instance type: it had no room there.",
    { zone: 'The Availability Zone.', type: 'The instance type.', nodes: 'How many.' },
  ],
  waitingSince: 'Nothing moves since then: new instances do not become nodes.',
  phases: ['When each phase began, in order.', { phase: 'The phase.', at: 'When.' }],
  failedNodes: [
    'The first 20 nodes whose drain failed.',
    {
      instanceId: 'The instance.',
      node: 'Its node.',
      message: 'Why, with pod and budget.',
      outcome: 'What was done about it, where the update went on: Skipped, Quarantined or Paused.',
    },
  ],
  goesBack: 'It goes back by itself when it has ended, and why.',
  pausedSince: 'It paused itself then; message says why.',
  leftover: 'New nodes more than asked for that could not be drained at the end: they stay.',
  restored: 'Version of the derived template that new nodes are made from as before.',
  ending: 'Failed or aborted: how it ends when everything is set back.',
};

export const nodeGroupUpdateWords: Words = {
  spec: ['What was asked for; it never changes, but for paused and abort.', updateSpecWords],
  status: ['How it goes. Written by Drover alone.', updateStatusWords],
};

const sequenceSpecWords: Words = {
  groups: [
    'The node groups, in their order. Never changes.',
    {
      name: 'Name of the NodeGroup.',
      after:
        'Groups of this sequence that must be done before; absent = the one before it in the list.',
      target: ["What its nodes become, instead of the sequence's own.", requestedRevisionWords],
    },
  ],
  target: [
    'What nodes of all groups become; absent = the newest release of their own version. Never changes.',
    requestedRevisionWords,
  ],
  force: 'Of each update, as in a NodeGroupUpdate.',
  strategy: 'Of each update, as in a NodeGroupUpdate.',
  policies: ['Of each update, as in a NodeGroupUpdate.', updatePolicyWords],
  paused: 'Nothing new is begun while it is set, nor by the update that runs.',
  abort:
    'Stop, or RollBack of the updates that run; groups that are done stay. Set once, it stays.',
  resume: 'Any new text makes a sequence that failed go on.',
};

const sequenceStatusWords: Words = {
  status: "EKS' word: InProgress, Successful, Failed or Cancelled.",
  phase: 'Pending (no node was touched), Rolling, Restoring (marks are taken off) or Ended.',
  message: 'Why it is where it is, in one line.',
  groups: [
    'Each group and its update.',
    {
      name: 'Name of the NodeGroup.',
      status: 'Waiting, InProgress, Successful, Failed or Cancelled.',
      update: 'The NodeGroupUpdate that carries it out.',
      attempt: 'Which try it is, from 1 on.',
      message: 'Why it is where it is.',
    },
  ],
  progress: ['How far it is.', { done: 'Groups that are done.', total: 'Groups in all.' }],
  startedAt: 'When it began.',
  endedAt: 'When it ended.',
  ending: 'How it ends when all marks are off.',
  endedGeneration: 'The generation with which it ended: a later one may make it go on.',
  conditions: ['Complete: True when every group is of its target.', conditionWords],
};

export const updateSequenceWords: Words = {
  spec: ['What was asked for.', sequenceSpecWords],
  status: ['How it goes. Written by Drover alone.', sequenceStatusWords],
};

// The text of `kubectl explain nodedisruption`. Decides nothing.
import { stopTimesWords } from './crd-stop-times.ts';
import { conditionWords, type Words } from './crd-words.ts';

const causeWords: Words = {
  kind:
    'ScaleIn, SpotInterruption, RebalanceRecommendation, Maintenance, LifecycleHook, Update, ' +
    'Repair or Manual.',
  id: 'Unique in the list.',
  receivedAt: 'When Drover received the notice.',
  deadline:
    'When the instance is terminated or the drain must be complete; absent if the cause ' +
    'sets no deadline.',
  onDeadline: 'force deletes the remaining pods at the deadline; fail keeps them.',
  followUp:
    'What happens to the empty instance: Release, Reboot, Detach, Replace or Terminate. The ' +
    'strongest of all causes wins.',
  isDetached:
    'The instance has left its Auto Scaling group: EC2 is asked to terminate it, if a NodeRepair ' +
    'of the node group has it in quarantine.',
  hook: [
    'The EC2 Auto Scaling lifecycle hook that waits for Drover.',
    {
      autoScalingGroupName: 'The Auto Scaling group.',
      name: 'Name of the hook.',
      token: 'The LifecycleActionToken; absent if Drover found the hook by polling.',
      startedAt: 'When the hook began to wait.',
      heartbeatTimeoutSeconds: 'Seconds after which the hook times out without a heartbeat.',
      globalTimeoutSeconds: 'Seconds after which the hook ends even with heartbeats.',
    },
  ],
  requestedBy: 'Who requested it.',
  reason: 'Why it was requested.',
  hold: 'While true, the node is cordoned and its pods are not evicted.',
  forceFrom: 'Earliest time at which pods may be deleted by force.',
  cooldownSeconds: 'Seconds between the node becoming empty and the termination of its instance.',
  holdTermination: 'While true, the empty instance is not terminated.',
  terminationFreeAt: 'When holdTermination was set to false.',
  cancelledAt: 'When the cause was withdrawn. It no longer has any effect.',
  confirmation: [
    "The cloud's answer about a cause from a notice. Drover moves pods only for a Confirmed cause.",
    {
      state: 'Pending (no answer yet), Confirmed or Refuted.',
      at: 'When the state last changed.',
      reason: "The cloud's answer, or why there is none.",
    },
  ],
  window: ['Time of the maintenance, from its message.', { startsAt: 'Start.', endsAt: 'End.' }],
};

const waitingWords: Words = {
  kind: 'Kind of wait, such as pdb or termination.',
  pod: 'Namespace and name of the pod.',
  budgets: 'PodDisruptionBudgets, namespace and name.',
  budget: 'The PodDisruptionBudget, namespace and name.',
  owner: "Kind and name of the pod's owner.",
  message: 'The wait in one sentence.',
  neverAllows: 'True if no change of its pods can free this budget.',
  freedBy: 'What would free the budget: scaleUp.',
  unready: [
    "The budget's pod that has been unready for the longest time.",
    {
      pod: 'Namespace and name.',
      node: 'Node of the pod.',
      subnet: "Subnet of that node's instance.",
      reason: 'Reason given by the kubelet or the scheduler.',
      message: 'Message of the kubelet or the scheduler.',
      since: 'Since when the pod is not Ready.',
      others: 'Number of further unready pods of the budget.',
    },
  ],
  forceAt: 'When the pod is deleted if it still exists.',
  until: 'When the wait ends by itself.',
  since: 'Start of the wait.',
  webhook: 'Name of the admission webhook that denied the request.',
  requests: 'Number of eviction requests that were refused in a row.',
  requestAgainAt: 'When the next eviction request is sent.',
  retryAt: 'When Drover retries.',
  graceEndsAt: "When the pod's grace period ends.",
  why: 'What the terminating pod waits for: grace, kubelet or finalizers.',
  finalizers: 'The finalizers.',
  podsBefore: 'Number of remaining pods of lower tiers.',
  priority: 'Lowest priority of the tier of the pod.',
  annotation: 'The annotation of the pod that asks not to evict it.',
  node: 'The node.',
  nodes: 'The nodes.',
  volumes: 'Names of the PersistentVolumes, at most 20.',
  stage: 'What waits for the load balancers: evictions, or the end of the instance.',
  targetGroups: 'Names of the target groups, at most 20.',
  autoScalingGroupName: 'The Auto Scaling group.',
  hookName: 'The lifecycle hook.',
  code: 'HTTP status or error code.',
  what: 'The call that fails.',
  by: 'What holds the turn that it waits for.',
};

const specWords: Words = {
  instanceId: 'The EC2 instance.',
  nodeName: 'The node.',
  nodeGroup: 'The NodeGroup, if the instance belongs to one.',
  causes: [
    'Why the instance is taken out of service. Causes may be added while the disruption is open.',
    causeWords,
  ],
};

const statusWords: Words = {
  observedGeneration: 'Generation of the spec that this status describes.',
  leaderEpoch: 'Term of the leader that wrote this status.',
  episode: 'Number of the episode, from 1. A cause that arrives after the end opens the next one.',
  phase: 'Pending, Marking, Draining, Completing, Undoing or Ended.',
  outcome: 'Drained, Forced, Failed, Cancelled, NothingToDrain or InstanceGone.',
  message: 'The current state in one sentence.',
  startedAt: 'When the episode began.',
  markedAt: 'When the node was cordoned.',
  emptyAt: 'When the pods were gone, where the drain then waits for something else.',
  drainedAt: 'When the drain was complete.',
  endedAt: 'When the episode ended.',
  heldUntil: 'When the last hold ended and evictions started.',
  deadline: 'The earliest deadline of the active causes.',
  onDeadline: 'What happens at the deadline.',
  followUp: 'What happens to the instance when it is empty.',
  node: [
    'The node.',
    { name: 'Its name.', uid: 'Its uid, which a later node of the same name does not share.' },
  ],
  ownedMarks: [
    'Marks on the node that Drover set and will remove.',
    {
      excludeLabel: 'The label that excludes it from load balancers.',
      unschedulable: 'The cordon.',
      taint: 'The taint drover.dev/disrupted.',
      annotation: 'The annotation drover.dev/marks.',
    },
  ],
  hooks: [
    'Open lifecycle hooks.',
    {
      autoScalingGroupName: 'The Auto Scaling group.',
      name: 'Name of the hook.',
      state:
        'Open; Completed by Drover; Expired (it timed out); Gone (Auto Scaling no longer ' +
        'waits in it).',
      token: 'Its LifecycleActionToken.',
      lastHeartbeatAt: 'When Drover sent the last heartbeat.',
      endsAt: 'When the hook ends even with heartbeats.',
      result: 'Result that Drover sent: CONTINUE or ABANDON.',
    },
  ],
  forcingSince: 'When forced deletion began. Written before the first pod is deleted by force.',
  reboot: [
    'Written before the instance is asked to reboot.',
    { askedAt: 'When.', bootId: 'Boot id of the machine at that time.' },
  ],
  handledCauses: 'Ids of the causes that earlier episodes handled.',
  completingCauses: 'Ids of the causes that this episode completes.',
  previous: [
    'The previous episode.',
    {
      episode: 'Its number.',
      outcome: 'Its outcome.',
      message: 'Its message.',
      startedAt: 'When it began.',
      deadline: 'Its deadline.',
      endedAt: 'When it ended.',
      causes: 'Kinds of its causes.',
      podsTotal: 'Number of pods that it had to move.',
    },
  ],
  boomerangs: [
    'Pods that returned to the cordoned node. Drover evicts them once, then leaves them.',
    { owner: 'Kind and name of their owner.', podUids: 'Their uids the first time.' },
  ],
  ...stopTimesWords,
  progressAt: 'When the progress was last written.',
  podsTotal: 'Number of pods to move.',
  podsRemaining: 'Number of pods that remain.',
  waitingOn: ['The first 20 waits; waitingOnTotal counts all.', waitingWords],
  waitingOnTotal: 'Number of waits.',
  conditions: ['Standard conditions.', conditionWords],
};

export const nodeDisruptionWords: Words = {
  spec: ['The instance that is taken out of service, and why.', specWords],
  status: ['The journal of the disruption. Only Drover writes it.', statusWords],
};

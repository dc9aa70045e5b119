// What `kubectl explain nodedisruption` says. Decides nothing.
import { stopTimesWords } from './crd-stop-times.ts';
import { conditionWords, type Words } from './crd-words.ts';

const causeWords: Words = {
  kind: 'ScaleIn, SpotInterruption, RebalanceRecommendation, Maintenance, LifecycleHook, Update, Repair or Manual.',
  id: 'The same id never stands twice in the list.',
  receivedAt: 'When it was heard of.',
  deadline: 'When the instance goes, or the drain is over in time; absent = none of its own.',
  onDeadline: 'force deletes the pods that are left then, fail leaves them.',
  followUp:
    'What happens to the instance when it is empty: Release, Reboot, Replace or Terminate; the strongest of all causes decides.',
  hook: [
    'A lifecycle hook of EC2 Auto Scaling that waits for Drover.',
    {
      autoScalingGroupName: 'The Auto Scaling group.',
      name: 'Name of the hook.',
      token: 'Its LifecycleActionToken; absent when it was found by asking.',
      startedAt: 'When it began to wait.',
      heartbeatTimeoutSeconds: 'Seconds after which it ends when nobody says that work goes on.',
      globalTimeoutSeconds: 'Seconds after which it ends whatever anybody says.',
    },
  ],
  requestedBy: 'Who asked.',
  reason: 'Why.',
  hold: 'The node is marked and keeps its pods until this is set to false.',
  forceFrom: 'Pods are deleted from then on, whatever their grace; not before.',
  cooldownSeconds: 'Seconds between the node being empty and its instance being terminated.',
  holdTermination: 'The empty instance is not terminated until this is set to false.',
  terminationFreeAt: 'When that was set to false.',
  cancelledAt: 'When the cause was withdrawn: it counts no longer.',
  confirmation: [
    'What the cloud says of a cause that a notice brought. Only a Confirmed one moves a pod.',
    {
      state: 'Pending (not answered yet), Confirmed or Refuted.',
      at: 'Since when.',
      reason: 'What the cloud says, or why it has not answered.',
    },
  ],
  window: [
    'When the maintenance takes place, as its message says.',
    { startsAt: 'Its start.', endsAt: 'Its end.' },
  ],
};

const waitingWords: Words = {
  kind: 'What it waits for, in one word, such as pdb or termination.',
  pod: 'Namespace and name of the pod.',
  budgets: 'PodDisruptionBudgets, namespace and name.',
  budget: 'The PodDisruptionBudget, namespace and name.',
  owner: 'Kind and name of what the pod belongs to.',
  message: 'In words.',
  neverAllows: 'True: no change of its pods can free this budget.',
  freedBy: 'What would: scaleUp.',
  unready: [
    "The one of the budget's pods that has not been Ready for longest.",
    {
      pod: 'Namespace and name.',
      node: 'Where it is to run.',
      subnet: "Of that node's instance.",
      reason: "The kubelet's or the scheduler's own word.",
      message: 'What they say.',
      since: 'Since when it is not Ready.',
      others: "How many more of the budget's pods are not Ready.",
    },
  ],
  forceAt: 'When the pod is deleted if it is still there.',
  until: 'When the wait ends by itself.',
  since: 'Since when.',
  retryAt: 'When it is tried again.',
  graceEndsAt: "When the pod's grace is over.",
  why: 'What a terminating pod waits for: grace, kubelet or finalizers.',
  finalizers: 'Which.',
  podsBefore: 'Pods of the tier before that are still there.',
  node: 'The node.',
  nodes: 'The nodes.',
  autoScalingGroupName: 'The Auto Scaling group.',
  hookName: 'The lifecycle hook.',
  code: 'HTTP status or error code.',
  what: 'The call that does not succeed.',
  by: 'Whose turn it waits for.',
};

const specWords: Words = {
  instanceId: 'The EC2 instance.',
  nodeName: 'The node.',
  nodeGroup: 'The NodeGroup, where it is of one.',
  causes: ['Why it goes out of service; more may come while it lasts.', causeWords],
};

const statusWords: Words = {
  observedGeneration: 'The generation of the spec that all this was said of.',
  leaderEpoch: 'The term of the leader that wrote this last.',
  episode: '1 for the first; a cause that arrives after the end opens the next.',
  phase: 'Pending, Marking, Draining, Completing, Undoing or Ended.',
  outcome: 'Drained, Forced, Failed, Cancelled, NothingToDrain or InstanceGone.',
  message: 'Why it is where it is, in one line.',
  startedAt: 'When the episode began.',
  markedAt: 'When the node had its marks.',
  drainedAt: 'When it was empty.',
  endedAt: 'When the episode ended.',
  heldUntil: 'When the node was last held no more: its evictions began then.',
  deadline: 'The earliest deadline of the causes in force.',
  onDeadline: 'What happens then.',
  followUp: 'What happens to the instance when it is empty.',
  node: ['The node.', { name: 'Its name.', uid: 'Its uid: a node of the same name is another.' }],
  ownedMarks: [
    "Which marks on the node are Drover's to take away again.",
    {
      excludeLabel: 'The label that takes it out of load balancers.',
      unschedulable: 'The cordon.',
      taint: 'The taint drover.dev/disrupted.',
      annotation: 'The annotation drover.dev/marks.',
    },
  ],
  hooks: [
    'Lifecycle hooks that wait.',
    {
      autoScalingGroupName: 'The Auto Scaling group.',
      name: 'Name of the hook.',
      state:
        'Open; Completed by Drover; Expired (it timed out); Gone (Auto Scaling no longer waits in it).',
      token: 'Its LifecycleActionToken.',
      lastHeartbeatAt: 'When Drover last said that work goes on.',
      endsAt: 'When it ends whatever anybody says.',
      result: 'What Drover answered: CONTINUE or ABANDON.',
    },
  ],
  forcingSince: 'Written before the first pod is deleted by force.',
  handledCauses: 'Ids of causes that earlier episodes have dealt with.',
  completingCauses: 'Ids of causes that this episode completes.',
  previous: [
    'How the episode before this one ended.',
    {
      episode: 'Its number.',
      outcome: 'Its outcome.',
      message: 'Its message.',
      startedAt: 'When it began.',
      deadline: 'The deadline that it had.',
      endedAt: 'When it ended.',
      causes: 'For which kinds of causes it was.',
      podsTotal: 'How many pods it had to move.',
    },
  ],
  boomerangs: [
    'Pods that came back to the node after its marks: evicted once, then left.',
    { owner: 'Kind and name of what they belong to.', podUids: 'Their uids the first time.' },
  ],
  ...stopTimesWords,
  progressAt: 'When the progress below was last written.',
  podsTotal: 'Pods that have to go.',
  podsRemaining: 'Those that are left.',
  waitingOn: ['What it waits for: the first 20; waitingOnTotal counts them all.', waitingWords],
  waitingOnTotal: 'How many there are.',
  conditions: ['As of other objects.', conditionWords],
};

export const nodeDisruptionWords: Words = {
  spec: ['One instance that is taken out of service, and why.', specWords],
  status: ['How it goes: the journal. Written by Drover alone.', statusWords],
};

// The schema of NodeDisruption: exactly the types of disruption.ts.
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
import { stopTimesOf } from './crd-stop-times.ts';
import {
  causeKinds,
  type DisruptionOutcome,
  disruptionPhases,
  followUps,
  type WaitingOn,
} from './disruption.ts';
import { stopTimesOfNode } from './stop-times.ts';

const cause: Schema = object(
  {
    kind: oneOf(causeKinds),
    id: text(1024),
    receivedAt: time,
    deadline: time,
    onDeadline: oneOf(['force', 'fail']),
    followUp: oneOf(followUps),
    isDetached: boolean,
    hook: object(
      {
        autoScalingGroupName: text(255),
        name: text(255),
        token: text(1024),
        startedAt: time,
        heartbeatTimeoutSeconds: positive,
        globalTimeoutSeconds: positive,
      },
      [
        'autoScalingGroupName',
        'name',
        'startedAt',
        'heartbeatTimeoutSeconds',
        'globalTimeoutSeconds',
      ],
    ),
    requestedBy: longText,
    reason: longText,
    hold: boolean,
    forceFrom: time,
    cooldownSeconds: count,
    holdTermination: boolean,
    terminationFreeAt: time,
    cancelledAt: time,
    confirmation: object(
      { state: oneOf(['Pending', 'Confirmed', 'Refuted']), at: time, reason: longText },
      ['state', 'at', 'reason'],
    ),
    window: object({ startsAt: time, endsAt: time }, []),
  },
  ['kind', 'id', 'receivedAt', 'onDeadline', 'followUp'],
);

export const nodeDisruptionSpec: Schema = object(
  {
    instanceId: text(63),
    nodeName: text(),
    nodeGroup: text(),
    causes: {
      ...listOf(cause, 32),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['id'],
    },
  },
  ['causes'],
);

/** All members of a union; a missing one is a type error. */
const all = <Member extends string>(members: Readonly<Record<Member, true>>): readonly string[] =>
  Object.keys(members);

const waitingOnKinds = all<WaitingOn['kind']>({
  pdb: true,
  selfMoving: true,
  multiplePdbs: true,
  budgetHeld: true,
  termination: true,
  evictionError: true,
  tier: true,
  doNotEvict: true,
  job: true,
  replacement: true,
  boomerang: true,
  marks: true,
  batch: true,
  settling: true,
  surge: true,
  deregistration: true,
  volumes: true,
  hold: true,
  turn: true,
  cooldown: true,
  terminationHold: true,
  hook: true,
  api: true,
  instance: true,
});

const outcomes = all<DisruptionOutcome>({
  Drained: true,
  Forced: true,
  Failed: true,
  Cancelled: true,
  NothingToDrain: true,
  InstanceGone: true,
});

const unreadyPod: Schema = object(
  {
    pod: text(512),
    node: text(),
    subnet: text(),
    reason: text(),
    message: longText,
    since: time,
    others: count,
  },
  ['pod', 'reason', 'message', 'since'],
);

/** All kinds of WaitingOn in one: a structural schema has no tagged unions. */
const waitingOn: Schema = object(
  {
    kind: oneOf(waitingOnKinds),
    pod: text(512),
    budgets: listOf(text(512), 64),
    budget: text(512),
    owner: text(512),
    message: longText,
    neverAllows: boolean,
    freedBy: oneOf(['scaleUp']),
    unready: unreadyPod,
    forceAt: time,
    until: time,
    since: time,
    retryAt: time,
    webhook: text(),
    requests: count,
    requestAgainAt: time,
    graceEndsAt: time,
    why: oneOf(['grace', 'kubelet', 'finalizers']),
    finalizers: listOf(text(316), 64),
    podsBefore: count,
    priority: { type: 'integer', format: 'int32' },
    annotation: text(512),
    node: text(),
    nodes: listOf(text(), 256),
    volumes: listOf(text(), 20),
    stage: oneOf(['evictions', 'end']),
    targetGroups: listOf(text(32), 20),
    autoScalingGroupName: text(255),
    hookName: text(255),
    code: text(63),
    what: longText,
    by: longText,
  },
  ['kind'],
);

const hookStatus: Schema = object(
  {
    autoScalingGroupName: text(255),
    name: text(255),
    state: oneOf(['Open', 'Completed', 'Expired', 'Gone']),
    token: text(1024),
    lastHeartbeatAt: time,
    endsAt: time,
    result: oneOf(['CONTINUE', 'ABANDON']),
  },
  ['autoScalingGroupName', 'name', 'state', 'endsAt'],
);

export const nodeDisruptionStatus: Schema = object(
  {
    observedGeneration: generation,
    leaderEpoch: { ...generation },
    episode: positive,
    phase: oneOf(disruptionPhases),
    outcome: oneOf(outcomes),
    message: longText,
    startedAt: time,
    markedAt: time,
    emptyAt: time,
    drainedAt: time,
    endedAt: time,
    heldUntil: time,
    deadline: time,
    onDeadline: oneOf(['force', 'fail']),
    followUp: oneOf(followUps),
    node: object({ name: text(), uid: text(63) }, ['name', 'uid']),
    ownedMarks: object(
      { excludeLabel: boolean, unschedulable: boolean, taint: boolean, annotation: boolean },
      ['excludeLabel', 'unschedulable', 'taint', 'annotation'],
    ),
    hooks: listOf(hookStatus, 32),
    forcingSince: time,
    reboot: object({ askedAt: time, bootId: text(63) }, ['askedAt']),
    handledCauses: listOf(text(1024), 128),
    completingCauses: listOf(text(1024), 128),
    previous: object(
      {
        episode: positive,
        outcome: oneOf(outcomes),
        message: longText,
        startedAt: time,
        deadline: time,
        endedAt: time,
        causes: listOf(oneOf(causeKinds), 16),
        podsTotal: count,
      },
      ['episode'],
    ),
    boomerangs: listOf(
      object({ owner: text(512), podUids: listOf(text(63), 256) }, ['owner', 'podUids']),
      256,
    ),
    stopTimes: stopTimesOf(stopTimesOfNode),
    progressAt: time,
    podsTotal: count,
    podsRemaining: count,
    waitingOn: listOf(waitingOn, 20),
    waitingOnTotal: count,
    conditions,
  },
  ['episode', 'phase'],
);

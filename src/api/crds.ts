// The CustomResourceDefinitions of our objects, as the API server takes them: structural schemas of
// exactly the types beside this file. scripts/print-crds.ts prints them to deploy/crds; the
// controllers install them. Pitfalls kept out: columns of type `date` only for times that lie in
// the past, no CEL that formats numbers (reference: real-control-plane.md 6).
import {
  nodeGroupSpec,
  nodeGroupStatus,
  nodeGroupUpdateSpec,
  nodeGroupUpdateStatus,
  sizesOfLeaving,
} from './crd-nodegroup.ts';
import {
  boolean,
  conditions,
  count,
  described,
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
import { updateSequenceSpec, updateSequenceStatus } from './crd-update-sequence.ts';
import {
  causeKinds,
  type DisruptionOutcome,
  disruptionPhases,
  followUps,
  type WaitingOn,
} from './disruption.ts';
import type { JsonObject } from './json.ts';

const cause: Schema = object(
  {
    kind: oneOf(causeKinds),
    id: described('The same id never stands twice in the list.', text(1024)),
    receivedAt: time,
    deadline: time,
    onDeadline: oneOf(['force', 'fail']),
    followUp: oneOf(followUps),
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
  },
  ['kind', 'id', 'receivedAt', 'onDeadline', 'followUp'],
);

const nodeDisruptionSpec: Schema = object(
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

/** The members of a union, each of them: one that is missing is a type error. */
const all = <Member extends string>(members: Readonly<Record<Member, true>>): readonly string[] =>
  Object.keys(members);

const waitingOnKinds = all<WaitingOn['kind']>({
  pdb: true,
  multiplePdbs: true,
  budgetHeld: true,
  termination: true,
  evictionError: true,
  tier: true,
  replacement: true,
  boomerang: true,
  marks: true,
  batch: true,
  settling: true,
  hold: true,
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

/** All kinds of WaitingOn in one: a structural schema knows no tagged unions. */
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
    forceAt: time,
    until: time,
    since: time,
    retryAt: time,
    graceEndsAt: time,
    why: oneOf(['grace', 'kubelet', 'finalizers']),
    finalizers: listOf(text(316), 64),
    podsBefore: count,
    node: text(),
    nodes: listOf(text(), 256),
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

const nodeDisruptionStatus: Schema = object(
  {
    observedGeneration: generation,
    leaderEpoch: described('The term of the leader that wrote this last.', { ...generation }),
    episode: positive,
    phase: oneOf(disruptionPhases),
    outcome: oneOf(outcomes),
    message: longText,
    startedAt: time,
    markedAt: time,
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
    handledCauses: listOf(text(1024), 128),
    completingCauses: listOf(text(1024), 128),
    previous: described(
      'How the episode before this one ended.',
      object(
        {
          episode: positive,
          outcome: oneOf(outcomes),
          message: longText,
          startedAt: time,
          deadline: time,
          endedAt: time,
        },
        ['episode'],
      ),
    ),
    boomerangs: listOf(
      object({ owner: text(512), podUids: listOf(text(63), 256) }, ['owner', 'podUids']),
      256,
    ),
    progressAt: time,
    podsTotal: count,
    podsRemaining: count,
    waitingOn: described('The first 20; waitingOnTotal counts them all.', listOf(waitingOn, 20)),
    waitingOnTotal: count,
    conditions,
  },
  ['episode', 'phase'],
);

interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly priority?: number;
}

export interface CustomResourceDefinition extends JsonObject {
  readonly metadata: { readonly name: string };
}

const definition = (options: {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly spec: Schema;
  readonly status: Schema;
  readonly scale?: JsonObject;
  /** Of the object as a whole: its spec beside what its status says. */
  readonly rules?: readonly JsonObject[];
  readonly columns: readonly Column[];
}): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${options.plural}.drover.dev` },
  spec: {
    group: 'drover.dev',
    scope: 'Cluster',
    names: {
      kind: options.kind,
      listKind: `${options.kind}List`,
      plural: options.plural,
      singular: options.singular,
      shortNames: [...options.shortNames],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            ...object(
              {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec: options.spec,
                status: options.status,
              },
              ['spec'],
            ),
            ...(options.rules === undefined
              ? {}
              : { 'x-kubernetes-validations': [...options.rules] }),
          },
        },
        subresources: {
          status: {},
          ...(options.scale === undefined ? {} : { scale: options.scale }),
        },
        additionalPrinterColumns: options.columns.map((column) => ({ ...column })),
      },
    ],
  },
});

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const nodeGroups = definition({
  kind: 'NodeGroup',
  plural: 'nodegroups',
  singular: 'nodegroup',
  shortNames: ['ng'],
  spec: nodeGroupSpec,
  status: nodeGroupStatus,
  scale: { specReplicasPath: '.spec.scaling.desired', statusReplicasPath: '.status.desired' },
  rules: [sizesOfLeaving],
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.state' },
    { name: 'Desired', type: 'integer', jsonPath: '.status.desired' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.ready' },
    { name: 'Min', type: 'integer', jsonPath: '.status.minSize' },
    { name: 'Max', type: 'integer', jsonPath: '.status.maxSize' },
    { name: 'Version', type: 'string', jsonPath: '.status.releaseVersion' },
    { name: 'Capacity', type: 'string', jsonPath: '.spec.capacityType', priority: 1 },
    { name: 'Group', type: 'string', jsonPath: '.status.autoScalingGroupName', priority: 1 },
    {
      name: 'Issue',
      type: 'string',
      jsonPath: '.status.health[0].code',
      priority: 1,
    },
    age,
  ],
});

const nodeGroupUpdates = definition({
  kind: 'NodeGroupUpdate',
  plural: 'nodegroupupdates',
  singular: 'nodegroupupdate',
  shortNames: ['ngu'],
  spec: nodeGroupUpdateSpec,
  status: nodeGroupUpdateStatus,
  columns: [
    { name: 'Group', type: 'string', jsonPath: '.spec.nodeGroup' },
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Status', type: 'string', jsonPath: '.status.status' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Done', type: 'integer', jsonPath: '.status.progress.done' },
    { name: 'Total', type: 'integer', jsonPath: '.status.progress.total' },
    // Lies in the future: a date column would print <invalid>.
    { name: 'ETA', type: 'string', jsonPath: '.status.progress.eta.p50' },
    { name: 'Held', type: 'string', jsonPath: '.status.holds[0].kind' },
    { name: 'Error', type: 'string', jsonPath: '.status.errors[0].code' },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    age,
  ],
});

const updateSequences = definition({
  kind: 'NodeGroupUpdateSequence',
  plural: 'nodegroupupdatesequences',
  singular: 'nodegroupupdatesequence',
  shortNames: ['ngus'],
  spec: updateSequenceSpec,
  status: updateSequenceStatus,
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.status' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Done', type: 'integer', jsonPath: '.status.progress.done' },
    { name: 'Total', type: 'integer', jsonPath: '.status.progress.total' },
    { name: 'Message', type: 'string', jsonPath: '.status.message' },
    age,
  ],
});

const nodeDisruptions = definition({
  kind: 'NodeDisruption',
  plural: 'nodedisruptions',
  singular: 'nodedisruption',
  shortNames: ['nd'],
  spec: nodeDisruptionSpec,
  status: nodeDisruptionStatus,
  columns: [
    { name: 'Node', type: 'string', jsonPath: '.status.node.name' },
    { name: 'Group', type: 'string', jsonPath: '.spec.nodeGroup' },
    { name: 'Cause', type: 'string', jsonPath: '.spec.causes[0].kind' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Outcome', type: 'string', jsonPath: '.status.outcome' },
    { name: 'Pods', type: 'integer', jsonPath: '.status.podsRemaining' },
    { name: 'Blockers', type: 'integer', jsonPath: '.status.waitingOnTotal' },
    // Lies in the future: a date column would print <invalid>.
    { name: 'Deadline', type: 'string', jsonPath: '.status.deadline' },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    age,
  ],
});

/** All of them, in the order in which they are installed. */
export const customResourceDefinitions: readonly CustomResourceDefinition[] = [
  nodeGroups,
  nodeGroupUpdates,
  updateSequences,
  nodeDisruptions,
];

// The CustomResourceDefinitions: printed exactly as the code has them, and strict enough.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crdDirectory, crdFile, crdYaml } from '../../scripts/print-crds.ts';
import { customResourceDefinitions } from '../../src/api/crds.ts';
import type {
  DisruptionCause,
  NodeDisruptionSpec,
  NodeDisruptionStatus,
  WaitingOn,
} from '../../src/api/disruption.ts';
import { isObject, type Json, type JsonObject, objectOr } from '../../src/api/json.ts';
import type { NodeRepairSpec, NodeRepairStatus } from '../../src/api/node-repair.ts';
import type { NodeGroupSpec, NodeGroupStatus } from '../../src/api/nodegroup.ts';
import type { NodeGroupUpdateSpec, NodeGroupUpdateStatus } from '../../src/api/nodegroup-update.ts';

const versionOf = (crd: JsonObject): JsonObject => {
  const versions = objectOr(crd.spec).versions;
  return objectOr(Array.isArray(versions) ? versions[0] : undefined);
};
const schemaOf = (crd: JsonObject): JsonObject =>
  objectOr(objectOr(versionOf(crd).schema).openAPIV3Schema);

/** Every schema below `schema`, with its path. */
function* walk(schema: JsonObject, path: string): Iterable<readonly [string, JsonObject]> {
  yield [path, schema];
  for (const [name, child] of Object.entries(objectOr(schema.properties))) {
    if (isObject(child)) yield* walk(child, `${path}.${name}`);
  }
  for (const key of ['items', 'additionalProperties']) {
    const child = schema[key];
    if (isObject(child)) yield* walk(child, `${path}[]`);
  }
}
/** T with all fields required: a new field of the types must be added to the samples below. */
type Full<T> = T extends readonly (infer Item)[]
  ? readonly Full<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]-?: Full<Exclude<T[Key], undefined>> }
    : T;

const t = '2026-01-01T00:00:00.000Z';
const conditions = [
  {
    type: 'Ready',
    status: 'True',
    reason: 'r',
    message: 'm',
    lastTransitionTime: t,
    lastHeartbeatTime: t,
    observedGeneration: 1,
  },
] as const;
const taint = { key: 'k', value: 'v', effect: 'NoSchedule', timeAdded: t } as const;
const hook = { autoScalingGroupName: 'a', name: 'h', token: 't' };
const cause: Full<DisruptionCause> = {
  kind: 'LifecycleHook',
  id: 'i',
  receivedAt: t,
  deadline: t,
  onDeadline: 'force',
  followUp: 'Release',
  isDetached: true,
  hook: { ...hook, startedAt: t, heartbeatTimeoutSeconds: 1, globalTimeoutSeconds: 1 },
  requestedBy: 'r',
  reason: 'r',
  hold: true,
  forceFrom: t,
  cooldownSeconds: 60,
  holdTermination: true,
  terminationFreeAt: t,
  cancelledAt: t,
  confirmation: { state: 'Confirmed', at: t, reason: 'r' },
  window: { startsAt: t, endsAt: t },
};
const launchTemplate = { id: 'l', name: 'n', version: '1' } as const;
const pod = 'ns/p';
const owner = 'ReplicaSet/r';
const waitingOn: {
  readonly [Kind in WaitingOn['kind']]: Full<Extract<WaitingOn, { readonly kind: Kind }>>;
} = {
  turn: { kind: 'turn', message: 'm' },
  surge: { kind: 'surge', pod, owner, message: 'm', until: t, forceAt: t },
  deregistration: {
    kind: 'deregistration',
    node: 'n',
    stage: 'end',
    targetGroups: ['tg'],
    until: t,
  },
  pdb: {
    kind: 'pdb',
    pod,
    budgets: ['ns/b'],
    owner,
    message: 'm',
    neverAllows: true,
    freedBy: 'scaleUp',
    unready: {
      pod,
      node: 'n',
      subnet: 's',
      reason: 'FailedCreatePodSandBox',
      message: 'm',
      since: t,
      others: 1,
    },
    since: t,
    forceAt: t,
  },
  multiplePdbs: { kind: 'multiplePdbs', pod, budgets: ['ns/b'], owner, since: t, forceAt: t },
  selfMoving: {
    kind: 'selfMoving',
    pod,
    budgets: ['ns/b'],
    owner,
    webhook: 'w',
    message: 'm',
    requests: 1,
    since: t,
    requestAgainAt: t,
    forceAt: t,
  },
  budgetHeld: { kind: 'budgetHeld', pod, budget: 'ns/b', until: t, forceAt: t },
  termination: {
    kind: 'termination',
    pod,
    since: t,
    graceEndsAt: t,
    why: 'grace',
    finalizers: ['f'],
  },
  evictionError: {
    kind: 'evictionError',
    pod,
    code: 'c',
    message: 'm',
    since: t,
    retryAt: t,
    forceAt: t,
  },
  tier: { kind: 'tier', pod, podsBefore: 1, priority: -1, until: t, forceAt: t },
  doNotEvict: { kind: 'doNotEvict', pod, owner, annotation: 'k=v', until: t, forceAt: t },
  job: { kind: 'job', pod, owner, until: t, forceAt: t },
  replacement: { kind: 'replacement', pod, owner, forceAt: t },
  boomerang: { kind: 'boomerang', pod, owner },
  marks: { kind: 'marks', node: 'n' },
  batch: { kind: 'batch', nodes: ['n'], until: t },
  settling: { kind: 'settling', until: t },
  volumes: { kind: 'volumes', node: 'n', volumes: ['pv-1'], until: t },
  hold: { kind: 'hold', by: 'update u' },
  cooldown: { kind: 'cooldown', until: t },
  terminationHold: { kind: 'terminationHold', by: 'update u' },
  hook: { kind: 'hook', autoScalingGroupName: 'a', hookName: 'h', message: 'm', retryAt: t },
  api: { kind: 'api', what: 'w', message: 'm' },
  instance: { kind: 'instance', message: 'm' },
};
const disruption: { spec: Full<NodeDisruptionSpec>; status: Full<NodeDisruptionStatus> } = {
  spec: { instanceId: 'i', nodeName: 'n', nodeGroup: 'g', causes: [cause] },
  status: {
    observedGeneration: 1,
    leaderEpoch: 1,
    episode: 1,
    phase: 'Draining',
    outcome: 'Drained',
    message: 'm',
    startedAt: t,
    markedAt: t,
    emptyAt: t,
    drainedAt: t,
    endedAt: t,
    heldUntil: t,
    deadline: t,
    onDeadline: 'fail',
    followUp: 'Terminate',
    node: { name: 'n', uid: 'u' },
    ownedMarks: { excludeLabel: true, unschedulable: true, taint: true, annotation: true },
    hooks: [{ ...hook, state: 'Open', lastHeartbeatAt: t, endsAt: t, result: 'CONTINUE' }],
    forcingSince: t,
    reboot: { askedAt: t, bootId: 'b' },
    handledCauses: ['i'],
    completingCauses: ['i'],
    previous: {
      episode: 1,
      outcome: 'Forced',
      message: 'm',
      startedAt: t,
      deadline: t,
      endedAt: t,
      causes: ['Update'],
      podsTotal: 2,
    },
    boomerangs: [{ owner, podUids: ['u'] }],
    stopTimes: [{ owner: 'ReplicaSet/n/r', seconds: [1] }],
    progressAt: t,
    podsTotal: 1,
    podsRemaining: 1,
    waitingOn: Object.values(waitingOn),
    waitingOnTotal: 1,
    conditions,
  },
};
const policies = {
  drain: { timeoutSeconds: 1, cooldownSeconds: 1, onTimeout: 'Force', forceAfterSeconds: 1 },
  maxQuarantined: 1,
  rollback: { auto: true, failedNewNodes: 1 },
  capacity: { onShortage: 'Fail', waitSeconds: 1 },
  blueGreen: { soakSeconds: 1, batchSoakSeconds: 1 },
} as const;

const nodeHook = {
  job: { namespace: 'n', cronJob: 'c' },
  webhook: {
    url: 'https://h',
    caBundle: 'YQ==',
    bearerTokenSecret: { namespace: 'n', name: 's', key: 'k' },
  },
  timeoutSeconds: 1,
  onFailure: 'Continue',
} as const;

const revision = {
  version: 'v',
  releaseVersion: 'r',
  imageId: 'i',
  templateVersion: '1',
  replaceEqual: true,
  launchTemplate,
} as const;

const nodeGroup: { spec: Full<NodeGroupSpec>; status: Full<NodeGroupStatus> } = {
  spec: {
    clusterName: 'c',
    autoScalingGroupName: 'a',
    amiType: 'AL2023_x86_64_STANDARD',
    capacityType: 'SPOT',
    instanceTypes: ['t'],
    version: '1.33',
    releaseVersion: '1.33.1-1',
    nodeRole: 'r',
    subnets: ['s'],
    scaling: { minSize: 0, maxSize: 1, desired: 1 },
    labels: { a: 'b' },
    taints: [taint],
    launchTemplate: { id: 'l', name: 'n', version: '1' },
    remoteAccess: { ec2SshKey: 'k', sourceSecurityGroups: ['sg'] },
    diskSizeGiB: 1,
    tags: { a: 'b' },
    updateConfig: {
      maxUnavailable: 1,
      maxUnavailablePercentage: 1,
      updateStrategy: 'DEFAULT',
      ...policies,
      hooks: {
        preDrain: nodeHook,
        postDrain: nodeHook,
        preTerminate: nodeHook,
        postReady: nodeHook,
      },
      windows: [{ cron: '0 2 * * *', durationSeconds: 60, timeZone: 'UTC' }],
      windowDefault: 'Closed',
      freezes: [{ from: t, until: t, reason: 'r' }],
      approval: 'Required',
      waves: [{ percent: 1, soakSeconds: 1, gates: ['Approval', 'Probes'] }],
      probes: [
        {
          name: 'p',
          http: { url: 'http://u', expectedStatus: 200 },
          condition: {
            apiVersion: 'v1',
            kind: 'K',
            namespace: 'n',
            name: 'n',
            type: 't',
            status: 'True',
          },
          intervalSeconds: 10,
          failureThreshold: 1,
          onFailure: 'Fail',
        },
      ],
    },
    nodeRepairConfig: {
      enabled: true,
      maxUnhealthyNodeThresholdCount: 1,
      maxUnhealthyNodeThresholdPercentage: 1,
      maxParallelNodesRepairedCount: 1,
      maxParallelNodesRepairedPercentage: 1,
      nodeRepairConfigOverrides: [
        {
          nodeMonitoringCondition: 'c',
          nodeUnhealthyReason: 'r',
          minRepairWaitTimeMins: 1,
          repairAction: 'Replace',
        },
      ],
    },
    nodeRepair: {
      mode: 'Audit',
      rules: [{ condition: 'Ready', reason: 'r', waitSeconds: 1, actions: ['Reboot'] }],
      drainTimeoutSeconds: 1,
      startupTimeoutSeconds: 1,
      healthyDelaySeconds: 1,
      stormCooldownSeconds: 1,
      collectBundle: true,
      quarantine: { timeLimitSeconds: 3600, maxInstances: 1 },
    },
    lifecycleHooks: 'Leave',
    deletionPolicy: 'Retain',
    drain: {
      timeoutSeconds: 1,
      onDeadline: 'fail',
      selfMoving: {
        podSelector: {
          matchLabels: { a: 'b' },
          matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }],
        },
        requestEverySeconds: 60,
      },
      doNotEvict: { waitSeconds: 1 },
      jobs: { waitSeconds: 1 },
      tiers: [{ priority: -1, waitSeconds: 1 }],
      forceIntervalSeconds: 1,
      loadBalancers: { beforeSeconds: 1, afterSeconds: 1 },
      onFailure: 'retain',
      lifecycleHooks: ['h'],
      launch: { startupTaints: ['t'] },
      lateNodes: { withinSeconds: 1 },
      stateChanges: 'Ignore',
      zoneShift: { zones: ['z'] },
      surge: { waitSeconds: 1 },
      volumes: { waitSeconds: 1 },
    },
  },
  status: {
    observedGeneration: 1,
    state: 'ACTIVE',
    desired: 1,
    minSize: 0,
    maxSize: 1,
    instances: 1,
    ready: 1,
    capacityType: 'SPOT',
    perZone: { a: 1 },
    adopted: {
      clusterName: 'c',
      capacityType: 'SPOT',
      instanceTypes: ['m5.large'],
      subnets: ['subnet-1'],
      nodeRole: 'arn:aws:iam::111111111111:role/r',
      launchTemplate: { id: 'lt-1', name: 'lt', version: '1' },
      version: '1.32',
      imageId: 'ami-1',
      minSize: 0,
      maxSize: 1,
    },
    perTemplateVersion: { 1: 1 },
    templateGeneration: 1,
    updating: {
      name: 'u',
      turn: 't',
      strategy: 'SURGE',
      from: revision,
      target: revision,
      original: { minSize: 1, maxSize: 1, desired: 1 },
      nodes: 1,
      surge: 1,
      maxUnavailable: 1,
      suspends: ['AZRebalance'],
      suspendedIn: 1,
      skippedTypes: ['m5.large'],
      restored: '1',
    },
    surge: {
      desired: 1,
      maxSize: 1,
      base: 1,
      retiring: 1,
      carried: 1,
      left: 1,
      takenUntil: t,
      next: { desired: 1, maxSize: 1, carried: 1 },
    },
    sizeCalls: [
      {
        minSize: 0,
        maxSize: 1,
        desired: 1,
        epoch: 1,
        at: t,
        instead: { minSize: 0, maxSize: 1, desired: 1 },
      },
    ],
    requestedRevision: { version: 'v', releaseVersion: 'r', launchTemplate },
    version: 'v',
    launchTemplate,
    autoScalingGroupName: 'a',
    releaseVersion: 'r',
    imageId: 'i',
    createdAt: t,
    requested: { minSize: 0, maxSize: 1, desired: 1 },
    scaleIn: { id: 'i', target: 0, since: t },
    failure: { code: 'c', message: 'm', resourceIds: ['r'], generation: 1, at: t },
    failedUpdate: 'u',
    nodeLabels: ['a'],
    nodeTaints: [{ key: 'k', effect: 'NoSchedule' }],
    nodeMarks: { applied: 'a', since: '2026-01-01T00:00:00Z', owed: ['i-1'] },
    health: [{ code: 'c', message: 'm', resourceIds: ['r'] }],
    conditions,
  },
};

const nodeGroupUpdate: { spec: Full<NodeGroupUpdateSpec>; status: Full<NodeGroupUpdateStatus> } = {
  spec: {
    nodeGroup: 'g',
    type: 'ConfigUpdate',
    params: [{ type: 't', value: 'v' }],
    change: {
      scaling: { minSize: 0, maxSize: 1, desired: 1 },
      addLabels: { a: 'b' },
      removeLabels: ['a'],
      addTaints: [taint],
      removeTaints: [taint],
      updateConfig: nodeGroup.spec.updateConfig,
      nodeRepairConfig: nodeGroup.spec.nodeRepairConfig,
      version: 'v',
      releaseVersion: 'r',
      launchTemplate,
    },
    action: 'Rollback',
    force: true,
    replaceEqual: true,
    strategy: 'SURGE',
    reason: 'r',
    policies,
    waivers: [{ check: 'c', reason: 'r', by: 'b' }],
    planHash: 'h',
    predicted: { p50Seconds: 1, p90Seconds: 2 },
    paused: true,
    abort: 'Stop',
  },
  status: {
    status: 'Failed',
    phase: 'Applied',
    generation: 1,
    startedAt: t,
    endedAt: t,
    errors: [{ code: 'c', message: 'm', resourceIds: ['r'] }],
    message: 'm',
    strategy: 'DEFAULT',
    from: revision,
    target: revision,
    original: { minSize: 0, maxSize: 1, desired: 1 },
    suspends: ['AZRebalance'],
    suspendedIn: 1,
    hooks: [
      {
        hook: 'preDrain',
        instanceId: 'i',
        node: 'n',
        job: 'n/j',
        webhook: 'https://h',
        id: 'c',
        state: 'Failed',
        since: t,
        attempt: 1,
        message: 'm',
      },
    ],
    hookTimes: [{ hook: 'preDrain', seconds: 1 }],
    stopTimes: [{ owner: 'ReplicaSet/n/r', seconds: [1] }],
    webhooksDone: ['n'],
    holds: [{ kind: 'Window', reason: 'r', since: t, until: t }],
    held: 'Window',
    wave: { number: 1, of: 2, upTo: 3, doneAt: t },
    failingProbes: [{ name: 'p', failures: 1, message: 'm' }],
    maxUnavailable: 1,
    surge: 2,
    progress: {
      total: 3,
      done: 1,
      draining: 1,
      failed: 0,
      emptied: 1,
      quarantined: 1,
      eta: { p50: t, p90: t },
    },
    pace: [{ at: t, done: 1, paused: true }],
    shortages: [{ zone: 'z', code: 'c', message: 'm', at: t }],
    missing: [{ zone: 'z', instanceId: 'i', code: 'c', message: 'm', since: t }],
    skippedTypes: [{ type: 't', message: 'm' }],
    fallbacks: [{ zone: 'z', type: 't', nodes: 1 }],
    waitingSince: t,
    phases: [{ phase: 'Preparing', at: t }],
    failedNodes: [{ instanceId: 'i', node: 'n', message: 'm', outcome: 'Skipped' }],
    goesBack: 'c',
    pausedSince: t,
    restored: '3',
    leftover: 1,
    ending: 'Failed',
  },
};

const nodeRepair: { spec: Full<NodeRepairSpec>; status: Full<NodeRepairStatus> } = {
  spec: {
    nodeGroup: 'g',
    instanceId: 'i',
    node: { name: 'n', uid: 'u' },
    availabilityZone: 'z',
    unhealthySince: t,
    condition: 'Ready',
    reason: 'r',
    requested: { action: 'Reboot', at: t, by: 'b', overrule: ['cooldown'] },
  },
  status: {
    phase: 'Blocked',
    message: 'm',
    findings: [{ condition: 'Ready', reason: 'r', since: t, message: 'm' }],
    action: 'Replace',
    eligibleAt: t,
    blockedBy: [{ kind: 'hold', message: 'm', until: t }],
    cooldownUntil: t,
    attempts: [
      {
        action: 'Reboot',
        causeId: 'c',
        startedAt: t,
        bootId: 'b',
        bundle: { requestedAt: t, endedAt: t, outcome: 'Collected', message: 'm' },
        endedAt: t,
        outcome: 'Failed',
        message: 'm',
      },
    ],
    replacement: 'i',
    quarantinedUntil: '2026-01-01T00:00:00Z',
    endedAt: t,
  },
};

/**
 * The parts of a value that the schema refuses or would prune. It covers only the validation that
 * Drover relies on.
 */
const problems = (value: unknown, schema: JsonObject, path: string): readonly string[] => {
  if (Array.isArray(value)) {
    return value.flatMap((item) => problems(item, objectOr(schema.items), `${path}[]`));
  }
  if (isObject(value)) {
    const open = schema.additionalProperties;
    return Object.entries(value).flatMap(([key, child]) => {
      const inner = isObject(open) ? open : objectOr(schema.properties)[key];
      const at = `${path}.${key}`;
      return isObject(inner) ? problems(child, inner, at) : [`${at} is not in the schema`];
    });
  }
  const wanted = schema.type === 'integer' ? 'number' : schema.type;
  if (typeof value !== wanted) return [`${path} is ${typeof value}`];
  const allowed = schema.enum;
  if (!Array.isArray(allowed) || allowed.includes(value)) return [];
  return [`${path} may not be ${JSON.stringify(value)}`];
};
const all = customResourceDefinitions.map((crd): [string, JsonObject] => [crd.metadata.name, crd]);

describe('the CustomResourceDefinitions', () => {
  it('stand in deploy/crds as the code has them (node scripts/print-crds.ts)', () => {
    expect(readdirSync(crdDirectory).sort()).toEqual(customResourceDefinitions.map(crdFile).sort());
    for (const crd of customResourceDefinitions) {
      expect(readFileSync(join(crdDirectory, crdFile(crd)), 'utf8')).toBe(crdYaml(crd));
    }
  });

  it.each(all)('%s has a structural schema: every level typed, nothing preserved', (_, crd) => {
    let seen = 0;
    for (const [path, schema] of walk(schemaOf(crd), '')) {
      seen++;
      expect(typeof schema.type, `${path} has no type`).toBe('string');
      expect(schema['x-kubernetes-preserve-unknown-fields'], path).toBeUndefined();
      const { properties, required } = schema;
      for (const name of Array.isArray(required) ? required : []) {
        expect(Object.keys(objectOr(properties)), path).toContain(name);
      }
    }
    expect(seen).toBeGreaterThan(40);
  });

  it('say in docs/cli.md from which Kubernetes on they may be applied, as their rules ask for it', () => {
    const rules = JSON.stringify(customResourceDefinitions);
    expect(rules).toContain('"optionalOldSelf":true');
    const docs = readFileSync(join(crdDirectory, '../../docs/cli.md'), 'utf8');
    expect(docs).toMatch(/definitions .* need Kubernetes 1\.30 or later/);
    // CEL features of later Kubernetes versions: libraries for formats and semantic versions,
    // two-variable macros.
    expect(rules).not.toMatch(/format\.|semver\(|transformList|transformMap/);
  });

  it.each(all)('%s bounds its lists, maps and texts', (_, crd) => {
    for (const [path, schema] of walk(schemaOf(crd), '')) {
      if (['', '.apiVersion', '.kind', '.metadata'].includes(path)) continue;
      if (schema.type === 'array') expect(schema.maxItems, path).toBeTypeOf('number');
      if (isObject(schema.additionalProperties)) {
        expect(schema.maxProperties, path).toBeTypeOf('number');
      }
      const closed = schema.enum !== undefined || schema.format !== undefined;
      if (schema.type === 'string' && !closed) {
        expect(schema.maxLength, path).toBeTypeOf('number');
      }
    }
  });

  it.each(all)('%s shows only past times in date columns, and columns that exist', (_, crd) => {
    const columns: readonly Json[] = Object.values(versionOf(crd).additionalPrinterColumns ?? []);
    const paths = [...walk(schemaOf(crd), '')].map(([path]) => path);
    const pastTimes = ['.metadata.creationTimestamp', '.status.startedAt'];
    for (const column of columns.map(objectOr)) {
      const path = String(column.jsonPath);
      if (column.type === 'date') expect(pastTimes).toContain(path);
      else expect(paths).toContain(path.replace(/\[0\]/, '[]'));
    }
    expect(columns.length).toBeGreaterThan(4);
  });

  it.each([
    ['nodegroups.drover.dev', nodeGroup],
    ['nodegroupupdates.drover.dev', nodeGroupUpdate],
    ['nodedisruptions.drover.dev', disruption],
    ['noderepairs.drover.dev', nodeRepair],
  ])('%s holds every field that the types have, so that the server prunes none', (name, full) => {
    const crd = all.find(([each]) => each === name)?.[1] ?? {};
    expect(problems(full, schemaOf(crd), '')).toEqual([]);
    expect(problems({ spec: { novel: 1 } }, schemaOf(crd), '')).toHaveLength(1);
  });

  it('lets kubectl scale a NodeGroup', () => {
    const group = all.find(([name]) => name === 'nodegroups.drover.dev')?.[1] ?? {};
    expect(versionOf(group).subresources).toEqual({
      status: {},
      scale: { specReplicasPath: '.spec.scaling.desired', statusReplicasPath: '.status.desired' },
    });
  });
});

// Builders of small traces for the oracles' tests: a story in function calls, times in seconds from
// its start. Each call adds the entries that a world would write, objects before the request that
// changed them.
import { defined } from '../../src/api/defined.ts';
import type { Json, JsonObject } from '../../src/api/json.ts';
import type { Trace, TraceEntry, TraceFacts } from '../../src/api/trace.ts';
import { type Oracle, runOracles } from '../../world/check/oracle.ts';

export const us = 'vpcLambda/v0.0.0 (linux/amd64) kubernetes/$Format';
export const kubectl = 'kubectl/v1.32.4';
export const group = 'eks-ng1';
export const hookName = 'Terminate-LC-Hook';
export const i1 = 'i-0123456789abcdef0';
export const i2 = 'i-0123456789abcdef1';

const epochMs = Date.parse('2022-09-25T13:00:00Z');
/** `seconds` of the story as RFC 3339. */
export const timeAt = (seconds: number): string => new Date(epochMs + seconds * 1000).toISOString();

interface NodeOptions {
  readonly label?: string | undefined;
  readonly cordon?: boolean;
  readonly taint?: boolean;
  readonly ready?: boolean;
  readonly uid?: string;
  readonly instance?: string;
  readonly by?: string;
}

interface PodOptions {
  readonly node?: string;
  readonly ready?: boolean;
  readonly phase?: string;
  readonly app?: string;
  readonly uid?: string;
  readonly owner?: string;
  readonly mirror?: boolean;
  readonly graceSeconds?: number;
  readonly terminating?: boolean;
  readonly spec?: JsonObject;
}

interface CauseOptions {
  readonly kind?: string;
  readonly id?: string;
  readonly receivedAt?: number;
  readonly deadline?: number;
  readonly onDeadline?: 'force' | 'fail';
  readonly cancelledAt?: number;
  readonly answer?: 'Pending' | 'Confirmed' | 'Refuted';
  readonly followUp?: string;
  readonly hook?: string;
  readonly token?: string;
  readonly hold?: boolean;
  readonly holdTermination?: boolean;
  readonly forceFrom?: number;
  readonly cooldownSeconds?: number;
  /** Start and end, in seconds of the story. */
  readonly window?: readonly [number, number];
}

interface DisruptionOptions {
  readonly node?: string;
  readonly causes?: readonly CauseOptions[];
  readonly by?: string;
  readonly status?: JsonObject;
}

export class Story {
  readonly #facts: TraceFacts;
  readonly #entries: TraceEntry[] = [];
  readonly #objects = new Map<string, JsonObject>();
  #now = 0;
  #version = 0;

  constructor(facts: Partial<TraceFacts> = {}) {
    this.#facts = {
      ownAgents: [us],
      managedGroups: [group],
      compat: 'eks',
      settled: false,
      endedAt: 0,
      ...facts,
    };
  }

  /** Sets the story's clock. */
  at(seconds: number): this {
    this.#now = seconds;
    return this;
  }

  get micros(): number {
    return epochMs * 1000 + Math.round(this.#now * 1_000_000);
  }

  add(entry: TraceEntry): this {
    this.#entries.push(entry);
    return this;
  }

  trace(): Trace {
    return { facts: { ...this.#facts, endedAt: this.micros }, entries: this.#entries };
  }

  object(resource: string, object: JsonObject): this {
    const metadata = object.metadata as JsonObject;
    const key = `${resource} ${String(metadata.namespace ?? '')}/${String(metadata.name)}`;
    const known = this.#objects.get(key)?.metadata as JsonObject | undefined;
    const isSame = known !== undefined && known.uid === metadata.uid;
    const resourceVersion = String(++this.#version);
    const stored = { ...object, metadata: { ...metadata, resourceVersion } };
    this.#objects.set(key, stored);
    const type = isSame ? 'MODIFIED' : 'ADDED';
    return this.add({ kind: 'object', at: this.micros, type, resource, object: stored });
  }

  request(
    request: { readonly verb: string; readonly resource: string; readonly by?: string } & Partial<
      Extract<TraceEntry, { kind: 'request' }>
    >,
  ): this {
    const { by = us, ...rest } = request;
    return this.add({
      at: this.micros,
      username: 'somebody',
      code: 200,
      dryRun: false,
      ...rest,
      kind: 'request',
      userAgent: by,
    });
  }

  /** The node's current state, and the patch that led to it. */
  node(name: string, options: NodeOptions = {}): this {
    const { label, cordon = false, taint = false, ready = true, by = us } = options;
    const { uid = `uid-${name}`, instance = i1 } = options;
    const labels = label === undefined ? {} : { [excludeLabel]: label };
    return this.object('nodes', {
      metadata: { name, uid, labels },
      spec: {
        providerID: `aws:///eu-west-1a/${instance}`,
        ...(cordon ? { unschedulable: true } : {}),
        ...(taint ? { taints: [{ key: 'drover.dev/disrupted', effect: 'NoSchedule' }] } : {}),
      },
      status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }] },
    }).request({ verb: 'patch', resource: 'nodes', name, by });
  }

  marked(name: string, options: NodeOptions = {}): this {
    return this.node(name, { label: 'true', cordon: true, ...options });
  }

  pod(name: string, options: PodOptions = {}): this {
    const { node = 'n1', ready = true, phase = 'Running', app = 'web', mirror = false } = options;
    const { uid = `uid-${name}`, owner = `ReplicaSet/${app}-5d`, graceSeconds = 30 } = options;
    const [kind = '', ownerName = ''] = owner.split('/');
    return this.object('pods', {
      metadata: {
        name,
        namespace: 'demo',
        uid,
        labels: { app },
        ownerReferences: [{ kind, name: ownerName, uid: `uid-${ownerName}`, controller: true }],
        ...(mirror ? { annotations: { 'kubernetes.io/config.mirror': 'x' } } : {}),
        ...(options.terminating ? { deletionTimestamp: timeAt(this.#now + graceSeconds) } : {}),
      },
      spec: { nodeName: node, terminationGracePeriodSeconds: graceSeconds, ...options.spec },
      status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    });
  }

  gone(
    resource: 'pods' | 'nodes' | 'nodegroups' | 'nodedisruptions' | 'noderepairs',
    name: string,
  ): this {
    const namespace = resource === 'pods' ? 'demo' : '';
    const object = this.#objects.get(`${resource} ${namespace}/${name}`);
    if (object === undefined) throw new Error(`no ${resource} ${name} in this story`);
    return this.add({ kind: 'object', at: this.micros, type: 'DELETED', resource, object });
  }

  budget(
    name: string,
    options: { app?: string; desired: number; allowed?: number; alwaysAllow?: boolean },
  ): this {
    const { app = 'web', desired, allowed = 1 } = options;
    const policy = options.alwaysAllow ? { unhealthyPodEvictionPolicy: 'AlwaysAllow' } : {};
    return this.object('poddisruptionbudgets', {
      metadata: { name, namespace: 'demo', uid: `uid-${name}` },
      spec: { selector: { matchLabels: { app } }, ...policy },
      status: { desiredHealthy: desired, disruptionsAllowed: allowed },
    });
  }

  /** An accepted eviction: the pod terminates, then the answer follows. */
  evict(name: string, options: PodOptions & { by?: string; grace?: number } = {}): this {
    return this.pod(name, { ...options, terminating: true }).request({
      verb: 'create',
      resource: 'pods',
      subresource: 'eviction',
      namespace: 'demo',
      name,
      code: 201,
      by: options.by ?? us,
      body: {
        deleteOptions: options.grace === undefined ? {} : { gracePeriodSeconds: options.grace },
      },
    });
  }

  deletePod(name: string, options: PodOptions & { by?: string; grace?: number } = {}): this {
    const body: Json = options.grace === undefined ? {} : { gracePeriodSeconds: options.grace };
    return this.pod(name, { ...options, terminating: true }).request({
      verb: 'delete',
      resource: 'pods',
      namespace: 'demo',
      name,
      by: options.by ?? us,
      body,
    });
  }

  /** The current journal of an instance, and its write. */
  disruption(name: string, options: DisruptionOptions = {}): this {
    const { node = 'n1', causes = [{}], by = us, status } = options;
    return this.object('nodedisruptions', {
      metadata: { name, uid: `uid-${name}` },
      spec: { instanceId: name, nodeName: node, causes: causes.map(causeOf) },
      ...(status === undefined ? {} : { status: { episode: 1, ...status } }),
    }).request({ verb: 'patch', resource: 'nodedisruptions', subresource: 'status', name, by });
  }

  /** A drain in phase Draining on a marked node, as most stories need. */
  draining(name: string, options: DisruptionOptions = {}): this {
    const { node = 'n1', status = {} } = options;
    return this.disruption(name, { ...options, status: { phase: 'Marking', ...status } })
      .marked(node, { instance: name })
      .disruption(name, { ...options, status: { phase: 'Draining', ...status } });
  }

  call(operation: string, input: JsonObject, more: { error?: string; message?: string } = {}) {
    const service = operation.endsWith('Message') ? 'sqs' : 'autoscaling';
    const rest = { service, operation, userAgent: us, input, ...more };
    return this.add({ kind: 'call', at: this.micros, ...rest });
  }

  hookCall(
    operation: 'CompleteLifecycleAction' | 'RecordLifecycleActionHeartbeat',
    instanceId: string,
    more: { error?: string; group?: string; hook?: string } = {},
  ): this {
    const input = {
      AutoScalingGroupName: more.group ?? group,
      LifecycleHookName: more.hook ?? hookName,
      InstanceId: instanceId,
      ...(operation === 'CompleteLifecycleAction' ? { LifecycleActionResult: 'CONTINUE' } : {}),
    };
    return this.call(operation, input, more.error === undefined ? {} : { error: more.error });
  }

  state(instanceId: string, state: string, more: { group?: string } = {}): this {
    const autoScalingGroupName = more.group ?? group;
    const entry = { at: this.micros, instanceId, autoScalingGroupName, state };
    return this.add({ kind: 'lifecycle', ...entry });
  }

  hookEnded(
    instanceId: string,
    by: 'completed' | 'timeout',
    more: { name?: string; state?: string; group?: string } = {},
  ): this {
    return this.add({
      kind: 'lifecycle',
      at: this.micros,
      instanceId,
      autoScalingGroupName: more.group ?? group,
      state: more.state ?? 'Terminating:Wait',
      hookEnded: { name: more.name ?? hookName, by, result: 'CONTINUE' },
    });
  }

  fault(fault: string, what: 'on' | 'off' | 'fired', facts?: JsonObject): this {
    const more = facts === undefined ? {} : { facts };
    return this.add({ kind: 'fault', at: this.micros, fault, what, ...more });
  }
}

const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';

const causeOf = (cause: CauseOptions): JsonObject => ({
  kind: cause.kind ?? 'LifecycleHook',
  confirmation: { state: cause.answer ?? 'Confirmed', at: timeAt(0), reason: 'the cloud' },
  id: cause.id ?? 'c1',
  receivedAt: timeAt(cause.receivedAt ?? 0),
  onDeadline: cause.onDeadline ?? 'force',
  followUp: cause.followUp ?? 'Release',
  ...(cause.deadline === undefined ? {} : { deadline: timeAt(cause.deadline) }),
  ...defined({ hold: cause.hold, holdTermination: cause.holdTermination }),
  ...(cause.forceFrom === undefined ? {} : { forceFrom: timeAt(cause.forceFrom) }),
  ...defined({ cooldownSeconds: cause.cooldownSeconds }),
  ...(cause.window === undefined
    ? {}
    : { window: { startsAt: timeAt(cause.window[0]), endsAt: timeAt(cause.window[1]) } }),
  ...(cause.cancelledAt === undefined ? {} : { cancelledAt: timeAt(cause.cancelledAt) }),
  ...(cause.hook === undefined
    ? {}
    : {
        hook: {
          autoScalingGroupName: group,
          name: cause.hook,
          startedAt: timeAt(0),
          heartbeatTimeoutSeconds: 1800,
          globalTimeoutSeconds: 172_800,
          ...defined({ token: cause.token }),
        },
      }),
});

/** The oracles' violations in a story, and how much they checked. */
export const judge = (judges: Oracle | readonly Oracle[], story: Story) => {
  const { violations, checked } = runOracles([judges].flat(), story.trace());
  return {
    said: violations.map(({ subject, message }) => `${subject}: ${message}`),
    saw: Object.values(checked).reduce((sum, count) => sum + count, 0),
  };
};

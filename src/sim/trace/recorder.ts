// Records what happens in a world as a Trace for the oracles: requests, committed objects, cloud
// calls, lifecycle states, faults. Observes only; never changes a step.

import type { StoreChange, WriteRecord } from '../../../world/contracts.ts';
import type { World } from '../../../world/index.ts';
import { defined } from '../../api/defined.ts';
import { isObject, type JsonObject } from '../../api/json.ts';
import type { Trace, TraceEntry, TraceFacts } from '../../api/trace.ts';

/** Resources whose objects the oracles read. */
const recorded = [
  { group: '', resource: 'nodes' },
  { group: '', resource: 'pods' },
  { group: 'apps', resource: 'deployments' },
  { group: 'policy', resource: 'poddisruptionbudgets' },
  { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' },
  { group: 'drover.dev', resource: 'nodedisruptions' },
  { group: 'drover.dev', resource: 'nodegroups' },
  { group: 'drover.dev', resource: 'nodegroupupdates' },
  { group: 'drover.dev', resource: 'noderepairs' },
] as const;
const configMaps = { group: '', resource: 'configmaps' } as const;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export class TraceRecorder {
  readonly entries: TraceEntry[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Lease writes are omitted: the oracles judge what leaders do, not who leads. */
  request(record: WriteRecord): void {
    if (record.resource === 'leases') return;
    const { subresource, namespace, name, body, ...rest } = record;
    this.entries.push({
      kind: 'request',
      at: this.#now(),
      ...rest,
      ...defined({ subresource, namespace, name, body }),
    });
  }

  call(call: {
    readonly service: string;
    readonly operation: string;
    readonly userAgent: string;
    readonly input: JsonObject;
    readonly error?: string;
    readonly message?: string;
  }): void {
    this.entries.push({ kind: 'call', at: this.#now(), ...call });
  }

  fault(fault: string, what: 'on' | 'off' | 'fired', facts?: JsonObject): void {
    const more = facts === undefined ? {} : { facts };
    this.entries.push({ kind: 'fault', at: this.#now(), fault, what, ...more });
  }

  /** Call before the world is populated. */
  attach(world: World): void {
    for (const resource of recorded) {
      world.kube.onChange(resource, (change) => this.#object(resource.resource, change));
    }
    world.kube.onChange(configMaps, (change) => {
      const isWatched = change.object.metadata.name === 'aws-auth';
      if (isWatched) this.#object(configMaps.resource, change);
    });
    this.#attachLifecycle(world);
    this.#attachInstances(world);
    this.#attachGroups(world);
    this.#attachScheduled(world);
  }

  #object(resource: string, { type, object }: StoreChange): void {
    this.entries.push({ kind: 'object', at: this.#now(), type, resource, object });
  }

  finish(facts: TraceFacts): Trace {
    return { facts, entries: this.entries };
  }

  #attachLifecycle(world: World): void {
    const { tables } = world.kernel;
    const members = tables.open<JsonObject>('aws/autoscaling/instances');
    const actions = tables.open<JsonObject>('aws/autoscaling/actions');
    const states = new Map<string, string>();
    const open = new Map<string, JsonObject>();
    tables.observe('aws/autoscaling/instances', (instanceId) => {
      const row = members.get(instanceId);
      const state = row === undefined ? 'Terminated' : text(row.state);
      if (states.get(instanceId) === state) return;
      states.set(instanceId, state);
      this.#lifecycle(instanceId, text(row?.group), state);
    });
    tables.observe('aws/autoscaling/actions', (token) => {
      const row = actions.get(token);
      if (isObject(row)) {
        open.set(token, row);
        return;
      }
      const ended = open.get(token);
      open.delete(token);
      if (ended !== undefined) this.#hookEnded(ended, states);
    });
  }

  /** EC2's own state of each instance. */
  #attachInstances(world: World): void {
    const { tables } = world.kernel;
    const instances = tables.open<JsonObject>('aws/ec2/instances');
    const states = new Map<string, string>();
    tables.observe('aws/ec2/instances', (instanceId) => {
      const row = instances.get(instanceId);
      const state = text(row?.state);
      if (state === '' || states.get(instanceId) === state) return;
      states.set(instanceId, state);
      this.entries.push({
        kind: 'instance',
        at: this.#now(),
        instanceId,
        state,
        market: row?.capacityType === 'SPOT' ? 'spot' : 'on-demand',
        privateDnsName: text(row?.privateDnsName),
        addresses: [text(row?.privateIp)],
      });
    });
  }

  /** The events that EC2 schedules for instances, whether or not a message announced them. */
  #attachScheduled(world: World): void {
    const { tables } = world.kernel;
    const events = tables.open<JsonObject>('aws/ec2/scheduled-events');
    tables.observe('aws/ec2/scheduled-events', (id) => {
      const row = events.get(id);
      if (row === undefined) return;
      const what = row.state === 'scheduled' ? 'on' : 'off';
      this.fault(text(row.code), what, { id, instanceId: text(row.instanceId) });
    });
  }

  #attachGroups(world: World): void {
    const { tables } = world.kernel;
    const groups = tables.open<JsonObject>('aws/autoscaling/groups');
    const known = new Map<string, string>();
    tables.observe('aws/autoscaling/groups', (autoScalingGroupName) => {
      const row = groups.get(autoScalingGroupName);
      if (row === undefined) return;
      const suspended = Array.isArray(row.suspended) ? row.suspended.map(String) : [];
      const [minSize, maxSize] = [Number(row.min), Number(row.max)];
      const sizes = { minSize, maxSize, desired: Number(row.desired), suspended };
      const text = JSON.stringify(sizes);
      if (known.get(autoScalingGroupName) === text) return;
      known.set(autoScalingGroupName, text);
      this.entries.push({ kind: 'scaling', at: this.#now(), autoScalingGroupName, ...sizes });
    });
  }

  #lifecycle(instanceId: string, autoScalingGroupName: string, state: string): void {
    this.entries.push({
      kind: 'lifecycle',
      at: this.#now(),
      instanceId,
      autoScalingGroupName,
      state,
    });
  }

  /** An action that is removed at its deadline timed out; an earlier removal is a completion. */
  #hookEnded(action: JsonObject, states: ReadonlyMap<string, string>): void {
    const instanceId = text(action.instanceId);
    const timedOut = this.#now() >= Number(action.deadlineAt) * 1000;
    this.entries.push({
      kind: 'lifecycle',
      at: this.#now(),
      instanceId,
      autoScalingGroupName: text(action.group),
      state: states.get(instanceId) ?? '',
      hookEnded: {
        name: text(action.hook),
        by: timedOut ? 'timeout' : 'completed',
        result: timedOut ? text(action.defaultResult) : 'CONTINUE',
      },
    });
  }
}

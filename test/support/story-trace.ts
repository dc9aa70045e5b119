// What happened in a served world, as a Trace for the oracles, read from its data directory once it
// has stopped: requests and objects from the audit log; calls from the trail; hooks and instances
// from the scaling activities. And the world's state at the end, to hold the trace against.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/adapters/store/index.ts';
import { defined } from '../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { Trace, TraceEntry, TraceFacts } from '../../src/api/trace.ts';
import { finalFacts, traceFromAudit } from '../../world/check/index.ts';

export type FinalFacts = ReturnType<typeof finalFacts>;

/** What only the story knows. */
export interface StoryFacts {
  /**
   * User agents of Drover's processes begin with one of these; after the SDK's own words where they
   * call AWS through it.
   */
  readonly agents: readonly string[];
  readonly compat: 'eks' | 'native';
  readonly settled: boolean;
  /** Of the API server that the story was told on. */
  readonly auditLogPath: string;
  /** The world was the cloud of another API server, whose clock is not the world's. */
  readonly isCloudAlone?: boolean;
  /** How far our processes' clock and the world's may be apart; 0 unless given. */
  readonly clockSkew?: number;
  /** Faults and kills, in order. */
  readonly faults: readonly TraceEntry[];
}

export interface StoryTrace {
  readonly trace: Trace;
  /** The world's state, told as a trace of its own. */
  readonly end: Trace;
}

type Rows = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;

const microsPerMs = 1000;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const micros = (ms: unknown): number => Number(ms) * microsPerMs;
const instanceIn = (words: unknown): string => /i-[0-9a-f]{17}/.exec(text(words))?.[0] ?? '';

const readRows = (dataDir: string): Rows => {
  const tables = new Map<string, Map<string, JsonObject>>();
  const store = openSqliteStore(join(dataDir, 'world.db'));
  try {
    for (const { table, key, value } of store.load()) {
      const rows = tables.get(table) ?? new Map<string, JsonObject>();
      tables.set(table, rows.set(key, objectOr(value)));
    }
  } finally {
    store.close();
  }
  return tables;
};

const rowsOf = (tables: Rows, name: string): readonly JsonObject[] => [
  ...(tables.get(name)?.values() ?? []),
];

/** The trail's parameters begin with a small letter, the API's with a capital. */
const inputOf = (parameters: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(parameters).map(([key, value]) => [
      key.charAt(0).toUpperCase() + key.slice(1),
      value,
    ]),
  );

type Call = Extract<TraceEntry, { kind: 'call' }>;
type Lifecycle = Extract<TraceEntry, { kind: 'lifecycle' }>;

const callsOf = (tables: Rows): readonly Call[] =>
  rowsOf(tables, 'aws/cloudtrail/events').map((row) => {
    const event = objectOr(row.event);
    const error = text(event.errorCode);
    return {
      kind: 'call',
      // The trail cuts to milliseconds: what came before within this one must stand before.
      at: micros(row.time) + microsPerMs - 1,
      service: text(event.eventSource).replace('.amazonaws.com', ''),
      operation: text(event.eventName),
      userAgent: text(event.userAgent),
      input: inputOf(objectOr(event.requestParameters)),
      ...(error === '' ? {} : { error }),
    };
  });

interface Activity {
  readonly row: JsonObject;
  readonly instanceId: string;
  readonly group: string;
  readonly isLaunch: boolean;
}

/** How a hook ended: by a call that completed it, else by its timeout. */
const hookEndOf = (
  activity: Activity,
  hook: string,
  calls: readonly Call[],
): Pick<Lifecycle, 'at' | 'hookEnded'> | undefined => {
  const { row, instanceId, group } = activity;
  const completed = calls.find(
    ({ operation, input, error, at }) =>
      operation === 'CompleteLifecycleAction' &&
      error === undefined &&
      input.InstanceId === instanceId &&
      input.LifecycleHookName === hook &&
      input.AutoScalingGroupName === group &&
      at >= micros(row.startedAt),
  );
  if (completed !== undefined) {
    const result = text(completed.input.LifecycleActionResult);
    return { at: completed.at, hookEnded: { name: hook, by: 'completed', result } };
  }
  if (row.endedAt === undefined) return undefined;
  return {
    at: micros(row.endedAt),
    hookEnded: { name: hook, by: 'timeout', result: 'CONTINUE' },
  };
};

const lifecycleOf = (tables: Rows, calls: readonly Call[]): readonly Lifecycle[] => {
  const hooks = rowsOf(tables, 'aws/autoscaling/hooks');
  return rowsOf(tables, 'aws/autoscaling/activities').flatMap((row) => {
    const [group, description] = [text(row.group), text(row.description)];
    const instanceId = instanceIn(description);
    if (instanceId === '') return [];
    const isLaunch = description.startsWith('Launching');
    const wanted = `autoscaling:EC2_INSTANCE_${isLaunch ? 'LAUNCHING' : 'TERMINATING'}`;
    const entry = (at: number, state: string, hookEnded?: Lifecycle['hookEnded']): Lifecycle => ({
      kind: 'lifecycle',
      at,
      instanceId,
      autoScalingGroupName: group,
      state,
      ...defined({ hookEnded }),
    });
    const word = isLaunch ? 'Pending' : 'Terminating';
    const own = hooks.filter((hook) => hook.group === group && hook.transition === wanted);
    // An instance that is there when its world begins went through no hook.
    const waits = own.length > 0 && row.endedAt !== row.startedAt;
    const entries = [entry(micros(row.startedAt), waits ? `${word}:Wait` : word)];
    for (const hook of waits ? own : []) {
      const end = hookEndOf({ row, instanceId, group, isLaunch }, text(hook.name), calls);
      if (end !== undefined) entries.push(entry(end.at, `${word}:Proceed`, end.hookEnded));
    }
    if (row.status === 'Successful') {
      entries.push(entry(micros(row.endedAt), isLaunch ? 'InService' : 'Terminated'));
    }
    return entries;
  });
};

/** Merges sorted lists; where two happened at once the earlier list comes first. */
const merged = (...lists: readonly (readonly TraceEntry[])[]): readonly TraceEntry[] => {
  // An audit log is in the order in which requests were answered: that order is kept.
  const stamped = lists.flatMap((list, rank) => {
    let at = 0;
    return list.map((entry) => {
      at = Math.max(at, entry.at);
      return { entry, at, rank };
    });
  });
  return stamped.sort((a, b) => a.at - b.at || a.rank - b.rank).map(({ entry }) => entry);
};

const kinds = [
  'kube//nodes',
  'kube//pods',
  'kube/apps/deployments',
  'kube/policy/poddisruptionbudgets',
  'kube/drover.dev/nodegroups',
  'kube/drover.dev/nodedisruptions',
] as const;

const endOf = (tables: Rows, facts: TraceFacts): Trace => {
  const at = facts.endedAt;
  const objects = kinds.flatMap((table) =>
    rowsOf(tables, table).map((object): TraceEntry => {
      const resource = table.split('/').at(-1) ?? '';
      return { kind: 'object', at, type: 'ADDED', resource, object };
    }),
  );
  const members = rowsOf(tables, 'aws/autoscaling/instances').map(
    ({ instanceId, group, state }): TraceEntry => ({
      kind: 'lifecycle',
      at,
      instanceId: text(instanceId),
      autoScalingGroupName: text(group),
      state: text(state),
    }),
  );
  return { facts, entries: [...objects, ...members] };
};

const instancesOf = (tables: Rows): readonly TraceEntry[] =>
  rowsOf(tables, 'aws/autoscaling/activities')
    .filter((row) => text(row.description).startsWith('Terminating') && row.endedAt !== undefined)
    .map((row) => ({
      kind: 'instance',
      at: micros(row.endedAt),
      instanceId: instanceIn(row.description),
      state: 'terminated',
    }));

/** Left out: what real servers log besides, watches that begin and requests about no resource. */
const mayBeTold = (line: string): boolean =>
  !line.includes('"stage":"ResponseStarted"') &&
  (line.includes('"objectRef":') || !line.includes('"stage":"ResponseComplete"'));

/** Reads the data directory of a world that has stopped. */
export const readStory = (dataDir: string, story: StoryFacts): StoryTrace => {
  const tables = readRows(dataDir);
  const lines = readFileSync(story.auditLogPath, 'utf8').split('\n').filter(mayBeTold);
  const calls = callsOf(tables);
  const agents = new Set([
    ...lines.flatMap((line) => /"userAgent":"([^"]*)"/.exec(line)?.[1] ?? []),
    ...calls.map(({ userAgent }) => userAgent),
  ]);
  const isOurs = (agent: string): boolean => {
    const own = agent.startsWith('aws-sdk-js/') ? (agent.split(' ').at(-1) ?? '') : agent;
    return story.agents.some((begin) => own.startsWith(begin));
  };
  const { now } = objectOr(tables.get('kernel.meta')?.get('kernel'));
  const facts: TraceFacts = {
    ownAgents: [...agents].filter(isOurs),
    managedGroups: [
      // Created, or adopted and maybe released since.
      ...calls
        .filter(({ operation }) => /^(?:CreateAutoScalingGroup|PutLifecycleHook)$/.test(operation))
        .filter(({ userAgent }) => isOurs(userAgent))
        .map(({ input }) => text(input.AutoScalingGroupName)),
      ...rowsOf(tables, 'kube/drover.dev/nodegroups').map(({ spec, status }) =>
        text(objectOr(status).autoScalingGroupName ?? objectOr(spec).autoScalingGroupName),
      ),
    ],
    compat: story.compat,
    ...defined({ clockSkew: story.clockSkew }),
    settled: story.settled,
    endedAt: Number(now),
  };
  const { trace, skipped } = traceFromAudit(lines, facts);
  // A log that is cut or of another kind would prove nothing.
  assert.ok(skipped * 100 < trace.entries.length, `${skipped} lines of the audit log are unknown`);
  // Calls by another clock cannot be put in order with requests: what needs both is not judged.
  if (story.isCloudAlone === true) {
    const entries = merged(story.faults, trace.entries);
    return { trace: { facts, entries }, end: endOf(tables, facts) };
  }
  const lifecycle = [...lifecycleOf(tables, calls)].sort((a, b) => a.at - b.at);
  const instances = [...instancesOf(tables)].sort((a, b) => a.at - b.at);
  const entries = merged(story.faults, trace.entries, calls, lifecycle, instances);
  return { trace: { facts, entries }, end: endOf(tables, facts) };
};

/** The part of the final facts that a state alone can tell: it does not know how hooks ended. */
const stateOf = ({ hooksRunOut: _history, ...state }: FinalFacts) => state;

/** The trace must lead to the state that the world is in, or it is not what happened. */
export const holdAgainstState = ({ trace, end }: StoryTrace): FinalFacts => {
  const facts = finalFacts(trace);
  assert.deepEqual(
    stateOf(facts),
    stateOf(finalFacts(end)),
    'audit log, trail and activities lead to another state than the one the world is in',
  );
  return facts;
};

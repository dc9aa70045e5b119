// A served world's history as a Trace for the oracles, read from its data directory after it
// stopped: requests and objects from the audit log, calls from the trail, hooks and instances from
// the scaling activities. Also the world's final state, to verify the trace.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/adapters/store/index.ts';
import { defined } from '../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { Trace, TraceEntry, TraceFacts } from '../../src/api/trace.ts';
import { finalFacts, traceFromAudit } from '../../world/check/index.ts';

export type FinalFacts = ReturnType<typeof finalFacts>;

/** Facts that only the story knows. */
export interface StoryFacts {
  /**
   * Prefixes of the user agents of Drover's processes; in AWS calls they follow the SDK's own text.
   */
  readonly agents: readonly string[];
  readonly compat: 'eks' | 'native';
  readonly settled: boolean;
  /** Audit log of the API server on which the story ran. */
  readonly auditLogPath: string;
  /** The world was the cloud of another API server, with another clock. */
  readonly isCloudAlone?: boolean;
  /** Maximum difference between Drover's clock and the world's; default 0. */
  readonly clockSkew?: number;
  /** Faults and kills, in order. */
  readonly faults: readonly TraceEntry[];
}

export interface StoryTrace {
  readonly trace: Trace;
  /** The world's final state, as a trace. */
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

/** The trail's parameters start with a lower-case letter, the API's with an upper-case one. */
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
      // The trail truncates to milliseconds, so the call must follow earlier entries of this
      // millisecond.
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
    // An instance that exists at the world's start went through no hook.
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

/** Merges sorted lists; at equal times the earlier list comes first. */
const merged = (...lists: readonly (readonly TraceEntry[])[]): readonly TraceEntry[] => {
  // An audit log is ordered by the time of the answers; keeps that order.
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

/**
 * Skips entries that only real servers log: watches that begin, and requests without a resource.
 */
const mayBeTold = (line: string): boolean =>
  !line.includes('"stage":"ResponseStarted"') &&
  (line.includes('"objectRef":') || !line.includes('"stage":"ResponseComplete"'));

/** Reads the data directory of a stopped world. */
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
      // Created, or adopted and possibly released since.
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
  // A truncated or different log would prove nothing.
  assert.ok(skipped * 100 < trace.entries.length, `${skipped} lines of the audit log are unknown`);
  // Calls with another clock cannot be ordered with requests: oracles that need both are skipped.
  if (story.isCloudAlone === true) {
    const entries = merged(story.faults, trace.entries);
    return { trace: { facts, entries }, end: endOf(tables, facts) };
  }
  const lifecycle = [...lifecycleOf(tables, calls)].sort((a, b) => a.at - b.at);
  const instances = [...instancesOf(tables)].sort((a, b) => a.at - b.at);
  const entries = merged(story.faults, trace.entries, calls, lifecycle, instances);
  return { trace: { facts, entries }, end: endOf(tables, facts) };
};

/** The final facts that a state shows. A state does not show how hooks ended. */
const stateOf = ({ hooksRunOut: _history, ...state }: FinalFacts) => state;

/** Asserts that the trace leads to the world's actual state. */
export const holdAgainstState = ({ trace, end }: StoryTrace): FinalFacts => {
  const facts = finalFacts(trace);
  assert.deepEqual(
    stateOf(facts),
    stateOf(finalFacts(end)),
    'audit log, trail and activities lead to another state than the one the world is in',
  );
  return facts;
};

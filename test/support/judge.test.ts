// The judge of stories must be able to fail: a correct drain from a world's audit log, and the same
// log with one planted violation that must be rejected.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/adapters/store/index.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { RowChange } from '../../src/ports/index.ts';
import { nodeManagerAgent } from '../../world/index.ts';
import { type Exempt, judge, noUpdates } from './judge.ts';
import { holdAgainstState, readStory } from './story-trace.ts';

const log = readFileSync(join(import.meta.dirname, 'canaries', 'drain.audit.jsonl'), 'utf8');
const events = log
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as JsonObject);
const refOf = (event: JsonObject | undefined): JsonObject => objectOr(event?.objectRef);
const isEviction = (event: JsonObject): boolean => refOf(event).subresource === 'eviction';
const isOurNodePatch = (event: JsonObject): boolean =>
  refOf(event).resource === 'nodes' && event.userAgent === nodeManagerAgent;
const evictionAt = events.findIndex(isEviction);
const cordonAt = events.findLastIndex(isOurNodePatch);
const instanceId = 'i-029a554d8e8d54605';
const group = 'eks-demo-ng-b2c4f970-07c1-df25-5f89-0bfd20657eca';
const msOf = (event: JsonObject | undefined): number =>
  Date.parse(String(event?.requestReceivedTimestamp));
const lastMs = msOf(events.at(-1));

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'drover-judge-'));
  mkdirSync(join(dataDir, 'audit'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const row = (table: string, key: string, value: JsonObject): RowChange => ({ table, key, value });

/** Completed once the node was empty, just before the journal entry. */
const completion = {
  time: lastMs - 1,
  event: {
    eventSource: 'autoscaling.amazonaws.com',
    eventName: 'CompleteLifecycleAction',
    userAgent: nodeManagerAgent,
    requestParameters: {
      autoScalingGroupName: group,
      lifecycleHookName: 'Terminate-LC-Hook',
      instanceId,
      lifecycleActionResult: 'CONTINUE',
    },
  },
};
const answerOf = (matches: (event: JsonObject) => boolean): JsonObject =>
  objectOr(events.findLast(matches)?.responseObject);
const calm: readonly RowChange[] = [
  row('kernel.meta', 'kernel', { now: (lastMs + 1000) * 1000 }),
  row('aws/autoscaling/hooks', 'h', {
    name: 'Terminate-LC-Hook',
    group,
    transition: 'autoscaling:EC2_INSTANCE_TERMINATING',
  }),
  row('aws/autoscaling/activities', 'a', {
    description: `Terminating EC2 instance: ${instanceId}`,
    group,
    status: 'Successful',
    startedAt: msOf(events.find((event) => refOf(event).resource === 'nodedisruptions')) - 100,
    endedAt: lastMs + 500,
  }),
  row('aws/cloudtrail/events', '1', completion),
  row('kube/drover.dev/nodegroups', 'demo-ng', {
    metadata: { name: 'demo-ng' },
    spec: { autoScalingGroupName: group },
  }),
  row(
    'kube/drover.dev/nodedisruptions',
    instanceId,
    answerOf((event) => refOf(event).resource === 'nodedisruptions'),
  ),
  row('kube//nodes', 'n', {
    ...answerOf(isOurNodePatch),
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }),
];

interface Planted {
  readonly lines?: readonly JsonObject[];
  readonly rows?: readonly RowChange[];
}

const told = ({ lines = events, rows = calm }: Planted = {}) => {
  const text = lines.map((event) => JSON.stringify(event)).join('\n');
  writeFileSync(join(dataDir, 'audit', 'audit.log'), `${text}\n`);
  const store = openSqliteStore(join(dataDir, 'world.db'));
  store.commit(rows);
  store.close();
  return readStory(dataDir, {
    agents: [nodeManagerAgent],
    compat: 'eks',
    settled: true,
    auditLogPath: join(dataDir, 'audit', 'audit.log'),
    faults: [],
  });
};

const absent: Exempt = {
  'evictions-within-budgets': 'no budget is in this log',
  'messages-are-durable': 'no message is in this log',
  'desired-within-bounds': 'no group is changed in this log',
  'aws-auth-loses-no-entry': 'no node group brings a role of its own',
  'certificates-name-their-instance':
    'no kubelet asks for a certificate, or the platform approves it',
  'nothing-left-after-delete': 'no node group is deleted',
  'unconfirmed-notices-move-nothing': 'the cloud denies no notice',
  'blockers-are-named': 'nothing waits in this log',
  'held-nodes-keep-their-pods': 'no update holds a node',
  'updates-keep-their-times': 'no cause of an update is in this log',
  ...noUpdates,
};

describe('the judge of stories', () => {
  it('accepts a drain as it should be', () => {
    const story = told();
    judge(story.trace, absent);
    expect(holdAgainstState(story)).toMatchObject({
      hooksRunOut: [],
      disruptions: { [instanceId]: 'Ended Drained LifecycleHook' },
    });
  });

  it('rejects a log in which the eviction stands before the cordon, with its sentence', () => {
    const [eviction, cordon] = [events[evictionAt], events[cordonAt]];
    expect(cordonAt).toBeLessThan(evictionAt);
    const planted = events.filter((event) => event !== eviction);
    const early = { ...eviction, requestReceivedTimestamp: cordon?.requestReceivedTimestamp };
    planted.splice(cordonAt, 0, early as JsonObject);
    expect(() => judge(told({ lines: planted }).trace, absent)).toThrow(
      /marks-before-eviction: ip-\S+ demo\/nginx-\S+ was the first pod to go while the node had no/,
    );
  });

  it('rejects a hook that no one completed, and one that was completed with pods on the node', () => {
    const unanswered = calm.filter(({ table }) => table !== 'aws/cloudtrail/events');
    expect(() => judge(told({ rows: unanswered }).trace, absent)).toThrow(
      /hooks-never-run-out: i-\w+ Terminate-LC-Hook ran out/,
    );
    rmSync(join(dataDir, 'world.db'));
    const time = msOf(events[evictionAt]) + 10;
    const early = [...unanswered, row('aws/cloudtrail/events', '1', { ...completion, time })];
    expect(() => judge(told({ rows: early }).trace, absent)).toThrow(
      /hooks-complete-when-empty: i-\w+ completed while demo\/nginx-\S+ still ran/,
    );
  });

  it('rejects a story in which an oracle looked at nothing without a reason', () => {
    const { 'desired-within-bounds': _reason, ...fewer } = absent;
    const { trace } = told();
    expect(() => judge(trace, fewer)).toThrow(/looked at nothing: desired-within-bounds;/);
    expect(() => judge(trace, { ...absent, 'desired-within-bounds': 'no' })).toThrow(/say why/);
    expect(() => judge(trace, { ...absent, 'no-such-oracle': 'it is not there' })).toThrow(
      /no oracle is called no-such-oracle/,
    );
    const silent = told({ lines: events.filter((event) => !isEviction(event)) });
    expect(() => judge(silent.trace, absent)).toThrow(/looked at nothing: .*marks-before-eviction/);
  });

  it('rejects a trace that leads to another state than the world is in', () => {
    const node = objectOr(calm.at(-1)?.value);
    const unmarked = [...calm.slice(0, -1), row('kube//nodes', 'n', { ...node, spec: {} })];
    expect(() => holdAgainstState(told({ rows: unmarked }))).toThrow(/another state[\s\S]*cordon/);
  });

  it('rejects a log that is mostly of another kind', () => {
    const foreign = Array.from({ length: 20 }, () => ({ level: 'info', message: 'started' }));
    expect(() => told({ lines: [...events, ...foreign] })).toThrow(/20 lines .* are unknown/);
  });
});

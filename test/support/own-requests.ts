// The controllers' requests to an API server about one node, without the parts that may differ
// between two runs of one story: times, names, uids, versions, the number of pods on the node, the
// drain's duration, and whether the hook's message or a poll of the group was first. Stores the
// result of each arrangement for comparison.
import assert from 'node:assert/strict';
import { nodeManagerAgent } from '../../world/index.ts';
import type { AuditEvent } from './demo-world.ts';

export interface OwnRequests {
  /** Changes of node, pods and record, in order. */
  readonly effects: readonly string[];
  /** Kubernetes events about them, separate because their order is not fixed. */
  readonly told: readonly string[];
}

/** Fields whose text matters; for all others only the type is compared. */
const telling = new Set([
  ...['kind', 'apiVersion', 'phase', 'outcome', 'onDeadline', 'followUp', 'type', 'status'],
  ...['reason', 'state', 'result', 'unschedulable', 'requestedBy'],
  'node.kubernetes.io/exclude-from-external-load-balancers',
]);

/**
 * Optional fields: a single process has no lease term; a short drain sends no heartbeat and has no
 * blockers to clear; a poll of the group does not know the message's token.
 */
const mayBeAbsent = new Set([
  ...['leaderEpoch', 'lastHeartbeatAt', 'waitingOn', 'waitingOnTotal', 'token'],
  'observedGeneration',
]);

/** When open hooks are recorded depends on which source reports them first; their results count. */
const isOpenHooks = (name: string, value: unknown): boolean =>
  name === 'hooks' && !/"result":/.test(JSON.stringify(value));

/** A cause's reason names the source that reported a hook first. */
const toldFirst = /found waiting in (?=lifecycle hook)/g;

const shapeOf = (value: unknown, key = ''): unknown => {
  if (Array.isArray(value)) {
    return [...new Set(value.map((each) => JSON.stringify(shapeOf(each, key))))].sort();
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([name, each]) => !mayBeAbsent.has(name) && !isOpenHooks(name, each))
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([name, each]) => [name, shapeOf(each, name)]));
  }
  return telling.has(key) ? value : typeof value;
};

const lineOf = ({ verb, objectRef, responseStatus, requestObject, user }: AuditEvent): string => {
  const resource = [objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/');
  const shape = JSON.stringify(shapeOf(requestObject ?? null)).replaceAll(toldFirst, '');
  return `${user.username} ${verb} ${resource} ${responseStatus?.code} ${shape}`;
};

const isEvent = ({ objectRef }: AuditEvent): boolean => objectRef?.resource === 'events';

/** The number of progress-only writes depends on the drain's duration. */
const isProgress = ({ objectRef, requestObject }: AuditEvent): boolean =>
  objectRef?.resource === 'nodedisruptions' &&
  objectRef.subresource === 'status' &&
  !/"phase":/.test(JSON.stringify(requestObject ?? {}));

/** The second report of a hook that is already a cause only adds the token. */
const isToldAgain = ({ verb, objectRef }: AuditEvent): boolean =>
  verb === 'patch' &&
  objectRef?.resource === 'nodedisruptions' &&
  objectRef.subresource === undefined;

/** Two controllers found the same fact at the same time: the second one's write is refused. */
const hasLostRace = ({ objectRef, responseStatus }: AuditEvent): boolean =>
  objectRef?.resource === 'nodedisruptions' && responseStatus?.code === 409;

/** A long drain reports what it waits for; stories of blocked drains check that. */
const isProgressTold = (told: string): boolean => told.startsWith('drainblocked ');

/** For a story that disrupts one node: every evicted or deleted pod is on that node. */
export const ownRequests = (
  events: readonly AuditEvent[],
  node: { readonly name: string; readonly instance: string },
): OwnRequests => {
  const isAbout = ({ objectRef, requestObject }: AuditEvent): boolean => {
    const { resource, name = '' } = objectRef ?? {};
    if (resource === 'pods') return true;
    if (resource === 'events') return name.includes(node.instance);
    if (name === node.name || name === node.instance) return true;
    // On a real API server the name of a created object is only in the body.
    return JSON.stringify(requestObject ?? {}).includes(`"name":"${node.instance}"`);
  };
  const own = events.filter(
    (event) =>
      event.userAgent === nodeManagerAgent &&
      !['get', 'list', 'watch'].includes(event.verb) &&
      isAbout(event),
  );
  const effects = own
    .filter((event) => ![isEvent, isProgress, isToldAgain, hasLostRace].some((is) => is(event)))
    .map(lineOf)
    // One eviction or ten, depending on the number of pods.
    .filter((line, index, all) => line !== all[index - 1]);
  const told = own.filter(isEvent).map(({ objectRef, responseStatus }) => {
    // The name consists of the instance, the episode, the event and, if repeatable, its number.
    const [, , reason] = objectRef?.name?.split('.') ?? [];
    return `${reason} ${responseStatus?.code}`;
  });
  return { effects, told: [...new Set(told)].filter((each) => !isProgressTold(each)).sort() };
};

const kept = new Map<string, Map<string, OwnRequests>>();

export const remember = (story: string, arrangement: string, requests: OwnRequests): void => {
  const ofStory = kept.get(story) ?? new Map<string, OwnRequests>();
  kept.set(story, ofStory.set(arrangement, requests));
};

/** Asserts that all arrangements of each of these stories made the same requests. */
export const assertAlike = (stories: readonly string[]): void => {
  assert.deepEqual([...kept.keys()].toSorted(), stories.toSorted());
  for (const [story, runs] of kept) {
    const [first, ...others] = [...runs];
    assert.ok(first !== undefined && others.length > 0, `${story} was told once only`);
    const [told, { effects }] = first;
    assert.ok(effects.length > 5, `${story}: ${effects.join('\n')}`);
    for (const [arrangement, requests] of others) {
      assert.deepEqual(requests, first[1], `${story}: ${told} (expected), ${arrangement}`);
    }
  }
};

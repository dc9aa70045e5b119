// What the controllers asked of an API server about one node, freed of what may differ between two
// runs of one story: times, names, uids, versions, how many pods the scheduler put on the node, how
// long the drain took, and whether the hook's message or a look at the group was first to tell of
// it. Keeps what each arrangement gave, to be compared.
import assert from 'node:assert/strict';
import { nodeManagerAgent } from '../../world/index.ts';
import type { AuditEvent } from './demo-world.ts';

export interface OwnRequests {
  /** What was done to node, pods and record, in order. */
  readonly effects: readonly string[];
  /** Kubernetes events about them: told beside the effects, in no fixed order. */
  readonly told: readonly string[];
}

/** Fields whose words say what was done; of all others only the type is compared. */
const telling = new Set([
  ...['kind', 'apiVersion', 'phase', 'outcome', 'onDeadline', 'followUp', 'type', 'status'],
  ...['reason', 'state', 'result', 'unschedulable', 'requestedBy'],
  'node.kubernetes.io/exclude-from-external-load-balancers',
]);

/**
 * A process that is the only one there can be has no terms; a short drain sends no heartbeat and
 * has nothing to clear of what it waited for; a look at the group does not know the message's
 * token.
 */
const mayBeAbsent = new Set([
  ...['leaderEpoch', 'lastHeartbeatAt', 'waitingOn', 'waitingOnTotal', 'token'],
  'observedGeneration',
]);

/** Open hooks are written down when they are heard of, by whom is chance; their results count. */
const isOpenHooks = (name: string, value: unknown): boolean =>
  name === 'hooks' && !/"result":/.test(JSON.stringify(value));

/** Who told of a hook first is in its cause's reason. */
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

/** How often nothing but progress is written down depends on how long the drain takes. */
const isProgress = ({ objectRef, requestObject }: AuditEvent): boolean =>
  objectRef?.resource === 'nodedisruptions' &&
  objectRef.subresource === 'status' &&
  !/"phase":/.test(JSON.stringify(requestObject ?? {}));

/** What the second teller knows of a hook that is a cause already: its token. */
const isToldAgain = ({ verb, objectRef }: AuditEvent): boolean =>
  verb === 'patch' &&
  objectRef?.resource === 'nodedisruptions' &&
  objectRef.subresource === undefined;

/** Two controllers of ours that found the same thing at once: the second one's write is refused. */
const hasLostRace = ({ objectRef, responseStatus }: AuditEvent): boolean =>
  objectRef?.resource === 'nodedisruptions' && responseStatus?.code === 409;

/** A drain that takes a while tells what it waits for; stories of blocked ones look for it. */
const isProgressTold = (told: string): boolean => told.startsWith('drainblocked ');

/** Of a story that disrupts one node: every pod evicted or deleted is one of its. */
export const ownRequests = (
  events: readonly AuditEvent[],
  node: { readonly name: string; readonly instance: string },
): OwnRequests => {
  const isAbout = ({ objectRef, requestObject }: AuditEvent): boolean => {
    const { resource, name = '' } = objectRef ?? {};
    if (resource === 'pods') return true;
    if (resource === 'events') return name.includes(node.instance);
    if (name === node.name || name === node.instance) return true;
    // The name of what is created stands in the body alone on a real API server.
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
    // One eviction or ten: as many as there were pods.
    .filter((line, index, all) => line !== all[index - 1]);
  const told = own.filter(isEvent).map(({ objectRef, responseStatus }) => {
    // Of the instance, the episode, what happened and, where it can happen again, which time.
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

/** Of each of these stories all arrangements that told it made the same requests. */
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

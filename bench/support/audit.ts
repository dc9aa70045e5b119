// Reads an audit log (audit.k8s.io/v1, JSON lines) for a drain's figures: when the first mark or
// eviction was requested, when the last pod was deleted, and the number of requests.
import type { AuditEvent } from '../../test/support/demo-world.ts';

export interface Line extends AuditEvent {
  readonly stage: string;
  /** Milliseconds since the epoch, fractions kept. */
  readonly receivedMs: number;
  readonly answeredMs: number;
}

/** RFC 3339 with microseconds, which Date would cut to milliseconds. */
const milliseconds = (time: string): number => {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? '';
  const micros = Number(fraction.padEnd(6, '0').slice(3, 6));
  return Date.parse(time) + micros / 1000;
};

/** Lines from `offset` characters on. */
export const readAudit = (text: string, offset: number): readonly Line[] =>
  text
    .slice(offset)
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => {
      const event = JSON.parse(line) as AuditEvent & { readonly stage: string };
      return {
        ...event,
        receivedMs: milliseconds(event.requestReceivedTimestamp),
        answeredMs: milliseconds(event.stageTimestamp),
      };
    });

export const isEviction = ({ verb, objectRef }: Line): boolean =>
  verb === 'create' && objectRef?.resource === 'pods' && objectRef.subresource === 'eviction';

const isMark = ({ verb, objectRef }: Line): boolean =>
  verb === 'patch' && objectRef?.resource === 'nodes' && objectRef.subresource === undefined;

/** Deletion of a pod object: the last delete by the kubelet or its stand-in. */
const isRemoval = (line: Line, namespace: string): boolean =>
  line.verb === 'delete' &&
  line.objectRef?.resource === 'pods' &&
  line.objectRef.namespace === namespace &&
  line.responseStatus?.code === 200;

export interface DrainFigures {
  /** From the first request for a mark or eviction to the deletion of the last pod. */
  readonly seconds: number;
  readonly lastGoneMs: number;
  readonly evictionsSent: number;
  readonly evictionsGranted: number;
  /** The contender's requests about pods (including evictions) and nodes. */
  readonly podAndNodeRequests: number;
  /** The contender's writes to its own objects. */
  readonly journalWrites: number;
  readonly allRequests: number;
}

/** One line per request: a watch is logged at its start, others at their completion. */
const requestsOf = (
  lines: readonly Line[],
  isContender: (agent: string) => boolean,
): readonly Line[] =>
  lines.filter(
    ({ userAgent, stage, verb }) =>
      isContender(userAgent ?? '') &&
      stage === (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete'),
  );

const isAbout = ({ objectRef }: Line, ...resources: readonly string[]): boolean =>
  resources.includes(objectRef?.resource ?? '');

/** Requests of one agent: about pods (including evictions) and nodes, its journal, and others. */
export const requestsByKind = (
  lines: readonly Line[],
  isContender: (agent: string) => boolean,
): { readonly podsAndNodes: number; readonly journal: number; readonly other: number } => {
  const own = requestsOf(lines, isContender);
  const podsAndNodes = own.filter((line) => isAbout(line, 'pods', 'nodes')).length;
  const journal = own.filter((line) => isAbout(line, 'nodedisruptions')).length;
  return { podsAndNodes, journal, other: own.length - podsAndNodes - journal };
};

/** `isContender` selects the draining client by user agent. Throws when the log shows no drain. */
export const drainFigures = (
  lines: readonly Line[],
  options: { readonly isContender: (agent: string) => boolean; readonly namespace: string },
): DrainFigures => {
  const own = requestsOf(lines, options.isContender);
  const starts = own.filter((line) => isMark(line) || isEviction(line));
  const ends = lines.filter((line) => isRemoval(line, options.namespace));
  // Throw instead of reporting zero, which would look like a perfect result.
  if (starts.length === 0 || ends.length === 0) {
    throw new Error(
      `the audit log shows ${starts.length} marks and evictions and ${ends.length} removed pods`,
    );
  }
  const evictions = own.filter(isEviction);
  const about = (...resources: readonly string[]) =>
    own.filter((line) => isAbout(line, ...resources));
  const reads = new Set(['get', 'list', 'watch']);
  const lastGoneMs = Math.max(...ends.map(({ answeredMs }) => answeredMs));
  const firstAskedMs = Math.min(...starts.map(({ receivedMs }) => receivedMs));
  return {
    seconds: (lastGoneMs - firstAskedMs) / 1000,
    lastGoneMs,
    evictionsSent: evictions.length,
    evictionsGranted: evictions.filter(({ responseStatus }) => responseStatus?.code === 201).length,
    podAndNodeRequests: about('pods', 'nodes').length,
    journalWrites: about('nodedisruptions').filter(({ verb }) => !reads.has(verb)).length,
    allRequests: own.length,
  };
};

export interface NoticeFigures {
  /** From the notices. */
  readonly firstEvictionSeconds: number;
  readonly seconds: number;
  readonly evictionsGranted: number;
  readonly evictionsRefused: number;
  readonly podAndNodeRequests: number;
  readonly allRequests: number;
}

/** Like `drainFigures`, for a drain that a notice begins at `startedAt`. */
export const noticeFigures = (
  lines: readonly Line[],
  options: {
    readonly isContender: (agent: string) => boolean;
    readonly namespace: string;
    readonly startedAt: number;
  },
): NoticeFigures => {
  const figures = drainFigures(lines, options);
  const evictions = requestsOf(lines, options.isContender).filter(isEviction);
  const first = Math.min(...evictions.map(({ receivedMs }) => receivedMs));
  return {
    firstEvictionSeconds: (first - options.startedAt) / 1000,
    seconds: (figures.lastGoneMs - options.startedAt) / 1000,
    evictionsGranted: figures.evictionsGranted,
    evictionsRefused: figures.evictionsSent - figures.evictionsGranted,
    podAndNodeRequests: figures.podAndNodeRequests,
    allRequests: figures.allRequests,
  };
};

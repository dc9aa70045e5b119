// CloudWatch's log groups and streams of a cluster's control plane: the cluster's logging settings
// determine them. The world keeps the content of the audit log only.

import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalText,
} from '../../../src/aws-wire/index.ts';
import { LineFeed, type LogEvent, type LogSource, noLines } from '../../../src/insights/index.ts';
import type { KeptLog } from '../../contracts.ts';
import { pageOf } from '../paging.ts';
import type { ClusterRow, Clusters, LogType } from '../platform/clusters.ts';
import { refuse, type Scope, type ServiceHandlers } from '../scope.ts';

/** Streams of each type, as EKS names them (EKS user guide, "control-plane-logs"). */
const streamsOf: Readonly<Record<LogType, readonly string[]>> = {
  api: ['kube-apiserver'],
  audit: ['kube-apiserver-audit'],
  authenticator: ['authenticator'],
  controllerManager: ['kube-controller-manager', 'cloud-controller-manager'],
  scheduler: ['kube-scheduler'],
};

/**
 * Streams end in the id of the control plane's host, which stays the same for the cluster's
 * lifetime.
 */
const suffixOf = (cluster: ClusterRow): string => cluster.oidcId.toLowerCase();

export interface LogGroup {
  readonly name: string;
  readonly arn: string;
  readonly createdAt: number;
  readonly streams: readonly string[];
  /** The stream of audit events; undefined while the cluster does not send them. */
  readonly auditStream: string | undefined;
}

export const invalidParameter = (message: string) => refuse('InvalidParameterException', message);

export const invalidToken = () => invalidParameter('The specified nextToken is invalid.');

export class LogGroups {
  readonly #scope: Scope;
  readonly #clusters: Clusters;

  constructor(scope: Scope, clusters: Clusters) {
    this.#scope = scope;
    this.#clusters = clusters;
  }

  now(): number {
    return this.#scope.now();
  }

  all(): readonly LogGroup[] {
    return this.#clusters
      .all()
      .filter((row) => row.logs.length > 0)
      .map((row) => this.#group(row));
  }

  #group(row: ClusterRow): LogGroup {
    const name = `/aws/eks/${row.name}/cluster`;
    const named = (stream: string): string => `${stream}-${suffixOf(row)}`;
    return {
      name,
      arn: this.#scope.arn('logs', `log-group:${name}`),
      createdAt: row.createdAt,
      streams: row.logs
        .flatMap((type) => streamsOf[type])
        .map(named)
        .sort(),
      auditStream: row.logs.includes('audit') ? named(streamsOf.audit[0] ?? '') : undefined,
    };
  }

  /** By name or ARN, which may end in `:*`. Throws the service's error. */
  find(wanted: string | undefined): LogGroup {
    const plain = wanted?.replace(/:\*$/, '');
    const found = this.all().find(({ name, arn }) => name === plain || arn === plain);
    if (found !== undefined) return found;
    throw refuse('ResourceNotFoundException', 'The specified log group does not exist.');
  }

  named(input: AwsInput): LogGroup {
    const name = optionalText(input, 'logGroupName') ?? optionalText(input, 'logGroupIdentifier');
    if (name === undefined) {
      throw invalidParameter('Either logGroupName or logGroupIdentifier is required.');
    }
    return this.find(name);
  }

  /** The source fields of the events of the group's audit stream. */
  sourceOf({ name, auditStream }: LogGroup): LogSource {
    return { stream: auditStream ?? '', log: `${this.#scope.account}:${name}` };
  }
}

/** Holds the longest line: an event has a request and a response of up to 3 MiB each. */
const edgeBytes = 8 * 1024 * 1024;

/** The lines of a part of the log as events, in order, each with its position. */
export const eventsBetween = (
  log: KeptLog,
  source: LogSource,
  range: { readonly from: number; readonly to: number },
): readonly LogEvent[] => {
  const events: LogEvent[] = [];
  const feed = new LineFeed({
    source,
    needles: { inValues: [], inText: [] },
    counts: noLines(),
    onEvent: (event) => events.push(event),
    offset: range.from,
  });
  for (let at = range.from; at < range.to; ) {
    const bytes = log.read(at, range.to - at);
    if (bytes.length === 0) break;
    feed.push(bytes);
    at += bytes.length;
  }
  feed.end();
  return events;
};

/** Times of the oldest and the newest event, from one read at each end of the log. */
const edgesOf = (log: KeptLog, source: LogSource) => {
  const { start, end } = log.extent();
  const head = eventsBetween(log, source, { from: start, to: Math.min(end, start + edgeBytes) });
  const tail = eventsBetween(log, source, { from: Math.max(start, end - edgeBytes), to: end });
  const first = head.find((event) => event.timeMs !== undefined)?.timeMs;
  const last = tail.findLast((event) => event.timeMs !== undefined)?.timeMs;
  return first === undefined || last === undefined
    ? {}
    : { firstEventTimestamp: first, lastEventTimestamp: last, lastIngestionTime: last };
};

export const groupHandlers = (groups: LogGroups, log: KeptLog): ServiceHandlers => ({
  DescribeLogGroups: (input) => {
    const prefix = optionalText(input, 'logGroupNamePrefix') ?? '';
    const part = optionalText(input, 'logGroupNamePattern') ?? '';
    const { start, end } = log.extent();
    return {
      logGroups: groups
        .all()
        .filter(({ name }) => name.startsWith(prefix) && name.includes(part))
        .map(({ name, arn, createdAt, auditStream }) => ({
          logGroupName: name,
          creationTime: createdAt,
          metricFilterCount: 0,
          arn: `${arn}:*`,
          logGroupArn: arn,
          logGroupClass: 'STANDARD',
          storedBytes: auditStream === undefined ? 0 : end - start,
        })),
    };
  },
  DescribeLogStreams: (input) => {
    const group = groups.named(input);
    const prefix = optionalText(input, 'logStreamNamePrefix') ?? '';
    const byTime = optionalText(input, 'orderBy') === 'LastEventTime';
    if (byTime && prefix !== '') {
      throw invalidParameter('Cannot order by LastEventTime with a logStreamNamePrefix.');
    }
    const names = group.streams.filter((name) => name.startsWith(prefix));
    // Only the audit stream has events, so it sorts last by time.
    if (byTime)
      names.sort((a, b) => Number(a === group.auditStream) - Number(b === group.auditStream));
    const ordered = optionalFlag(input, 'descending') === true ? names.toReversed() : names;
    const page = pageOf(ordered, {
      max: optionalNumber(input, 'limit') ?? 50,
      token: optionalText(input, 'nextToken'),
      keyOf: (name) => name,
      invalid: invalidToken,
    });
    return {
      logStreams: page.items.map((logStreamName) => ({
        logStreamName,
        creationTime: group.createdAt,
        ...(logStreamName === group.auditStream ? edgesOf(log, groups.sourceOf(group)) : {}),
        arn: `${group.arn}:log-stream:${logStreamName}`,
        storedBytes: 0,
      })),
      ...defined({ nextToken: page.nextToken }),
    };
  },
});

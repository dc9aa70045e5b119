// Renders everything about one node group: the request, the current state, problems with their
// remedies, the update in progress, the latest events, and what to do next. Pure.
import { type EpochMs, parseTime } from '../../api/brand.ts';
import type { KubeObject, Taint } from '../../api/kube.ts';
import {
  autoScalingGroupNameOf,
  type HealthIssue,
  isRetained,
  type NodeGroup,
} from '../../api/nodegroup.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../api/nodegroup-update.ts';
import { healthRemedy } from '../../core/explain/index.ts';
import type { NodeView } from '../../core/overview/index.ts';
import { strategyOf } from '../../core/update/index.ts';
import { documentVersion } from '../drain/render.ts';
import { formatDuration } from '../duration.ts';
import { nodeLine } from '../update/branches.ts';

export interface GroupEvent extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

export interface GroupFacts {
  readonly group: NodeGroup;
  /** The group's latest update, in progress or ended. */
  readonly update: NodeGroupUpdate | undefined;
  /** Its part in each node, while it is in progress. */
  readonly nodes?: readonly NodeView[];
  /** Newest first. */
  readonly events: readonly GroupEvent[];
}

type Row = readonly [label: string, value: string];

const maxEvents = 10;
const maxInFlight = 5;
const labelWidth = 20;

export const timeOf = ({ lastTimestamp, eventTime, metadata }: GroupEvent): string =>
  lastTimestamp ?? eventTime ?? metadata.creationTimestamp;

const mapText = (map: Readonly<Record<string, string | number>> = {}): string =>
  Object.entries(map)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ') || '<none>';

const taintText = ({ key, value = '', effect }: Taint): string => `${key}=${value}:${effect}`;

/** `1.32.9-20260905, asked for 1.32.9-20260919` where the two differ. */
const askedAndThere = (asked: string | undefined, there: string | undefined): string =>
  asked === undefined || there === undefined || asked === there
    ? (there ?? asked ?? '<unknown>')
    : `${there}, asked for ${asked}`;

const templateText = ({ spec, status }: NodeGroup): string => {
  const asked = spec.launchTemplate ?? status?.adopted?.launchTemplate;
  if (asked === undefined) return "<Drover's own>";
  const version = askedAndThere(asked.version, status?.launchTemplate?.version);
  return `${asked.name ?? asked.id} version ${version}`;
};

const sizesText = ({ spec, status }: NodeGroup): string => {
  const { minSize, maxSize, desired } = spec.scaling;
  const asked = desired === undefined ? ' (left to autoscalers)' : '';
  return (
    `min ${minSize}, max ${maxSize}, desired ` +
    `${status?.desired ?? desired ?? '<unknown>'}${asked}`
  );
};

const updatesText = (group: NodeGroup): string => {
  const { maxUnavailable, maxUnavailablePercentage } = group.spec.updateConfig ?? {};
  const most =
    maxUnavailablePercentage === undefined
      ? `${maxUnavailable ?? 1}`
      : `${maxUnavailablePercentage} %`;
  return `${strategyOf(group)}, at most ${most} unavailable`;
};

const deletionText = (group: NodeGroup): string =>
  isRetained(group)
    ? 'Retain: a delete leaves the Auto Scaling group and its instances'
    : 'Delete: a delete drains and terminates the instances, and deletes the Auto Scaling group';

const specRows = (group: NodeGroup): readonly Row[] => {
  const { metadata, spec, status } = group;
  const { timeoutSeconds } = spec.drain ?? {};
  return [
    ['Name', metadata.name],
    ['Cluster', spec.clusterName],
    ['State', `${status?.state ?? '<not taken note of yet>'}`],
    ['Created', metadata.creationTimestamp],
    ['Version', askedAndThere(spec.version, status?.version)],
    ['Release', askedAndThere(spec.releaseVersion, status?.releaseVersion)],
    ['Image', `${spec.amiType} ${status?.imageId ?? ''}`.trim()],
    ['Instance types', `${spec.instanceTypes.join(', ')} (${spec.capacityType})`],
    ['Launch template', templateText(group)],
    ['Auto Scaling group', status?.autoScalingGroupName ?? autoScalingGroupNameOf(group)],
    ['Sizes', sizesText(group)],
    ['Instances', `${status?.instances ?? 0}, ${status?.ready ?? 0} of them Ready nodes`],
    ['Per zone', mapText(status?.perZone)],
    ['Per template', mapText(status?.perTemplateVersion)],
    ['Subnets', spec.subnets.join(', ')],
    ['Node role', spec.nodeRole],
    ['Labels', mapText(spec.labels)],
    ['Taints', (spec.taints ?? []).map(taintText).join(', ') || '<none>'],
    ['Updates', updatesText(group)],
    ['Drains', timeoutSeconds === undefined ? '15m' : formatDuration(timeoutSeconds)],
    ['Lifecycle hooks', spec.lifecycleHooks ?? 'Manage'],
    ['Deletion policy', deletionText(group)],
  ];
};

const section = (title: string, lines: readonly string[]): readonly string[] => [
  `${title}:`,
  ...(lines.length === 0 ? ['  <none>'] : lines.map((line) => `  ${line}`)),
];

const remedyOf = (issue: HealthIssue, { metadata }: NodeGroup): string =>
  healthRemedy(issue, {
    name: metadata.name,
    isLeaving: metadata.deletionTimestamp !== undefined,
  });

const issueLines = (group: NodeGroup): readonly string[] =>
  (group.status?.health ?? []).flatMap((issue) => {
    const { code, message, resourceIds } = issue;
    return [
      `${code}: ${message}${resourceIds.length === 0 ? '' : ` [${resourceIds.join(', ')}]`}`,
      `  remedy: ${remedyOf(issue, group)}`,
    ];
  });

/** Nodes being drained, and what blocks them; `drover describe update` shows the rest. */
const inFlightLines = (nodes: readonly NodeView[], now: EpochMs): readonly string[] => {
  const flight = nodes.filter(({ state }) => state === 'inFlight');
  const more = flight.length - maxInFlight;
  return [
    ...flight.slice(0, maxInFlight).flatMap((node) => {
      const [first, ...others] = node.blockers;
      const rest = others.length === 0 ? '' : ` (and ${others.length} more)`;
      return [`  ${nodeLine(node, now)}`, ...(first === undefined ? [] : [`    ${first}${rest}`])];
    }),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
};

const updateLines = ({ update, nodes = [] }: GroupFacts, now: EpochMs): readonly string[] => {
  if (update === undefined) return [];
  const { metadata, spec, status } = update;
  const { phase, progress, message = '' } = status ?? {};
  const done = progress === undefined ? '' : `, ${progress.done} of ${progress.total} nodes`;
  const said = message === '' ? '' : `: ${message}`;
  const how = phase === undefined ? '' : `, ${phase}`;
  return [
    `${metadata.name} (${spec.type}) ${updateStatusOf(update)}${how}${done}${said}`,
    ...inFlightLines(nodes, now),
  ];
};

const eventLines = (events: readonly GroupEvent[], now: EpochMs): readonly string[] =>
  events.slice(0, maxEvents).map((event) => {
    const { type = 'Normal', reason = '', message = '', count = 1 } = event;
    const ago = formatDuration(Math.max(0, now - (parseTime(timeOf(event)) ?? now)) / 1000);
    return `${ago} ago${count > 1 ? ` (x${count})` : ''}  ${type}  ${reason}  ${message}`;
  });

const isWrong = (code: string): boolean => code === 'NodeCreationFailure';

/** The command that is most useful in the group's current state. */
export const nextStep = ({ group, update }: GroupFacts): string => {
  const { metadata, status } = group;
  const { name } = metadata;
  const codes = (status?.health ?? []).map(({ code }) => code);
  if (update !== undefined && updateStatusOf(update) === 'InProgress') {
    return `drover get update ${update.metadata.name} --watch`;
  }
  if (status?.state === 'DELETE_FAILED') {
    return (
      `drover delete nodegroup ${name} --cluster ${group.spec.clusterName} --wait, once the ` +
      'issue is mended'
    );
  }
  if (status?.state === 'DELETING' || status?.scaleIn !== undefined) {
    return 'kubectl get nodedisruptions, and `drover explain NODE` for what a node waits for';
  }
  if (status?.state === 'CREATING' || status?.state === 'CREATE_FAILED' || codes.some(isWrong)) {
    return `drover explain nodegroup ${name}`;
  }
  if (status?.failedUpdate !== undefined) return `drover describe update ${status.failedUpdate}`;
  if (codes.length > 0) return `drover explain nodegroup ${name}, once the issue is mended`;
  return `drover plan update ${name}`;
};

export const describeGroup = (facts: GroupFacts, now: EpochMs): readonly string[] => {
  const { group, events } = facts;
  const conditions = (group.status?.conditions ?? []).map(
    ({ type, status, reason = '', message = '' }) => `${type} ${status}  ${reason}: ${message}`,
  );
  return [
    ...specRows(group).map(([label, value]) => `${`${label}:`.padEnd(labelWidth)}${value}`),
    ...section('Conditions', conditions),
    ...section('Health issues', issueLines(group)),
    ...section('Newest update', updateLines(facts, now)),
    ...section('Events, newest first', eventLines(events, now)),
    `${'Next:'.padEnd(labelWidth)}${nextStep(facts)}`,
  ];
};

/** `drover describe nodegroup -o json`. */
export const groupDocument = (facts: GroupFacts) => {
  const { group, update, events } = facts;
  const { metadata, spec, status } = group;
  return {
    apiVersion: documentVersion,
    kind: 'NodeGroupDescription',
    name: metadata.name,
    created: metadata.creationTimestamp,
    spec,
    status: status ?? null,
    issues: (status?.health ?? []).map((issue) => ({
      ...issue,
      remedy: remedyOf(issue, group),
    })),
    update:
      update === undefined ? null : { id: update.metadata.name, status: updateStatusOf(update) },
    events: events.map((event) => ({
      at: timeOf(event),
      type: event.type ?? 'Normal',
      reason: event.reason ?? '',
      message: event.message ?? '',
      count: event.count ?? 1,
    })),
    next: nextStep(facts),
  };
};

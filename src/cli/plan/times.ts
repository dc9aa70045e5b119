// Observed durations in this cluster: Auto Scaling's activities in the group, or in others if it
// has none, and the beginnings of earlier updates. Reads only; what cannot be read is left out, and
// the plan states its assumptions.
import { parseTime } from '../../api/brand.ts';
import { autoScalingGroupNameOf } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { Snapshot } from '../../core/update/preflight/index.ts';
import { type CloudApi, type KubeApi, listNodeGroups } from '../../ports/index.ts';
import type { Collector } from './collect.ts';

type ActivityFacts = NonNullable<Snapshot['times']>['activities'][number];

/** Enough to estimate a termination; each costs a call. */
const maxOtherGroups = 4;

/** Seconds from the start of an update to its first launches or marks. */
const setupSeconds = ({ status }: NodeGroupUpdate): readonly number[] => {
  const { phases = [] } = status ?? {};
  const at = phases.findIndex(({ phase }) => phase === 'Preparing');
  const [from, to] = [parseTime(phases[at]?.at), parseTime(phases[at + 1]?.at)];
  if (at === -1 || from === undefined || to === undefined) return [];
  const next = phases[at + 1]?.phase;
  return next === 'ScalingUp' || next === 'Marking' || next === 'Rolling'
    ? [(to - from) / 1000]
    : [];
};

/** Returns the entries of the group, or all entries if the group has none. */
export const setupsOf = (updates: readonly NodeGroupUpdate[], group: string): readonly number[] => {
  const own = updates.filter(({ spec }) => spec.nodeGroup === group).flatMap(setupSeconds);
  return own.length > 0 ? own : updates.flatMap(setupSeconds);
};

const otherGroups = async (kube: KubeApi, own: string | undefined): Promise<readonly string[]> => {
  const items = await listNodeGroups(kube);
  const names = items.flatMap((one) => autoScalingGroupNameOf(one) ?? []);
  return names.filter((name) => name !== own).slice(0, maxOtherGroups);
};

const isTerminating = ({ description }: ActivityFacts): boolean => /^Terminating/.test(description);

interface TimeSources {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly isEmbedded?: boolean;
}

export const readTimes = async (
  { kube, cloud, isEmbedded = false }: TimeSources,
  collector: Collector,
  planned: {
    readonly autoScalingGroupName: string | undefined;
    readonly managedBy: 'drover' | 'eks';
    readonly setups?: readonly number[];
  },
): Promise<Pick<Snapshot, 'times'>> => {
  const { autoScalingGroupName, managedBy, setups = [] } = planned;
  const of = (name: string) =>
    collector.read<readonly ActivityFacts[]>('activities', [], () =>
      cloud.describeActivities(name),
    );
  const own = autoScalingGroupName === undefined ? [] : await of(autoScalingGroupName);
  const others =
    own.some(isTerminating) || managedBy === 'eks'
      ? []
      : await collector.read<readonly string[]>('activities', [], () =>
          otherGroups(kube, autoScalingGroupName),
        );
  const theirs = await Promise.all(others.map(of));
  const activities = [own, ...theirs].flat();
  return { times: { activities, setups, ...(isEmbedded ? { isEmbedded: true as const } : {}) } };
};

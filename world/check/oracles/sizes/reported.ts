// The reported size: once the cluster has settled, a NodeGroup reports its number of instances.
import type { Context, Exemption, Watcher } from '../../oracle.ts';
import { autoScalingGroupOf, leaving, reportedGroup } from '../../state/group-sizes.ts';
import { microsPerMinute } from '../../state/read.ts';

/** The controller reconciles a group several times within this time. */
const followedWithinMicros = 2 * microsPerMinute;
/** Auto Scaling retries after some minutes if EC2 has no capacity. */
const scarceMicros = 10 * microsPerMinute;
const shortages = new Set(['no-capacity', 'no-addresses']);

interface Difference {
  readonly sinceChangeMicros: number;
  readonly sinceShortageMicros: number;
}

export const reportedExemptions: readonly Exemption<Difference>[] = [
  {
    name: 'changed-lately',
    race: 'an instance joined or left so lately that the next pass has yet to report it',
    applies: ({ sinceChangeMicros }) => sinceChangeMicros < followedWithinMicros,
  },
  {
    name: 'capacity-scarce',
    race: 'EC2 had no capacity or no addresses, and Auto Scaling has not tried again',
    applies: ({ sinceShortageMicros }) => sinceShortageMicros < scarceMicros,
  },
];

export const watchReported = ({ book, saw, report, isExempt }: Context): Watcher => {
  const sizes = new Map<string, number>();
  const changedAt = new Map<string, number>();
  let shortageAt = Number.NEGATIVE_INFINITY;
  return {
    object: (entry) => {
      if (entry.resource !== 'nodegroups' || !book.isNewVersion) return;
      const group = reportedGroup(entry);
      if (group !== undefined) sizes.set(group.autoScalingGroup, group.desired);
      else if (entry.type === 'DELETED') sizes.delete(autoScalingGroupOf(entry.object));
    },
    lifecycle: ({ instanceId, at }) => {
      changedAt.set(book.cloud.instances.get(instanceId)?.group ?? '', at);
    },
    fault: ({ fault, at }) => {
      if (shortages.has(fault)) shortageAt = at;
    },
    end: () => {
      if (!book.facts.settled) return;
      for (const [group, desired] of sizes) {
        const since = changedAt.get(group);
        if (since === undefined) continue;
        const members = [...book.cloud.instances.values()].filter(
          (one) => one.group === group && !leaving.test(one.state),
        ).length;
        saw();
        if (members === desired) continue;
        const sinceShortageMicros = book.now - shortageAt;
        const one = { sinceChangeMicros: book.now - since, sinceShortageMicros };
        if (isExempt(reportedExemptions, one)) continue;
        const message = `told as ${desired}, and it has ${members} instances`;
        report({ subject: group, message });
      }
    },
  };
};

// Before a group grows beyond the spec, its NodeGroup notes the surge of the update.
import { both, type Exemption, type Oracle } from '../../oracle.ts';
import { RequestedSizes } from '../../state/asked-sizes.ts';
import { reportedGroup, sizeCallOf } from '../../state/group-sizes.ts';

interface Growth {
  /** A leader that was paused may send late calls. */
  readonly mayLeaderBeLate: boolean;
  /** The status of the NodeGroup lists this size in `status.sizeCalls`. */
  readonly isNoted: boolean;
}

const exemptions: readonly Exemption<Growth>[] = [
  {
    name: 'late-leader',
    race: 'a leader that stood still sends a size that it had noted, and its successor corrects it',
    applies: ({ mayLeaderBeLate, isNoted }) => mayLeaderBeLate && isNoted,
  },
];

export const growth: Oracle = {
  name: 'sizes-grow-as-noted',
  what: 'the controller makes a group no larger than its spec plus the surge that it noted before',
  strategies: both,
  needs: ['object', 'call'],
  exemptions,
  watch: ({ book, saw, report, isExempt }) => {
    const asked = new RequestedSizes();
    return {
      object: (entry) => {
        const group = book.isNewVersion ? reportedGroup(entry) : undefined;
        if (group !== undefined) asked.take(group.autoScalingGroup, entry.at, entry.object);
      },
      scaling: (entry) => asked.scaled(entry),
      call: (entry) => {
        const { group, desired } = sizeCallOf(entry) ?? {};
        if (entry.operation !== 'UpdateAutoScalingGroup' || !book.isOurs(entry)) return;
        if (group === undefined || desired === undefined) return;
        const most = asked.most(group, book.now - book.lagMicros);
        if (most === undefined || !asked.grows(group, desired)) return;
        saw();
        if (desired <= most) return;
        const isNoted = asked.isNoted(group, desired);
        if (isExempt(exemptions, { mayLeaderBeLate: book.mayLeaderBeLate, isNoted })) return;
        const message = `made larger to ${desired} where spec and noted surge ask for ${most}`;
        report({ subject: group, message });
      },
    };
  },
};

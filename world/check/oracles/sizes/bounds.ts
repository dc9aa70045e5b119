// A desired size lies within minimum and maximum, whoever set it.
import { both, type Context, type Oracle } from '../../oracle.ts';
import { type Bounds, KnownBounds, reportedGroup, sizeCallOf } from '../../state/group-sizes.ts';

const check = (
  { saw, report }: Context,
  group: string,
  { min, max, desired }: Bounds & { readonly desired: number },
): void => {
  saw();
  if (desired >= min && desired <= max) return;
  report({ subject: group, message: `desired size ${desired} is outside ${min} to ${max}` });
};

export const bounds: Oracle = {
  name: 'desired-within-bounds',
  what:
    'a desired size that a NodeGroup reports or the controller sets lies within minimum and ' +
    'maximum',
  strategies: both,
  needs: ['object'],
  watch: (context) => {
    const { book } = context;
    const known = new KnownBounds();
    return {
      object: (entry) => {
        const group = book.isNewVersion ? reportedGroup(entry) : undefined;
        if (group === undefined) return;
        known.reported(group);
        check(context, group.autoScalingGroup, group);
      },
      call: (entry) => {
        const call = sizeCallOf(entry);
        const now = call && known.called(call);
        if (now === undefined || call?.desired === undefined || !book.isOurs(entry)) return;
        check(context, call.group, { ...now, desired: call.desired });
      },
    };
  },
};

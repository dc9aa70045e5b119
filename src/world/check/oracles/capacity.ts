// Oracle 5, the part that holds for terminations: a group's desired size lies within its min and max
// whenever it is told or changed, and no call of ours asks for another.
import { objectOr } from '../../../api/json.ts';
import { both, type Oracle } from '../oracle.ts';
import { numberOf, textOf } from '../state/read.ts';

interface Bounds {
  readonly min: number;
  readonly max: number;
}

export const capacity: Oracle = {
  name: 'desired-within-bounds',
  what: 'desired size lies within min and max whenever a NodeGroup tells it or we ask for it',
  strategies: both,
  needs: ['object'],
  watch: ({ book, saw, report }) => {
    const known = new Map<string, Bounds>();
    const check = (group: string, size: Bounds & { readonly desired: number }): void => {
      saw();
      if (size.desired >= size.min && size.desired <= size.max) return;
      report({
        subject: group,
        message: `desired size ${size.desired} is outside ${size.min} to ${size.max}`,
      });
    };
    return {
      object: ({ type, resource, object }) => {
        if (resource !== 'nodegroups' || type === 'DELETED' || !book.isNewVersion) return;
        const { minSize, maxSize, desired } = objectOr(object.status);
        const [min, max] = [numberOf(minSize), numberOf(maxSize)];
        if (min === undefined || max === undefined) return;
        const group = textOf(objectOr(object.spec).autoScalingGroupName);
        known.set(group, { min, max });
        check(group, { min, max, desired: numberOf(desired) ?? 0 });
      },
      call: (entry) => {
        if (entry.service !== 'autoscaling' || entry.error !== undefined) return;
        const { AutoScalingGroupName, MinSize, MaxSize, DesiredCapacity } = entry.input;
        const group = textOf(AutoScalingGroupName);
        if (group === '') return;
        const before = known.get(group);
        const min = numberOf(MinSize) ?? before?.min;
        const max = numberOf(MaxSize) ?? before?.max;
        if (min === undefined || max === undefined) return;
        known.set(group, { min, max });
        const desired = numberOf(DesiredCapacity);
        if (desired !== undefined && book.isOurs(entry)) check(group, { min, max, desired });
      },
    };
  },
};

// Oracle 5, the part that holds for terminations: a group's desired size lies within its min and max
// whenever it is told or changed, no call of ours asks for another, and in the end the size that is
// told is that of the group: who changes it from outside is followed.
import { objectOr } from '../../../api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import { microsPerMinute, numberOf, textOf } from '../state/read.ts';

/** A group that has stood still for so long has been looked at several times. */
const followedWithinMicros = 2 * microsPerMinute;
/** Auto Scaling tries again after some minutes where EC2 had nothing to give. */
const scarceMicros = 10 * microsPerMinute;
const scarce = new Set(['no-capacity', 'no-addresses']);
const leaving = /^(?:Terminat|Detach|$)/;

/** Where nothing comes or goes any more, a group has as many instances as it wants. */
const checkFollowed = (
  { book, saw, report }: Context,
  told: ReadonlyMap<string, number>,
  movedAt: ReadonlyMap<string, number>,
): void => {
  for (const [group, desired] of told) {
    const since = movedAt.get(group);
    if (since === undefined || book.now - since < followedWithinMicros) continue;
    let members = 0;
    for (const instance of book.cloud.instances.values()) {
      if (instance.group === group && !leaving.test(instance.state)) members++;
    }
    saw();
    if (members === desired) continue;
    report({ subject: group, message: `told as ${desired}, and it has ${members} instances` });
  }
};

interface Bounds {
  readonly min: number;
  readonly max: number;
}

export const capacity: Oracle = {
  name: 'desired-within-bounds',
  what: 'desired size lies within min and max whenever told or asked for, and is the group’s in the end',
  strategies: both,
  needs: ['object'],
  watch: (context) => {
    const { book, saw, report } = context;
    const known = new Map<string, Bounds>();
    const told = new Map<string, number>();
    const movedAt = new Map<string, number>();
    let scarceAt = Number.NEGATIVE_INFINITY;
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
        if (resource !== 'nodegroups' || !book.isNewVersion) return;
        const status = objectOr(object.status);
        const { minSize, maxSize, desired, autoScalingGroupName } = status;
        const group = textOf(autoScalingGroupName ?? objectOr(object.spec).autoScalingGroupName);
        if (type === 'DELETED') {
          told.delete(group);
          return;
        }
        const [min, max] = [numberOf(minSize), numberOf(maxSize)];
        if (min === undefined || max === undefined) return;
        known.set(group, { min, max });
        check(group, { min, max, desired: numberOf(desired) ?? 0 });
        told.set(group, numberOf(desired) ?? 0);
      },
      lifecycle: ({ instanceId, at }) => {
        movedAt.set(book.cloud.instances.get(instanceId)?.group ?? '', at);
      },
      fault: ({ fault, at }) => {
        if (scarce.has(fault)) scarceAt = at;
      },
      end: () => {
        if (book.now - scarceAt < scarceMicros) return;
        if (book.facts.settled) checkFollowed(context, told, movedAt);
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

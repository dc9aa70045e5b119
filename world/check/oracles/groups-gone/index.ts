// After a delete nothing of Drover's remains, except the Auto Scaling group of a retained group.
// The NodeGroup object is removed last: after its instances, its Auto Scaling group, its launch
// template and its instance profile. Its nodes follow within minutes.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../../oracle.ts';
import { isReleased, microsPerMinute, textOf, textsOf } from '../../state/read.ts';
import { groupNameOf, leftOf, Standing } from './resources.ts';

const finalizer = 'drover.dev/nodegroup';
/** The cluster removes the node of a terminated instance within this time. */
const nodeGoneWithinMicros = 10 * microsPerMinute;

/** A delete keeps the Auto Scaling group (docs/node-groups.md, deletionPolicy). */
const isRetained = (object: JsonObject): boolean => {
  const { deletionPolicy, autoScalingGroupName } = objectOr(object.spec);
  const isAdopted = textOf(autoScalingGroupName) !== '';
  return deletionPolicy === 'Retain' || (isAdopted && deletionPolicy !== 'Delete');
};

/** Reports nodes whose node group was deleted long ago. */
const checkNodes = ({ book, saw, report }: Context, gone: ReadonlyMap<string, number>): void => {
  for (const { instanceId, group } of book.cloud.instances.values()) {
    const since = gone.get(group);
    if (since === undefined || book.now - since < nodeGoneWithinMicros) continue;
    saw();
    const node = book.nodes.ofInstance(instanceId);
    if (node !== undefined)
      report({ subject: node.name, message: `its node group ${group} is gone` });
  }
};

export const groupsGone: Oracle = {
  name: 'nothing-left-after-delete',
  what:
    'a deleted NodeGroup is removed after its instances, its Auto Scaling group, launch ' +
    'template and profile',
  strategies: both,
  needs: ['object', 'call'],
  watch: (context) => {
    const { book, saw, report } = context;
    const standing = new Standing();
    const held = new Set<string>();
    const gone = new Map<string, number>();
    return {
      call: (entry) => {
        if (entry.error === undefined && book.isOurs(entry)) standing.take(entry);
      },
      object: ({ type, resource, object, at }) => {
        if (resource !== 'nodegroups') return;
        const metadata = objectOr(object.metadata);
        const name = textOf(metadata.name);
        if (type !== 'DELETED' && !isReleased(object)) {
          if (textsOf(metadata.finalizers).includes(finalizer)) held.add(name);
          return;
        }
        // The controller created nothing for a group without its finalizer.
        if (!held.delete(name)) return;
        saw();
        if (isRetained(object)) {
          const group = groupNameOf(object);
          if (!standing.hasEnded('AutoScalingGroup', group)) return;
          report({ subject: name, message: `policy Retain, and ${group} was deleted` });
          return;
        }
        gone.set(groupNameOf(object), at);
        const left = leftOf(context, standing, object);
        if (left.length === 0) return;
        report({ subject: name, message: `deleted before ${left.join(', ')}` });
      },
      end: () => {
        if (book.facts.settled) checkNodes(context, gone);
      },
    };
  },
};

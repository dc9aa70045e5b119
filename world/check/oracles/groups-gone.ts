// Oracle 13: after a delete nothing of Drover's remains, except the Auto Scaling group of a
// retained group. The NodeGroup object is removed last: after its instances, its Auto Scaling
// group, its launch template and its instance profile. Its nodes follow within minutes.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { Call } from '../state/book.ts';
import { isReleased, microsPerMinute, textOf, textsOf } from '../state/read.ts';

const finalizer = 'drover.dev/nodegroup';
const leaving = /^(?:Terminat|Detach|$)/;
/** The cluster removes the node of a terminated instance within this time. */
const nodeGoneWithinMicros = 10 * microsPerMinute;

const groupNameOf = (object: JsonObject): string =>
  textOf(
    objectOr(object.status).autoScalingGroupName ?? objectOr(object.spec).autoScalingGroupName,
  );

/** EKS names the derived launch template by the uuid in the group's name. */
const templateNameOf = (groupName: string): string =>
  `eks-${/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(groupName)?.[0] ?? groupName}`;

/**
 * Resources that the controller's calls create and delete: the operation's name without its verb,
 * and the input member with the resource's name.
 */
const named = {
  AutoScalingGroup: 'AutoScalingGroupName',
  LaunchTemplate: 'LaunchTemplateName',
  InstanceProfile: 'InstanceProfileName',
} as const;
type Made = keyof typeof named;
const isMade = (what: string): what is Made => Object.hasOwn(named, what);

/** Resources that the controller's calls created and did not delete. */
class Standing {
  readonly #made = new Set<string>();
  readonly #ended = new Set<string>();

  take({ operation, input }: Call): void {
    const [, verb, what = ''] = /^(Create|Delete)(\w+)$/.exec(operation) ?? [];
    if (!isMade(what)) return;
    const key = `${what} ${textOf(input[named[what]])}`;
    if (verb === 'Delete') this.#ended.add(key);
    else {
      this.#made.add(key);
      this.#ended.delete(key);
    }
  }

  stands(what: Made, name: string): boolean {
    return this.#made.has(`${what} ${name}`) && !this.hasEnded(what, name);
  }
  hasEnded(what: Made, name: string): boolean {
    return this.#ended.has(`${what} ${name}`);
  }
}

/** A delete keeps the Auto Scaling group (docs/node-groups.md, deletionPolicy). */
const isRetained = (object: JsonObject): boolean => {
  const { deletionPolicy, autoScalingGroupName } = objectOr(object.spec);
  const isAdopted = textOf(autoScalingGroupName) !== '';
  return deletionPolicy === 'Retain' || (isAdopted && deletionPolicy !== 'Delete');
};

const leftOf = ({ book }: Context, standing: Standing, object: JsonObject): readonly string[] => {
  const group = groupNameOf(object);
  const template = templateNameOf(group);
  const isAdopted = textOf(objectOr(object.spec).autoScalingGroupName) !== '';
  const members = [...book.cloud.instances.values()].filter(
    (one) => one.group === group && !leaving.test(one.state),
  );
  return [
    ...(standing.stands('AutoScalingGroup', group) ||
    (isAdopted && !standing.hasEnded('AutoScalingGroup', group))
      ? [`Auto Scaling group ${group}`]
      : []),
    ...(standing.stands('LaunchTemplate', template) ? [`launch template ${template}`] : []),
    ...(standing.stands('InstanceProfile', template) ? [`instance profile ${template}`] : []),
    ...members.map(({ instanceId }) => instanceId),
  ];
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
    'a deleted NodeGroup goes after its instances, its Auto Scaling group, launch template ' +
    'and profile',
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

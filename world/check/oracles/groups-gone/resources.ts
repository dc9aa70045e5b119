// The AWS resources of a node group, and which of those that the controller created still exist.
// Judges nothing.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import type { Call } from '../../state/book.ts';
import { textOf } from '../../state/read.ts';

const leaving = /^(?:Terminat|Detach|$)/;

export const groupNameOf = (object: JsonObject): string =>
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
export class Standing {
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

export const leftOf = (
  { book }: Context,
  standing: Standing,
  object: JsonObject,
): readonly string[] => {
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

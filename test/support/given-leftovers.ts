// A story's leftovers among an existing cluster's own data: entries of kube-system/aws-auth and
// events. Only distinguishes them; never reads or writes.
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import {
  type AwsAuthMap,
  addedRolesOf,
  awsAuthRequest,
  planRemoval,
} from '../../src/core/identity/index.ts';

/**
 * How to undo the changes; a patch is valid only for the map as read, since others write it as
 * well.
 */
export type AwsAuthUndo =
  | { readonly verb: 'none' }
  | { readonly verb: 'delete' }
  | { readonly verb: 'patch'; readonly body: object };

/** Removes the roles that were added since `before`, the state before the story. */
export const awsAuthUndo = (
  before: AwsAuthMap | undefined,
  now: AwsAuthMap | undefined,
): AwsAuthUndo => {
  const known = new Set(addedRolesOf(before));
  const ours = addedRolesOf(now).filter((role) => !known.has(role));
  if (now === undefined || ours.length === 0) return { verb: 'none' };
  let data = now.data ?? {};
  for (const role of ours) {
    const plan = planRemoval({ ...now, data }, role);
    if (plan.kind === 'refused') throw new Error(`aws-auth keeps ${role}: ${plan.why}`);
    if (plan.kind === 'write') data = plan.data;
  }
  const isEmpty = Object.values(data).every((text) => /^\s*(?:\[\s*\]\s*)?$/.test(text));
  if (before === undefined && isEmpty) return { verb: 'delete' };
  const added = addedRolesOf(now).filter((role) => known.has(role));
  const { body } = awsAuthRequest(now, { data, added }, 'mapRoles');
  return { verb: 'patch', body };
};

interface Told {
  readonly made: readonly JsonObject[];
  readonly nodes: readonly string[];
}

const namespaceOf = ({ namespace }: JsonObject): string =>
  typeof namespace === 'string' ? namespace : 'default';

/**
 * An event about Drover's kinds, about the story's nodes, or about objects that the story created
 * and their dependents, recognized by namespace and name prefix.
 */
export const isEventOf = ({ involvedObject }: JsonObject, { made, nodes }: Told): boolean => {
  const about = objectOr(involvedObject);
  const { apiVersion, kind, name, namespace } = about;
  if (String(apiVersion).startsWith('drover.dev/')) return true;
  if (namespace === undefined) return kind === 'Node' && nodes.includes(String(name));
  return made
    .map(({ metadata }) => objectOr(metadata))
    .some(
      (one) =>
        namespaceOf(one) === namespace &&
        (name === one.name || String(name).startsWith(`${String(one.name)}-`)),
    );
};

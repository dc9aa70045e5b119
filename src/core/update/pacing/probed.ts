// The object that a health probe reads, and whether its condition is as expected. Shared by the
// controller and the plan. Pure.
import type { Condition, KubeObject, ResourceType } from '../../../api/kube.ts';
import type { Probe } from '../../../api/update-pacing.ts';

type Wanted = NonNullable<Probe['condition']>;

/** Kubernetes' convention: the lower-case plural of the kind. */
const pluralOf = (kind: string): string => {
  const name = kind.toLowerCase();
  if (/(?:s|x|ch|sh)$/.test(name)) return `${name}es`;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
};

/** The location of the object that a probe reads. */
export const probedPlace = ({
  apiVersion,
  kind,
  namespace,
  name,
}: Wanted): {
  readonly resource: ResourceType;
  readonly where: { readonly namespace?: string; readonly name: string };
} => {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const namespaced = namespace !== undefined;
  return {
    resource: {
      group: group ?? '',
      version: version ?? '',
      resource: pluralOf(kind),
      kind,
      namespaced,
    },
    where: namespaced ? { namespace, name } : { name },
  };
};

export type Conditioned = KubeObject & {
  readonly status?: { readonly conditions?: readonly Condition[] };
};

/**
 * Why the probe does not pass; undefined: it passes. `object` is undefined if it does not exist.
 */
export const conditionComplaint = (
  { kind, namespace, name, type, status = 'True' }: Wanted,
  object: Conditioned | undefined,
): string | undefined => {
  const what = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  if (object === undefined) return `there is no ${what}`;
  const condition = object.status?.conditions?.find((one) => one.type === type);
  if (condition?.status === status) return undefined;
  const is = condition === undefined ? 'is not there' : `is ${condition.status}`;
  const why = condition?.message === undefined ? '' : ` (${condition.message})`;
  return `condition ${type} of ${what} ${is}, expected ${status}${why}`;
};

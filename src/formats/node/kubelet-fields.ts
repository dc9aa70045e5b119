// The fields of KubeletConfiguration v1beta1 per minor, and the type of each value. Facts from
// k8s.io/kubelet, read by scripts/generate-kubelet-facts.ts (see NOTICE). A kubelet silently
// ignores an unknown field and exits on a value of another type.
import { kindOf, type Located, numberOf, textOf } from '../user-data/located.ts';
import facts from './facts/kubelet-configuration.json' with { type: 'json' };
import { meant } from './nearest.ts';
import { type Obstacle, obstacle, type Problem } from './problem.ts';

const since: Readonly<Record<string, number>> = facts.since;

type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

interface Where {
  readonly path: string;
  readonly minor: number;
}

const isTexts = (value: Located): boolean =>
  value.kind === 'list' && value.items.every((item) => textOf(item) !== undefined);

const duration = /^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$|^0$/;

/** What the field accepts instead; undefined when the value is valid. */
const wrong = (value: Located, shape: string): string | undefined => {
  const number = numberOf(value);
  switch (shape) {
    case 'string':
      return textOf(value) === undefined ? 'a text' : undefined;
    case 'boolean':
      return value.kind === 'scalar' && typeof value.value === 'boolean'
        ? undefined
        : 'true or false';
    case 'integer':
      return number !== undefined && Number.isInteger(number) ? undefined : 'a whole number';
    case 'number':
      return number === undefined ? 'a number' : undefined;
    case 'duration':
      return duration.test(textOf(value) ?? '') ? undefined : 'a duration such as 30s';
    case 'strings':
      return isTexts(value) ? undefined : 'a list of texts';
    case 'text map': {
      const isMap = value.kind === 'map';
      const texts =
        isMap && [...value.members.values()].every((one) => textOf(one.value) !== undefined);
      return texts ? undefined : 'an object of texts';
    }
    case 'boolean map':
    case 'map':
      return value.kind === 'map' ? undefined : 'an object';
    case 'integers':
    case 'taints':
      return value.kind === 'list' ? undefined : 'a list';
    default:
      return undefined;
  }
};

/** Undefined when a kubelet of that minor has the field, or its sources were not read. */
const whenceOf = (path: string, minor: number): number | undefined => {
  const plain = path.replaceAll(/\[\d+\]/g, '');
  const first = Object.hasOwn(since, plain) ? since[plain] : undefined;
  return first !== undefined && minor >= facts.oldestMinor && minor < first ? first : undefined;
};

const shapeProblems = (value: Located, shape: Shape, where: Where): readonly Problem[] => {
  const { path, minor } = where;
  // null counts as an omitted field.
  if (value.kind === 'scalar' && value.value === null) return [];
  if (typeof shape === 'string') {
    const wanted = wrong(value, shape);
    if (wanted === undefined) return [];
    return [obstacle('KC004', value.at, `${path} takes ${wanted}, not ${kindOf(value)}`)];
  }
  if (Array.isArray(shape)) {
    if (value.kind !== 'list')
      return [obstacle('KC004', value.at, `${path} takes a list, not ${kindOf(value)}`)];
    return value.items.flatMap((item, i) =>
      shapeProblems(item, shape[0] ?? 'any', { path: `${path}[${i}]`, minor }),
    );
  }
  if (value.kind !== 'map') {
    return [obstacle('KC004', value.at, `${path} takes an object, not ${kindOf(value)}`)];
  }
  const known = shape as Readonly<Record<string, Shape>>;
  return [...value.members].flatMap(([key, member]) => {
    const inner = Object.hasOwn(known, key) ? known[key] : undefined;
    const name = path === '' ? key : `${path}.${key}`;
    const first = whenceOf(name, minor);
    if (inner !== undefined && first === undefined) {
      return shapeProblems(member.value, inner, { path: name, minor });
    }
    const message =
      first === undefined
        ? `KubeletConfiguration has no field ${name}${meant(key, Object.keys(known))}`
        : `KubeletConfiguration of 1.${minor} has no field ${name}: it came with 1.${first}`;
    return [{ rule: 'KC001', at: member.keyAt, message }];
  });
};

const problemsOf = (config: Located, minor: number): readonly Problem[] =>
  shapeProblems(config, facts.fields as unknown as Shape, { path: '', minor });

/** Fields that a kubelet of that minor silently ignores. */
export const unknownKubeletFields = (config: Located, minor: number): readonly Problem[] =>
  problemsOf(config, minor).filter(({ rule }) => rule === 'KC001');

/** Values on which a kubelet of that minor exits. */
export const kubeletTypeProblems = (config: Located, minor: number): readonly Obstacle[] =>
  problemsOf(config, minor).flatMap(({ rule, at, message }) =>
    rule === 'KC004' ? [obstacle('KC004', at, message)] : [],
  );

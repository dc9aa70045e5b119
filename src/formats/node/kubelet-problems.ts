// What ends a kubelet at its start: flags, labels, taints and configuration that it refuses. Each with
// the place where it was written. Rules: the kubelet's own validation.
import { editDistance } from '../../api/similar.ts';
import type { Position } from '../position.ts';
import { kindOf, type Located, numberOf, textOf } from '../user-data/located.ts';
import {
  type Argument,
  type Arguments,
  allOf,
  flagNames,
  isKnownFlag,
  removedFlags,
} from './arguments.ts';
import fields from './facts/kubelet-configuration.json' with { type: 'json' };
import { featureGateNames, gateState, goneIn } from './feature-gates.ts';
import { keyFault, kubeletMaySet, labelOf, pieces, taintOf, valueFault } from './labels.ts';
import { type Obstacle, obstacle } from './problem.ts';

export const nearestName = (word: string, known: readonly string[]): string | undefined => {
  const lower = word.toLowerCase();
  let best: string | undefined;
  let far = Math.max(2, Math.floor(word.length / 5)) + 1;
  for (const name of known) {
    if (Math.abs(name.length - word.length) >= far) continue;
    const distance = editDistance(lower, name.toLowerCase());
    if (distance < far) {
      far = distance;
      best = name;
    }
  }
  return best;
};

const meant = (word: string, known: readonly string[]): string => {
  const near = nearestName(word, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
};

const integers: ReadonlySet<string> = new Set(
  `max-pods pods-per-core pod-max-pids event-burst event-qps kube-api-burst kube-api-qps
  registry-burst registry-qps read-only-port port healthz-port container-log-max-files
  image-gc-high-threshold image-gc-low-threshold oom-score-adj v node-status-max-images
  max-open-files eviction-max-pod-grace-period`.split(/\s+/),
);

const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+)$/;

const valueProblem = ({ name, value, isOpaque }: Argument): string | undefined => {
  if (value === undefined || isOpaque) return undefined;
  if (integers.has(name) && !/^-?\d+$/.test(value)) return 'a whole number';
  if (name === 'cluster-dns' && !pieces(value).every((one) => address.test(one.text))) {
    return 'IP addresses';
  }
  return undefined;
};

const flagProblems = (flag: Argument, minor: number): readonly Obstacle[] => {
  const { name, value = '', at, valueAt } = flag;
  const removed = Object.hasOwn(removedFlags, name) ? removedFlags[name] : undefined;
  if (removed !== undefined && minor >= removed.minor) {
    const text = `--${name} was removed in Kubernetes 1.${removed.minor}; ${removed.instead}`;
    return [obstacle('FL002', at, text)];
  }
  if (removed === undefined && !isKnownFlag(name)) {
    return [obstacle('FL004', at, `a kubelet has no flag --${name}${meant(name, flagNames)}`)];
  }
  if (/^["']/.test(value) && !flag.isOpaque) {
    const text = `--${name} gets its quotes as part of the value: nothing takes them off`;
    return [obstacle('FL001', valueAt(0), text)];
  }
  const wanted = valueProblem(flag);
  if (wanted === undefined) return [];
  return [obstacle('FL003', valueAt(0), `--${name} takes ${wanted}, not ${JSON.stringify(value)}`)];
};

const labelProblems = (flag: Argument): readonly Obstacle[] => {
  if (/^["']/.test(flag.value ?? '')) return [];
  return pieces(flag.value ?? '').flatMap(({ text, offset }) => {
    const [key, value = ''] = labelOf(text);
    const at = flag.valueAt(offset);
    const fault = keyFault(key) ?? (flag.isOpaque ? undefined : valueFault(value));
    if (fault !== undefined) return [obstacle('LB002', at, fault)];
    return kubeletMaySet(key) ? [] : [obstacle('LB001', at, reservedMessage(key))];
  });
};

export const reservedMessage = (key: string): string =>
  `the label ${key} is reserved: a kubelet may not set it of itself`;

const taintProblems = (flag: Argument): readonly Obstacle[] =>
  flag.isOpaque || /^["']/.test(flag.value ?? '')
    ? []
    : pieces(flag.value ?? '').flatMap(({ text, offset }) => {
        const taint = taintOf(text);
        return typeof taint === 'string'
          ? [obstacle('TN001', flag.valueAt(offset), `the taint ${text} ${taint}`)]
          : [];
      });

const gateFlagProblems = (flag: Argument, minor: number): readonly Obstacle[] =>
  pieces(flag.value ?? '').flatMap(({ text, offset }) =>
    gateProblem(labelOf(text)[0], flag.valueAt(offset), minor),
  );

const gateProblem = (name: string, at: Position, minor: number): readonly Obstacle[] => {
  switch (gateState(name, minor)) {
    case 'known':
      return [];
    case 'gone':
      return [obstacle('KC002', at, `the feature gate ${name} is gone since 1.${goneIn(name)}`)];
    case 'not-yet':
      return [obstacle('KC002', at, `the feature gate ${name} is not in 1.${minor} yet`)];
    case 'unheard-of': {
      const near = nearestName(name, featureGateNames);
      if (near === undefined) return [];
      return [obstacle('KC002', at, `there is no feature gate ${name}; did you mean ${near}?`)];
    }
  }
};

/** Of a kubelet's command line. */
export const argumentProblems = (
  { flags, strays }: Arguments,
  minor: number,
): readonly Obstacle[] => [
  ...strays
    .filter(({ isOpaque }) => !isOpaque)
    .map(({ text, at }) =>
      obstacle(
        'FL005',
        at(0),
        `${JSON.stringify(text)} belongs to no flag: the kubelet takes it for a command`,
      ),
    ),
  ...flags.flatMap((flag) => flagProblems(flag, minor)),
  ...allOf(flags, 'node-labels').flatMap(labelProblems),
  ...allOf(flags, 'register-with-taints').flatMap(taintProblems),
  ...allOf(flags, 'feature-gates').flatMap((flag) => gateFlagProblems(flag, minor)),
];

type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

const isTexts = (value: Located): boolean =>
  value.kind === 'list' && value.items.every((item) => textOf(item) !== undefined);

const duration = /^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$|^0$/;

/** What the field takes instead; undefined: it takes the value. */
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

const shapeProblems = (value: Located, shape: Shape, path: string): readonly Obstacle[] => {
  // null is a field left out.
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
      shapeProblems(item, shape[0] ?? 'any', `${path}[${i}]`),
    );
  }
  if (value.kind !== 'map') {
    return [obstacle('KC004', value.at, `${path} takes an object, not ${kindOf(value)}`)];
  }
  const known = shape as Readonly<Record<string, Shape>>;
  return [...value.members].flatMap(([key, member]) => {
    const inner = Object.hasOwn(known, key) ? known[key] : undefined;
    const name = path === '' ? key : `${path}.${key}`;
    if (inner !== undefined) return shapeProblems(member.value, inner, name);
    const text = `KubeletConfiguration has no field ${name}${meant(key, Object.keys(known))}`;
    return [obstacle('KC001', member.keyAt, text)];
  });
};

const cgroups = ['kubeReservedCgroup', 'systemReservedCgroup'] as const;

/** Of a KubeletConfiguration that lies over the image's own, which sets both reserved cgroups. */
export const configProblems = (config: Located, minor: number): readonly Obstacle[] => {
  const found = [...shapeProblems(config, fields as unknown as Shape, '')];
  if (config.kind !== 'map') return found;
  const gates = config.members.get('featureGates')?.value;
  if (gates?.kind === 'map') {
    for (const [name, { keyAt }] of gates.members) found.push(...gateProblem(name, keyAt, minor));
  }
  const cpus = config.members.get('reservedSystemCPUs');
  const emptied = cgroups.every((name) => textOf(config.members.get(name)?.value) === '');
  if (cpus !== undefined && textOf(cpus.value) !== '' && !emptied) {
    const text = `reservedSystemCPUs goes with no reserved cgroup; set ${cgroups.join(' and ')} to ""`;
    found.push(obstacle('KC003', cpus.keyAt, text));
  }
  const taints = config.members.get('registerWithTaints')?.value;
  for (const item of taints?.kind === 'list' ? taints.items : [])
    found.push(...taintItemProblems(item));
  return found;
};

const taintItemProblems = (item: Located): readonly Obstacle[] => {
  if (item.kind !== 'map') {
    return [obstacle('TN001', item.at, `registerWithTaints takes objects, not ${kindOf(item)}`)];
  }
  const key = textOf(item.members.get('key')?.value) ?? '';
  const effect = item.members.get('effect')?.value;
  const value = textOf(item.members.get('value')?.value);
  const taint = taintOf(`${key}${value === undefined ? '' : `=${value}`}:${textOf(effect) ?? ''}`);
  if (typeof taint !== 'string') return [];
  return [obstacle('TN001', effect?.at ?? item.at, `the taint ${key} ${taint}`)];
};

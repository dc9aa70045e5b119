// Why a kubelet exits at its start: flags, labels, taints and configuration that it refuses, each
// with its place. Rules: the kubelet's own validation.
import { isAddress } from '../../api/addresses.ts';
import type { Position } from '../position.ts';
import { kindOf, type Located, textOf } from '../user-data/located.ts';
import {
  type Argument,
  type Arguments,
  allOf,
  flagNames,
  isKnownFlag,
  removedFlags,
} from './arguments.ts';
import { featureGateNames, gateState, goneIn } from './feature-gates.ts';
import { kubeletTypeProblems } from './kubelet-fields.ts';
import {
  keyFault,
  kubeletMaySet,
  labelOf,
  labelPieces,
  pieces,
  taintOf,
  valueFault,
} from './labels.ts';
import { meant, nearestName } from './nearest.ts';
import { type Obstacle, obstacle } from './problem.ts';

const integers: ReadonlySet<string> = new Set(
  `max-pods pods-per-core pod-max-pids event-burst event-qps kube-api-burst kube-api-qps
  registry-burst registry-qps read-only-port port healthz-port container-log-max-files
  image-gc-high-threshold image-gc-low-threshold oom-score-adj v node-status-max-images
  max-open-files eviction-max-pod-grace-period`.split(/\s+/),
);

const valueProblem = ({ name, value, isOpaque }: Argument): string | undefined => {
  if (value === undefined || isOpaque) return undefined;
  if (integers.has(name) && !/^-?\d+$/.test(value)) return 'a whole number';
  if (name === 'cluster-dns' && !pieces(value).every((one) => isAddress(one.text))) {
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
  const wanted = valueProblem(flag);
  if (wanted === undefined) return [];
  return [obstacle('FL003', valueAt(0), `--${name} takes ${wanted}, not ${JSON.stringify(value)}`)];
};

const labelProblems = (flag: Argument): readonly Obstacle[] =>
  labelPieces(flag.value ?? '').flatMap(({ key, value = '', offset }) => {
    const at = flag.valueAt(offset);
    const fault = keyFault(key) ?? (flag.isOpaque ? undefined : valueFault(value));
    if (fault !== undefined) return [obstacle('LB002', at, fault)];
    return kubeletMaySet(key) ? [] : [obstacle('LB001', at, reservedMessage(key))];
  });

export const reservedMessage = (key: string): string =>
  `the label ${key} is reserved: a kubelet may not set it of itself`;

const taintProblems = (flag: Argument): readonly Obstacle[] =>
  flag.isOpaque
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
    case 'absent':
      return [
        obstacle(
          'KC002',
          at,
          `there is no feature gate ${name} in 1.${minor}${meant(name, featureGateNames)}`,
        ),
      ];
    case 'unheard-of': {
      const near = nearestName(name, featureGateNames);
      if (near === undefined) return [];
      return [obstacle('KC002', at, `there is no feature gate ${name}; did you mean ${near}?`)];
    }
  }
};

/** Problems of a kubelet's command line. */
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

const cgroups = ['kubeReservedCgroup', 'systemReservedCgroup'] as const;

/**
 * Problems of a KubeletConfiguration merged over the image's own, which sets both reserved cgroups.
 */
export const configProblems = (config: Located, minor: number): readonly Obstacle[] => {
  const found = [...kubeletTypeProblems(config, minor)];
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

// Labels and taints in a kubelet's flags, and which labels a kubelet may set on its own node.
// Rules: kubernetes, staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go and apimachinery's
// validation of names. Pure text.
import type { Taint } from '../../api/kube.ts';

/** A substring with its offset. */
export interface Piece {
  readonly text: string;
  readonly offset: number;
}

export const pieces = (text: string, separator = ','): readonly Piece[] => {
  const all: Piece[] = [];
  let offset = 0;
  for (const part of text.split(separator)) {
    if (part !== '') all.push({ text: part, offset });
    offset += part.length + separator.length;
  }
  return all;
};

export const labelOf = (text: string): readonly [key: string, value: string | undefined] => {
  const at = text.indexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
};

export interface LabelPiece {
  readonly key: string;
  readonly value: string | undefined;
  /** Offset of the key in the flag's value. */
  readonly offset: number;
}

/** Pairs of `--node-labels`, with blanks around keys and values removed as in the kubelet. */
export const labelPieces = (text: string): readonly LabelPiece[] =>
  pieces(text).map((piece) => {
    const [key, value] = labelOf(piece.text);
    const blanks = key.length - key.trimStart().length;
    return { key: key.trim(), value: value?.trim(), offset: piece.offset + blanks };
  });

/** A pair without = has an empty value, as in the kubelet. */
export const labelsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(labelPieces(text).map(({ key, value = '' }) => [key, value]));

const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const isEffect = (text: string): text is Taint['effect'] => effects.includes(text);

/**
 * Parses `key=value:Effect` or `key:Effect`; a sentence for other text, on which the kubelet exits.
 */
export const taintOf = (text: string): Taint | string => {
  const at = text.lastIndexOf(':');
  if (at < 0) return `has no effect: write ${text}:NoSchedule, :PreferNoSchedule or :NoExecute`;
  const effect = text.slice(at + 1);
  if (!isEffect(effect))
    return `has the effect ${JSON.stringify(effect)}, not one of ${effects.join(', ')}`;
  const [key, value] = labelOf(text.slice(0, at));
  const bad = keyFault(key) ?? (value === undefined ? undefined : valueFault(value));
  if (bad !== undefined) return bad;
  return { key, effect, ...(value === undefined || value === '' ? {} : { value }) };
};

export const printTaint = ({ key, value = '', effect }: Taint): string =>
  `${key}=${value}:${effect}`;

const name = /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
const prefix = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** Why a label key is invalid; undefined when valid. */
export const keyFault = (key: string): string | undefined => {
  const slash = key.indexOf('/');
  const own = slash < 0 ? key : key.slice(slash + 1);
  const domain = slash < 0 ? undefined : key.slice(0, slash);
  if (own === '') return `the key ${JSON.stringify(key)} has no name`;
  if (own.length > 63) return `the name of ${key} has ${own.length} characters, 63 may be`;
  if (!name.test(own)) {
    return `the name ${JSON.stringify(own)} is not letters, digits, - _ . between letters or digits`;
  }
  if (domain === undefined) return undefined;
  if (domain.length > 253)
    return `the prefix of ${key} has ${domain.length} characters, 253 may be`;
  return prefix.test(domain) ? undefined : `the prefix ${JSON.stringify(domain)} is no DNS name`;
};

export const valueFault = (value: string): string | undefined => {
  if (value === '') return undefined;
  if (value.length > 63)
    return `the value ${JSON.stringify(value)} has ${value.length} characters, 63 may be`;
  return name.test(value)
    ? undefined
    : `the value ${JSON.stringify(value)} is not letters, digits, - _ . between letters or digits`;
};

const kubeletDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const exact: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
]);
const isBelow = (domain: string, parent: string): boolean =>
  domain === parent || domain.endsWith(`.${parent}`);

/** False: a kubelet that is started with this label exits. */
export const kubeletMaySet = (key: string): boolean => {
  const slash = key.indexOf('/');
  if (slash < 0 || exact.has(key)) return true;
  const domain = key.slice(0, slash);
  if (!isBelow(domain, 'kubernetes.io') && !isBelow(domain, 'k8s.io')) return true;
  return kubeletDomains.some((parent) => isBelow(domain, parent));
};

/**
 * Splits labels into those for the kubelet's flag and those that only a controller may set once the
 * node exists.
 */
export const splitLabels = (
  labels: Readonly<Record<string, string>>,
): {
  readonly kubelet: Readonly<Record<string, string>>;
  readonly controller: Readonly<Record<string, string>>;
} => {
  const entries = Object.entries(labels);
  return {
    kubelet: Object.fromEntries(entries.filter(([key]) => kubeletMaySet(key))),
    controller: Object.fromEntries(entries.filter(([key]) => !kubeletMaySet(key))),
  };
};

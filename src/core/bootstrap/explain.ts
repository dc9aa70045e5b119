// drover userdata explain: the effective value of a field, the part that sets it, and the values
// that lose. diff: how the nodes of two user data differ, and whether nodes must be replaced.
import type { Json, JsonObject } from '../../api/json.ts';
import type { EvaluatedNode, Evaluation } from '../../formats/index.ts';
import { type Setting, settingsOf } from './settings.ts';

export interface Explanation {
  readonly field: string;
  /** The setting that takes effect; undefined when nothing sets the field. */
  readonly inForce: Setting | undefined;
  /** Overridden earlier values and later values without effect, in order. */
  readonly lost: readonly Setting[];
}

/** Common spellings of the same field. */
const spellings = (field: string): readonly string[] => {
  const plain = field.replace(/^spec\./, '');
  return [plain, plain.replace(/^kubelet\.config\./, ''), plain.replace(/^--/, '--')];
};

/** Undefined when no setting has that name. */
export const explainField = (evaluation: Evaluation, field: string): Explanation | undefined => {
  const wanted = new Set(spellings(field));
  const settings = settingsOf(evaluation).filter((setting) => wanted.has(setting.field));
  if (settings.length === 0) return undefined;
  const inForce = settings.findLast(({ withoutEffect }) => withoutEffect === undefined);
  const name = settings[0]?.field ?? field;
  return { field: name, inForce, lost: settings.filter((setting) => setting !== inForce) };
};

export const fieldsOf = (evaluation: Evaluation): readonly string[] => [
  ...new Set(settingsOf(evaluation).map(({ field }) => field)),
];

export interface Difference {
  /** `label`, `taint`, `maxPods`, `kubelet`, `flag`, `cluster`, `file`, `script`, `joins`. */
  readonly what: string;
  readonly name: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

export type Replacement =
  /** The nodes would be identical. */
  | 'none'
  /** Only labels and taints differ; a group's controller sets them on running nodes, too. */
  | 'in-place'
  /** Something else differs, and user data is read only once, at the first boot. */
  | 'replace';

export interface UserDataDiff {
  readonly differences: readonly Difference[];
  readonly replacement: Replacement;
}

const flat = (value: Json | undefined, path: readonly string[] = []): readonly [string, Json][] => {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [[path.join('.'), value]];
  }
  return Object.entries(value).flatMap(([key, one]) => flat(one, [...path, key]));
};

const between = (
  what: string,
  before: ReadonlyMap<string, Json>,
  after: ReadonlyMap<string, Json>,
): readonly Difference[] =>
  [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((name) => {
    const [a, b] = [before.get(name), after.get(name)];
    return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ what, name, before: a, after: b }];
  });

const taintMap = ({ taints }: EvaluatedNode): ReadonlyMap<string, Json> =>
  new Map(taints.map(({ key, value = '', effect }) => [`${key}:${effect}`, value]));

const clusterMap = ({ cluster }: EvaluatedNode): ReadonlyMap<string, Json> =>
  new Map(
    Object.entries(cluster).flatMap(([key, value]): [string, Json][] =>
      value === undefined ? [] : [[key, value as Json]],
    ),
  );

const flagMap = ({ kubelet }: EvaluatedNode): ReadonlyMap<string, Json> =>
  new Map(
    kubelet.flags
      .filter(({ name }) => name !== 'node-labels' && name !== 'register-with-taints')
      .map(({ name, value = true }) => [`--${name}`, value]),
  );

/** Without taints, which are compared separately. */
const configMap = ({ kubelet }: EvaluatedNode): ReadonlyMap<string, Json> => {
  const { registerWithTaints: _taints, ...rest } = kubelet.effective;
  return new Map(flat(rest as JsonObject));
};

const scriptMap = ({ bootstrap }: Evaluation): ReadonlyMap<string, Json> =>
  new Map(
    bootstrap.scripts.map(({ script }, i) => [
      `script ${i + 1}`,
      script.invocations
        .filter(({ name }) => !name.endsWith('/eks/bootstrap.sh'))
        .map(({ name, fields }) => [name, ...fields.map((field) => field.text)].join(' '))
        .join('\n'),
    ]),
  );

/** Files whose content is not already covered by labels, flags or configuration. */
const fileMap = ({ files }: EvaluatedNode): ReadonlyMap<string, Json> =>
  new Map(
    files
      .filter(({ path }) => /containerd|systemd\/system|environment\.conf/.test(path))
      .filter(({ path }) => !/kubelet\.service/.test(path))
      .map(({ path, content }) => [path, content]),
  );

const joinsMap = ({ obstacles }: EvaluatedNode): ReadonlyMap<string, Json> =>
  new Map([['joins', obstacles.length === 0 ? 'yes' : `no: ${obstacles[0]?.rule}`]]);

export const diffUserData = (before: Evaluation, after: Evaluation): UserDataDiff => {
  const [a, b] = [before.node, after.node];
  const record = (map: Readonly<Record<string, string>>): ReadonlyMap<string, Json> =>
    new Map(Object.entries(map));
  const marks = [
    ...between('label', record(a.labels), record(b.labels)),
    ...between('taint', taintMap(a), taintMap(b)),
  ];
  const others = [
    ...between('joins', joinsMap(a), joinsMap(b)),
    ...between('cluster', clusterMap(a), clusterMap(b)),
    ...between('kubelet', configMap(a), configMap(b)),
    ...between('flag', flagMap(a), flagMap(b)),
    ...between('file', fileMap(a), fileMap(b)),
    ...between('script', scriptMap(before), scriptMap(after)),
  ];
  const replacement = others.length > 0 ? 'replace' : marks.length > 0 ? 'in-place' : 'none';
  return { differences: [...marks, ...others], replacement };
};

// Reads the fields of KubeletConfiguration v1beta1, minor by minor, from a git directory of
// k8s.io/kubelet and prints facts: names, types, the first minor with a field and the first
// without. Usage: node scripts/generate-kubelet-facts.ts GITDIR >
// src/formats/node/facts/kubelet-configuration.json
import { execFileSync } from 'node:child_process';

const oldestMinor = 21;
const newestMinor = 37;
const typesFile = 'config/v1beta1/types.go';

type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

/**
 * Kubelets before 1.25 take this type from another package, with fewer fields; that difference is
 * ignored.
 */
const logging: Shape = {
  format: 'string',
  flushFrequency: 'any',
  verbosity: 'integer',
  vmodule: 'any',
  options: 'map',
};

/** Types of other modules of Kubernetes, and what their JSON is. */
const foreign: Readonly<Record<string, Shape>> = {
  'metav1.Duration': 'duration',
  'v1.Taint': 'taint',
  'v1.ResourceList': 'map',
  'tracingapi.TracingConfiguration': { endpoint: 'string', samplingRatePerMillion: 'integer' },
  'logsapi.LoggingConfiguration': logging,
  'componentbaseconfigv1alpha1.LoggingConfiguration': logging,
};

const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
  uint: 'integer',
  float64: 'number',
};

const structsOf = (source: string): ReadonlyMap<string, string> =>
  new Map(
    [...source.matchAll(/^type (\w+) (struct \{[\s\S]*?\n\}|\S+)/gm)].map((match) => [
      match[1] ?? '',
      match[2] ?? '',
    ]),
  );

const shapeOf = (goType: string, types: ReadonlyMap<string, string>): Shape => {
  const type = goType.replace(/^\*/, '');
  if (type === 'map[string]string') return 'text map';
  if (type === 'map[string]bool') return 'boolean map';
  if (type.startsWith('map[')) return 'map';
  if (type.startsWith('[]')) {
    const item = shapeOf(type.slice(2), types);
    return typeof item === 'string' ? `${item}s` : [item];
  }
  const known = scalars[type] ?? foreign[type];
  if (known !== undefined) return known;
  const own = types.get(type);
  if (own === undefined) throw new Error(`${type}: a type that this script does not know`);
  return own.startsWith('struct') ? fieldsOf(own, types) : shapeOf(own, types);
};

const fieldsOf = (struct: string, types: ReadonlyMap<string, string>): Record<string, Shape> => {
  const fields: Record<string, Shape> = {};
  for (const match of struct.matchAll(/^\s*\w+\s+(\S+)\s+`json:"(\w+)[^`]*`/gm)) {
    const [, type = '', name = ''] = match;
    fields[name] = shapeOf(type, types);
  }
  return fields;
};

const pathsOf = (shape: Shape, before = ''): readonly string[] => {
  if (typeof shape === 'string') return [];
  if (Array.isArray(shape)) return shape.flatMap((item) => pathsOf(item, before));
  return Object.entries(shape).flatMap(([name, inner]) => {
    const path = before === '' ? name : `${before}.${name}`;
    return [path, ...pathsOf(inner, path)];
  });
};

type Fields = { readonly [name: string]: Shape };
const isFields = (shape: Shape): shape is Fields =>
  typeof shape !== 'string' && !Array.isArray(shape);

/** Fields that are gone keep the shape that they had. */
const union = (older: Shape, newer: Shape): Shape => {
  if (!isFields(older) || !isFields(newer)) return newer;
  const result: Record<string, Shape> = { ...older };
  for (const [name, shape] of Object.entries(newer)) {
    const before = result[name];
    result[name] = before === undefined ? shape : union(before, shape);
  }
  return result;
};

const sorted = (shape: Shape): Shape => {
  if (typeof shape === 'string') return shape;
  if (Array.isArray(shape)) return shape.map(sorted);
  return Object.fromEntries(
    Object.entries(shape)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
};

const read = (directory: string, minor: number): Shape => {
  const name = minor === newestMinor ? 'master' : `release-1.${minor}`;
  const source = execFileSync('git', ['-C', directory, 'show', `${name}:${typesFile}`], {
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  const plain = source.replaceAll(/^\s*\/\/.*$/gm, '').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const types = structsOf(plain);
  return shapeOf('KubeletConfiguration', types);
};

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: generate-kubelet-facts.ts GITDIR');
let fields: Shape = {};
const since: Record<string, number> = {};
const goneIn: Record<string, number> = {};
let before: ReadonlySet<string> = new Set();
for (let minor = oldestMinor; minor <= newestMinor; minor++) {
  const shape = read(directory, minor);
  const paths = new Set(pathsOf(shape));
  if (minor > oldestMinor) {
    for (const path of paths) if (!before.has(path)) since[path] = minor;
    for (const path of before) if (!paths.has(path)) goneIn[path] = minor;
  }
  before = paths;
  fields = union(fields, shape);
}
const typed = { apiVersion: 'string', kind: 'string', ...(sorted(fields) as object) };
process.stdout.write(
  `${JSON.stringify({ oldestMinor, newestMinor, since, goneIn, fields: typed }, null, 1)}\n`,
);

// Development-time generator: reads the Go types of k8s.io/api, apimachinery and apiextensions
// (Debian's golang-k8s-*-dev packages, unpacked) and writes their facts as compact JSON: field
// names, types, list types, merge keys, defaults, protobuf numbers. Prose is dropped. It never
// runs in production and never fetches anything.
//
// node scripts/generate-kube-facts.ts --api DIR --apimachinery DIR --apiextensions DIR \
//   --resource DIR --source 'golang-k8s-api-dev 0.32.3-1' ... (one per package, printed)
// where DIR is .../usr/share/gocode/src/k8s.io/<module>; --resource is k8s.io/api of 1.34 or
// later, the first with resource.k8s.io/v1.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

interface GoField {
  readonly goType: string;
  readonly inline: boolean;
  readonly json: string;
  readonly omitEmpty: boolean;
  readonly proto: string;
  readonly markers: readonly string[];
  readonly patchStrategy: string;
  readonly patchMergeKey: string;
}
interface GoType {
  readonly key: string;
  readonly dir: string;
  readonly imports: ReadonlyMap<string, string>;
  readonly markers: readonly string[];
  readonly alias: string | undefined;
  readonly fields: readonly GoField[];
}

/** Kinds that the world serves, by Go package. Types that they refer to are written too. */
const ROOTS: Readonly<Record<string, readonly string[]>> = {
  'core/v1': (
    'Node Pod PodTemplate Namespace ConfigMap Secret Event Service Endpoints ServiceAccount ' +
    'PersistentVolume PersistentVolumeClaim ReplicationController ResourceQuota LimitRange Binding'
  ).split(' '),
  'apps/v1': ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet', 'ControllerRevision'],
  'batch/v1': ['Job', 'CronJob'],
  'policy/v1': ['PodDisruptionBudget', 'Eviction'],
  'coordination/v1': ['Lease'],
  'discovery/v1': ['EndpointSlice'],
  'events/v1': ['Event'],
  'autoscaling/v1': ['Scale'],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'storage/v1': [
    ...['StorageClass', 'VolumeAttachment', 'CSINode', 'CSIDriver', 'CSIStorageCapacity'],
  ],
  'resource/v1': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'],
  'scheduling/v1': ['PriorityClass'],
  'rbac/v1': ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'],
  'certificates/v1': ['CertificateSigningRequest'],
  'admissionregistration/v1': [
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
    'MutatingWebhookConfiguration',
  ],
  'apiextensions/v1': ['CustomResourceDefinition'],
  'authorization/v1': [
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
    'LocalSubjectAccessReview',
  ],
  'authentication/v1': ['SelfSubjectReview', 'TokenReview', 'TokenRequest'],
  'networking/v1': ['Ingress', 'IngressClass', 'NetworkPolicy'],
  'meta/v1': [
    'ObjectMeta',
    'ListMeta',
    'DeleteOptions',
    'Status',
    'LabelSelector',
    'APIResourceList',
    'APIGroupList',
    'APIVersions',
    'Preconditions',
  ],
};

/** Types with a JSON form of their own: written as words that the reader knows. */
const SPECIAL: Readonly<Record<string, string>> = {
  'resource.Quantity': 'Quantity',
  'intstr.IntOrString': 'IntOrString',
  'meta/v1.Time': 'Time',
  'meta/v1.MicroTime': 'MicroTime',
  'meta/v1.Duration': 'Duration',
  'meta/v1.FieldsV1': 'FieldsV1',
  'runtime.RawExtension': 'RawExtension',
  'apiextensions/v1.JSON': 'AnyJson',
  'apiextensions/v1.JSONSchemaPropsOrArray': 'SchemaOrArray',
  'apiextensions/v1.JSONSchemaPropsOrBool': 'SchemaOrBool',
  'apiextensions/v1.JSONSchemaPropsOrStringArray': 'SchemaOrStringArray',
};
const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  int: 'int64',
  int32: 'int32',
  int64: 'int64',
  float64: 'float64',
  '[]byte': 'bytes',
};

const types = new Map<string, GoType>();
const constants = new Map<string, string>();
const enums = new Map<string, string[]>();
const groupNames = new Map<string, string>();

function importsOf(source: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const match of source.matchAll(/^(?:import )?\t?(\w+)? ?"(k8s\.io\/[^"]+)"$/gm)) {
    const path = match[2] ?? '';
    const dir = path
      .replace('k8s.io/api/', '')
      .replace('k8s.io/apimachinery/pkg/apis/', '')
      .replace('k8s.io/apimachinery/pkg/api/', '')
      .replace('k8s.io/apimachinery/pkg/util/', '')
      .replace('k8s.io/apimachinery/pkg/', '');
    found.set(match[1] ?? path.slice(path.lastIndexOf('/') + 1), dir);
  }
  return found;
}

function tagValue(tags: string, name: string): string {
  return new RegExp(`(?:^|\\s)${name}:"([^"]*)"`).exec(tags)?.[1] ?? '';
}

function parseField(line: string, markers: readonly string[]): GoField | undefined {
  const match = /^\t(?:(\w+)\s+)?([*[\]\w.{}]+)\s+`([^`]*)`/.exec(line);
  if (match === null) return undefined;
  const tags = match[3] ?? '';
  const [json = '', ...options] = tagValue(tags, 'json').split(',');
  return {
    goType: match[2] ?? '',
    inline: options.includes('inline') || (json === '' && match[1] === undefined),
    json,
    omitEmpty: options.includes('omitempty') || options.includes('omitzero'),
    proto: tagValue(tags, 'protobuf').split(',')[1] ?? '',
    markers,
    patchStrategy: tagValue(tags, 'patchStrategy'),
    patchMergeKey: tagValue(tags, 'patchMergeKey'),
  };
}

function parseFile(dir: string, source: string): void {
  const imports = importsOf(source);
  let markers: string[] = [];
  let fields: GoField[] | undefined;
  let open: { key: string; markers: readonly string[] } | undefined;
  for (const line of source.split('\n')) {
    const marker = /^\s*\/\/\s*\+(.*)$/.exec(line)?.[1];
    if (marker !== undefined) {
      markers.push(marker.trim());
      continue;
    }
    if (/^\s*\/\//.test(line)) continue;
    const constant = /^\s*(?:const )?(\w+)(?:\s+([\w.]+))?\s+= (?:\w+\()?("[^"]*"|\d+)\)?/.exec(
      line,
    );
    if (constant !== null && open === undefined) {
      const value = constant[3] ?? '""';
      constants.set(`${dir}.${constant[1] ?? ''}`, value);
      if (constant[2] !== undefined && value.startsWith('"')) {
        const key = `${dir}.${constant[2]}`;
        enums.set(key, [...(enums.get(key) ?? []), value.slice(1, -1)]);
      }
    }
    const struct = /^type (\w+) struct ?\{(\})?$/.exec(line);
    const alias = /^type (\w+) =? ?([*[\]\w.{}]+)(?: \{)?$/.exec(line);
    if (struct !== null) {
      open = { key: `${dir}.${struct[1] ?? ''}`, markers };
      fields = [];
      if (struct[2] === '}') {
        types.set(open.key, { ...open, dir, imports, alias: undefined, fields });
        open = undefined;
      }
    } else if (alias !== null && alias[2] !== 'interface') {
      const key = `${dir}.${alias[1] ?? ''}`;
      types.set(key, { key, dir, imports, markers, alias: alias[2], fields: [] });
    } else if (line === '}' && open !== undefined && fields !== undefined) {
      types.set(open.key, { ...open, dir, imports, alias: undefined, fields });
      open = undefined;
    } else if (open !== undefined && fields !== undefined) {
      const field = parseField(line, markers);
      if (field !== undefined) fields.push(field);
    }
    // Keep markers across one blank line: markers of a type, such as +genclient, may be separated
    // from it.
    if (line.trim() !== '') markers = [];
  }
}

function readPackage(root: string, path: string, dir: string): void {
  for (const name of readdirSync(join(root, path)).sort()) {
    if (!/^(types.*|register|duration|time|micro_time|quantity|intstr)\.go$/.test(name)) continue;
    if (name.includes('swagger')) continue;
    const source = readFileSync(join(root, path, name), 'utf8');
    const group = /^const GroupName = "([^"]*)"/m.exec(source)?.[1];
    if (group !== undefined) groupNames.set(dir, group);
    parseFile(dir, source);
  }
}

function splitType(goType: string, owner: GoType): string {
  if (SCALARS[goType] !== undefined) return SCALARS[goType];
  if (goType.startsWith('*')) return splitType(goType.slice(1), owner);
  if (goType.startsWith('[]')) return `[]${splitType(goType.slice(2), owner)}`;
  const map = /^map\[([\w.]+)\](.*)$/.exec(goType);
  if (map !== null) return `{}${splitType(map[2] ?? '', owner)}`;
  const [first = '', second] = goType.split('.');
  const key =
    second === undefined
      ? `${owner.dir}.${first}`
      : `${owner.imports.get(first) ?? first}.${second}`;
  return SPECIAL[key] ?? SPECIAL[key.slice(key.indexOf('/') + 1)] ?? key;
}

function defaultOf(field: GoField, owner: GoType): string | undefined {
  const raw = field.markers.find((marker) => marker.startsWith('default='))?.slice(8);
  const reference = raw === undefined ? null : /^ref\((?:.*\.)?(\w+)\)$/.exec(raw);
  if (reference === null) return raw;
  const value = constants.get(`${owner.dir}.${reference[1] ?? ''}`);
  if (value === undefined) throw new Error(`${owner.key}.${field.json}: no constant ${raw}`);
  return value;
}

function isRequired(field: GoField): boolean {
  if (field.markers.includes('optional')) return false;
  if (field.markers.includes('required')) return true;
  return !field.omitEmpty;
}

/** `type p<proto> *=pointer o=omitempty !=required ~strategy ^mergeKey l:type k:key m: s: d:`. */
function fieldText(field: GoField, owner: GoType, protoPrefix: string): string {
  const parts = [splitType(field.goType, owner)];
  if (field.proto !== '') parts.push(`p${protoPrefix}${field.proto}`);
  if (field.goType.startsWith('*')) parts.push('*');
  if (field.omitEmpty) parts.push('o');
  if (isRequired(field)) parts.push('!');
  if (field.patchStrategy !== '') parts.push(`~${field.patchStrategy}`);
  if (field.patchMergeKey !== '') parts.push(`^${field.patchMergeKey}`);
  for (const marker of field.markers) {
    const [name = '', value = ''] = marker.split('=');
    if (name === 'listType') parts.push(`l:${value}`);
    if (name === 'listMapKey') parts.push(`k:${value}`);
    if (name === 'mapType') parts.push(`m:${value}`);
    if (name === 'structType') parts.push(`s:${value}`);
  }
  const value = defaultOf(field, owner);
  if (value !== undefined) parts.push(`d:${value}`);
  return parts.join(' ');
}

function emitFields(type: GoType, prefix: string, into: Record<string, string>): void {
  for (const field of type.fields) {
    if (field.json === '-') continue;
    if (!field.inline) {
      into[field.json] = fieldText(field, type, prefix);
      continue;
    }
    const key = splitType(field.goType, type);
    if (key === 'meta/v1.TypeMeta') {
      into.kind = 'string o';
      into.apiVersion = 'string o';
      continue;
    }
    const embedded = types.get(key);
    if (embedded === undefined) throw new Error(`${type.key}: unknown embedded type ${key}`);
    const proto = field.proto === '' ? prefix : `${prefix}${field.proto}.`;
    emitFields(embedded, proto, into);
  }
}

function aliasText(type: GoType): string {
  let text = splitType(type.alias ?? '', type);
  if (type.markers.includes('enum')) {
    text += ` ${[...(enums.get(type.key) ?? [])].sort().join(',')}`;
  }
  return text;
}

type Emitted = Record<string, string | Record<string, string>>;

function emitType(key: string, out: Emitted): void {
  if (out[key] !== undefined) return;
  const type = types.get(key);
  if (type === undefined) throw new Error(`unknown type ${key}`);
  const texts: string[] = [];
  if (type.alias !== undefined) {
    const text = aliasText(type);
    out[key] = text;
    texts.push(text);
  } else {
    const fields: Record<string, string> = {};
    const structType = type.markers.find((marker) => marker.startsWith('structType='));
    if (structType !== undefined) fields['#'] = structType.slice('structType='.length);
    emitFields(type, '', fields);
    out[key] = fields;
    texts.push(...Object.values(fields));
  }
  for (const text of texts) {
    const name = (text.split(' ')[0] ?? '').replace(/^(\[\]|\{\})+/, '');
    if (name.includes('.')) emitType(name, out);
  }
}

function emitKinds(): Record<string, string> {
  const kinds: Record<string, string> = {};
  for (const [dir, names] of Object.entries(ROOTS)) {
    const version = dir.slice(dir.indexOf('/') + 1);
    for (const name of names) {
      const type = types.get(`${dir}.${name}`);
      if (type === undefined) throw new Error(`unknown root ${dir}.${name}`);
      const group = groupNames.get(dir) ?? '';
      const scope = type.markers.includes('genclient:nonNamespaced') ? ' cluster' : '';
      kinds[`${dir === 'meta/v1' ? 'meta.k8s.io' : group}/${version}/${name}`] =
        `${dir}.${name}${scope}`;
    }
  }
  return kinds;
}

function main(): void {
  const { values } = parseArgs({
    options: {
      api: { type: 'string' },
      apimachinery: { type: 'string' },
      apiextensions: { type: 'string' },
      resource: { type: 'string' },
      source: { type: 'string', multiple: true },
      out: { type: 'string', default: 'world/kube/schema/facts/kube.json' },
    },
  });
  const { api, apimachinery, apiextensions, resource } = values;
  if (api === undefined || apimachinery === undefined || apiextensions === undefined) {
    throw new Error('need --api, --apimachinery and --apiextensions');
  }
  if (resource === undefined) throw new Error('need --resource');
  for (const key of ['types.UID', 'types.NodeName']) {
    const dir = 'types';
    types.set(key, { key, dir, imports: new Map(), markers: [], alias: 'string', fields: [] });
  }
  readPackage(apimachinery, 'pkg/apis/meta/v1', 'meta/v1');
  readPackage(apiextensions, 'pkg/apis/apiextensions/v1', 'apiextensions/v1');
  for (const dir of Object.keys(ROOTS)) {
    if (dir === 'meta/v1' || dir === 'apiextensions/v1') continue;
    readPackage(dir.startsWith('resource/') ? resource : api, dir, dir);
  }
  const emitted: Emitted = {};
  for (const [dir, names] of Object.entries(ROOTS)) {
    for (const name of names) emitType(`${dir}.${name}`, emitted);
  }
  const facts = {
    '//':
      'Generated by scripts/generate-kube-facts.ts; do not edit. Facts of the Kubernetes API ' +
      '(Copyright The Kubernetes Authors, Apache-2.0), prose dropped.',
    sources: values.source ?? [],
    kinds: emitKinds(),
    types: Object.fromEntries(Object.entries(emitted).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  writeFileSync(values.out, `${JSON.stringify(facts, undefined, 1)}\n`);
}

main();

// NodeConfig parts: the fields that nodeadm decodes, and how several merge into the effective one,
// each value with the part that set it. Never throws; reports a part that does not decode.
import { begin, type ParseFault, type Position } from '../position.ts';
import {
  find,
  kindOf,
  type Located,
  type LocatedMap,
  type LocatedMember,
  memberOf,
  textOf,
} from './located.ts';
import {
  type FieldGroup,
  type FieldKind,
  nodeConfigApiVersion,
  specFields,
} from './node-config-fields.ts';
import { parseToml } from './toml.ts';
import { parseYaml } from './yaml.ts';

export interface NodeConfigPart {
  /** Undefined when the part is unreadable. */
  readonly value: Located | undefined;
  /** Why nodeadm does not decode the part, and therefore no other; empty when it does. */
  readonly faults: readonly (ParseFault & { readonly field?: string })[];
  /** Fields that nodeadm drops silently. */
  readonly unknown: readonly {
    readonly at: Position;
    readonly path: string;
    readonly group: FieldGroup;
  }[];
  readonly ambiguous: readonly ParseFault[];
}

type Fault = NodeConfigPart['faults'][number];

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Go's decoder of []byte: standard alphabet and padding, line ends ignored. */
export const isBase64 = (text: string): boolean => base64.test(text.replaceAll(/[\r\n]/g, ''));

const wrongKind = (value: Located, kind: FieldKind): string | undefined => {
  const takes = (what: string): string => `takes ${what}, not ${kindOf(value)}`;
  if (value.kind === 'scalar' && value.value === null) return undefined;
  switch (kind) {
    case 'text':
    case 'toml':
      return textOf(value) === undefined ? takes('a text') : undefined;
    case 'bytes':
      if (textOf(value) === undefined) return takes('base64');
      return isBase64(textOf(value) ?? '') ? undefined : 'is no base64 that decodes';
    case 'truth':
      return value.kind === 'scalar' && typeof value.value === 'boolean'
        ? undefined
        : takes('true or false');
    case 'list':
    case 'append':
      if (value.kind !== 'list') return takes('a list');
      return value.items.every((item) => textOf(item) !== undefined)
        ? undefined
        : 'takes a list of texts';
    case 'document':
      return value.kind === 'map' ? undefined : takes('an object');
    case 'keyed-truths':
    case 'keyed-texts':
      return wrongMembers(value, kind);
  }
};

const wrongMembers = (value: Located, kind: FieldKind): string | undefined => {
  if (value.kind !== 'map') return `takes an object, not ${kindOf(value)}`;
  for (const [key, member] of value.members) {
    if (kind === 'keyed-truths') {
      const fault = wrongKind(member.value, 'truth');
      if (fault !== undefined) return `.${key} ${fault}`;
      continue;
    }
    if (member.value.kind !== 'map') return `.${key} takes an object, not ${kindOf(member.value)}`;
    for (const [name, one] of member.value.members) {
      if (textOf(one.value) === undefined) {
        return `.${key}.${name} takes a text, not ${kindOf(one.value)}`;
      }
    }
  }
  return undefined;
};

interface Checked {
  readonly faults: Fault[];
  readonly unknown: { at: Position; path: string; group: FieldGroup }[];
}

const check = (value: Located, group: FieldGroup, path: string, into: Checked): void => {
  if (value.kind !== 'map') {
    if (value.kind === 'scalar' && value.value === null) return;
    into.faults.push({ at: value.at, message: `${path} takes an object, not ${kindOf(value)}` });
    return;
  }
  for (const [key, { keyAt, value: one }] of value.members) {
    const field = Object.hasOwn(group, key) ? group[key] : undefined;
    const name = `${path}.${key}`;
    if (field === undefined) into.unknown.push({ at: keyAt, path: name, group });
    else if (typeof field !== 'string') check(one, field, name, into);
    else {
      const wrong = wrongKind(one, field);
      if (wrong !== undefined) {
        into.faults.push({ at: one.at, message: `${name} ${wrong}`, field: name });
      }
    }
  }
};

const topFields: FieldGroup = { apiVersion: 'text', kind: 'text', metadata: 'document', spec: {} };

/** Parses one part, which starts at `outer` of the file. */
export const readNodeConfig = (text: string, outer: Position = begin): NodeConfigPart => {
  const { documents, faults, ambiguous } = parseYaml(text, outer);
  const into: Checked = { faults: [...faults], unknown: [] };
  // Go's YAML reader uses the first non-empty document.
  const value = documents.find((document) => document.value !== undefined)?.value;
  if (value === undefined) {
    if (faults.length === 0) into.faults.push({ at: outer, message: 'the part is empty' });
    return { value: undefined, ...into, ambiguous };
  }
  if (value.kind !== 'map') {
    into.faults.push({ at: value.at, message: `a NodeConfig is an object, not ${kindOf(value)}` });
    return { value: undefined, ...into, ambiguous };
  }
  for (const [name, wanted] of [
    ['apiVersion', nodeConfigApiVersion],
    ['kind', 'NodeConfig'],
  ] as const) {
    const found = find(value, name);
    if (textOf(found) === wanted) continue;
    const is = found === undefined ? 'is missing' : `is ${kindOf(found)}`;
    into.faults.push({
      at: found?.at ?? value.at,
      message: `${name} ${is}; nodeadm reads ${wanted}`,
    });
  }
  for (const [key, { keyAt }] of value.members) {
    if (!Object.hasOwn(topFields, key))
      into.unknown.push({ at: keyAt, path: key, group: topFields });
  }
  const spec = find(value, 'spec');
  if (spec !== undefined) check(spec, specFields, 'spec', into);
  return { value, ...into, ambiguous };
};

export const isEmpty = (value: Located): boolean => {
  if (value.kind === 'list') return value.items.length === 0;
  if (value.kind === 'map') return value.members.size === 0;
  return value.value === null || value.value === '' || value.value === 0 || value.value === false;
};

/** Merges objects deeply by key; replaces everything else, including by null and empty lists. */
export const mergeDocuments = (older: Located | undefined, newer: Located): Located => {
  if (older?.kind !== 'map' || newer.kind !== 'map') return newer;
  const members = new Map<string, LocatedMember>(older.members);
  for (const [key, member] of newer.members) {
    const value = mergeDocuments(older.members.get(key)?.value, member.value);
    members.set(key, { keyAt: member.keyAt, value });
  }
  return { kind: 'map', members, at: older.at };
};

/** The text of containerd.config as a document; text that is not TOML stays unchanged. */
const tomlOf = (value: Located): Located => {
  const text = textOf(value);
  if (text === undefined || value.kind !== 'scalar') return value;
  const { value: tree, faults } = parseToml(text, value.contentAt ?? value.at);
  return faults.length === 0 ? tree : value;
};

const mergeField = (kind: FieldKind, older: Located | undefined, newer: Located): Located => {
  switch (kind) {
    case 'text':
    case 'bytes':
    case 'truth':
    case 'list':
      return older !== undefined && isEmpty(newer) ? older : newer;
    case 'append':
      return older?.kind === 'list' && newer.kind === 'list'
        ? { ...older, items: [...older.items, ...newer.items] }
        : newer.kind === 'list'
          ? newer
          : (older ?? newer);
    case 'keyed-truths':
    case 'keyed-texts':
    case 'document':
      return newer.kind === 'map' ? mergeDocuments(older, newer) : (older ?? newer);
    case 'toml': {
      const tree = tomlOf(newer);
      return older !== undefined && isEmpty(newer) ? older : mergeDocuments(older, tree);
    }
  }
};

const mergeGroup = (group: FieldGroup, older: Located | undefined, newer: Located): Located => {
  if (newer.kind !== 'map') return older ?? newer;
  const members = new Map<string, LocatedMember>(older?.kind === 'map' ? older.members : []);
  for (const [key, member] of newer.members) {
    const field = Object.hasOwn(group, key) ? group[key] : undefined;
    // The decoder drops fields that the schema does not have.
    if (field === undefined) continue;
    const before = memberOf(older, key)?.value;
    const value =
      typeof field === 'string'
        ? mergeField(field, before, member.value)
        : mergeGroup(field, before, member.value);
    members.set(key, { keyAt: member.keyAt, value });
  }
  return { kind: 'map', members, at: older?.at ?? newer.at };
};

const nothing: LocatedMap = { kind: 'map', members: new Map(), at: begin };

/**
 * The effective `spec` of NodeConfigs in their order. Leaves are the parts' own objects, not
 * copies.
 */
export const mergeSpecs = (specs: readonly Located[]): Located =>
  specs.reduce<Located>((merged, spec) => mergeGroup(specFields, merged, spec), nothing);

export const specOf = ({ value }: NodeConfigPart): Located => find(value, 'spec') ?? nothing;

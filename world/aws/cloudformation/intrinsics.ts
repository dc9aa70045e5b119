// CloudFormation's functions in a template's values: the names that they refer to, and their
// results. Pure: reads everything outside the template through `Lookup`.
import { ipv4Block, ipv4Text } from '../../../src/api/addresses.ts';
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { encodeBase64 } from '../ec2/user-data.ts';
import { validationError } from '../scope.ts';

export interface Lookup {
  /** Value of `Ref`: parameter, pseudo parameter or resource; undefined for AWS::NoValue. */
  ref(name: string): Json | undefined;
  attribute(logicalId: string, name: string): Json;
  importValue(name: string): string;
  mapping(map: string, top: string, second: string): Json;
  condition(name: string): boolean;
  zones(region: string): readonly string[];
}

const templateError = (text: string) => validationError(`Template error: ${text}`);

/** The single key of an object that is a function call. */
const functionOf = (value: JsonObject): string | undefined => {
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0) return undefined;
  return key === 'Ref' || key === 'Condition' || key.startsWith('Fn::') ? key : undefined;
};

/** `value` with every function replaced by its result; undefined if the result is nothing. */
export const evaluate = (value: Json | undefined, lookup: Lookup): Json | undefined => {
  if (Array.isArray(value)) {
    return value.flatMap((one) => {
      const item = evaluate(one, lookup);
      return item === undefined ? [] : [item];
    });
  }
  if (!isObject(value)) return value as Json | undefined;
  const name = functionOf(value);
  if (name !== undefined) {
    const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (known !== undefined) return known(value[name] ?? null, lookup);
    if (name.startsWith('Fn::')) {
      throw validationError(`Template format error: unsupported function ${name}`);
    }
  }
  const entries = Object.entries(value).flatMap(([key, one]) => {
    const item = evaluate(one, lookup);
    return item === undefined ? [] : [[key, item] as const];
  });
  return Object.fromEntries(entries);
};

export const evaluateText = (value: Json | undefined, lookup: Lookup): string => {
  const result = evaluate(value, lookup);
  if (typeof result === 'string') return result;
  if (typeof result === 'number' || typeof result === 'boolean') return String(result);
  throw templateError('every value of this place must be a string');
};

const listOf = (value: Json, lookup: Lookup, name: string): readonly Json[] => {
  const result = evaluate(value, lookup);
  if (Array.isArray(result)) return result as readonly Json[];
  throw templateError(`${name} requires a list`);
};

const textsOf = (value: Json, lookup: Lookup, name: string): readonly string[] =>
  listOf(value, lookup, name).map((one) => {
    if (typeof one === 'object') throw templateError(`every ${name} object must have strings`);
    return String(one);
  });

const argumentsOf = (value: Json, name: string, count: number): readonly Json[] => {
  if (Array.isArray(value) && value.length === count) return value as readonly Json[];
  throw templateError(`${name} object requires a list of ${count} values`);
};

type Fn = (value: Json, lookup: Lookup) => Json | undefined;

const functions: Readonly<Record<string, Fn>> = {
  Ref: (value, lookup) => lookup.ref(String(value)),
  'Fn::GetAtt': (value, lookup) => {
    const [logicalId, attribute] = attributePath(value, lookup);
    return lookup.attribute(logicalId, attribute);
  },
  'Fn::ImportValue': (value, lookup) => lookup.importValue(evaluateText(value, lookup)),
  'Fn::Join': (value, lookup) => {
    const [separator = '', items = []] = argumentsOf(value, 'Fn::Join', 2);
    return textsOf(items, lookup, 'Fn::Join').join(evaluateText(separator, lookup));
  },
  'Fn::Split': (value, lookup) => {
    const [separator = '', text = ''] = argumentsOf(value, 'Fn::Split', 2);
    return evaluateText(text, lookup).split(evaluateText(separator, lookup));
  },
  'Fn::Select': (value, lookup) => {
    const [index = 0, items = []] = argumentsOf(value, 'Fn::Select', 2);
    const wanted = Number(evaluateText(index, lookup));
    const found = listOf(items, lookup, 'Fn::Select')[wanted];
    if (found !== undefined) return found;
    throw templateError(`Fn::Select cannot select nonexistent value at index ${wanted}`);
  },
  'Fn::Sub': (value, lookup) => substitute(value, lookup),
  'Fn::Base64': (value, lookup) => encodeBase64(evaluateText(value, lookup)),
  'Fn::GetAZs': (value, lookup) => [...lookup.zones(evaluateText(value, lookup))],
  'Fn::FindInMap': (value, lookup) => {
    const [map = '', top = '', second = ''] = argumentsOf(value, 'Fn::FindInMap', 3).map((one) =>
      evaluateText(one, lookup),
    );
    return lookup.mapping(map, top, second);
  },
  'Fn::If': (value, lookup) => {
    const [name = '', yes = null, no = null] = argumentsOf(value, 'Fn::If', 3);
    return evaluate(lookup.condition(String(name)) ? yes : no, lookup);
  },
  Condition: (value, lookup) => lookup.condition(String(value)),
  'Fn::Equals': (value, lookup) => {
    const [a = null, b = null] = argumentsOf(value, 'Fn::Equals', 2);
    return (
      JSON.stringify(scalarText(evaluate(a, lookup))) ===
      JSON.stringify(scalarText(evaluate(b, lookup)))
    );
  },
  'Fn::And': (value, lookup) => listOf(value, lookup, 'Fn::And').every((one) => one === true),
  'Fn::Or': (value, lookup) => listOf(value, lookup, 'Fn::Or').includes(true),
  'Fn::Not': (value, lookup) => listOf(value, lookup, 'Fn::Not')[0] !== true,
  'Fn::Cidr': (value, lookup) => cidrBlocks(listOf(value, lookup, 'Fn::Cidr')),
};

const scalarText = (value: Json | undefined): Json | undefined =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;

const attributePath = (value: Json, lookup: Lookup): readonly [string, string] => {
  if (typeof value === 'string') {
    const dot = value.indexOf('.');
    return [value.slice(0, dot), value.slice(dot + 1)];
  }
  const [logicalId = '', attribute = ''] = argumentsOf(value, 'Fn::GetAtt', 2);
  return [String(logicalId), evaluateText(attribute, lookup)];
};

const placeholder = /\$\{(!?)([^}]*)\}/g;

const subParts = (value: Json): { readonly text: string; readonly own: JsonObject } => {
  if (typeof value === 'string') return { text: value, own: {} };
  const [text = '', own = {}] = argumentsOf(value, 'Fn::Sub', 2);
  return { text: String(text), own: isObject(own) ? own : {} };
};

const substitute = (value: Json, lookup: Lookup): string => {
  const { text, own } = subParts(value);
  return text.replace(placeholder, (_, literal: string, raw: string) => {
    const name = raw.trim();
    if (literal === '!') return `\${${raw}}`;
    if (Object.hasOwn(own, name)) return evaluateText(own[name], lookup);
    const dot = name.indexOf('.');
    const found =
      dot < 0 ? lookup.ref(name) : lookup.attribute(name.slice(0, dot), name.slice(dot + 1));
    return evaluateText(found, lookup);
  });
};

/** `count` blocks of 2^bits addresses each from the start of an IPv4 block. */
const cidrBlocks = ([block, count, bits]: readonly Json[]): Json => {
  const { first: start, size: room } = ipv4Block(String(block));
  const size = 2 ** Number(bits ?? 8);
  if (size * Number(count) > room) {
    throw templateError(`Fn::Cidr: ${block} has no room for ${count} blocks of ${size} addresses`);
  }
  return Array.from({ length: Number(count) }, (_, index) => {
    const first = start + index * size;
    return `${ipv4Text(first)}/${32 - Number(bits ?? 8)}`;
  });
};

export interface Names {
  /** Named by Ref, Fn::Sub or Fn::GetAtt: parameters and resources, not pseudo parameters. */
  readonly refs: ReadonlySet<string>;
  readonly conditions: ReadonlySet<string>;
}

/** The names that a value refers to, in all its branches. */
export const namesIn = (value: Json | undefined): Names => {
  const refs = new Set<string>();
  const conditions = new Set<string>();
  const add = (name: string): void => {
    if (!name.startsWith('AWS::')) refs.add(name);
  };
  const walk = (one: Json | undefined): void => {
    if (Array.isArray(one)) {
      for (const item of one) walk(item as Json);
      return;
    }
    if (!isObject(one)) return;
    const name = functionOf(one);
    const given = name === undefined ? undefined : (one[name] ?? null);
    if (name === 'Ref') add(String(given));
    else if (name === 'Fn::GetAtt')
      add(String(Array.isArray(given) ? given[0] : given).split('.')[0] ?? '');
    else if (name === 'Condition') conditions.add(String(given));
    else if (name === 'Fn::Sub' && given !== undefined) {
      const { text, own } = subParts(given);
      for (const [, literal, raw = ''] of text.matchAll(placeholder)) {
        const [first = ''] = raw.trim().split('.');
        if (literal !== '!' && !Object.hasOwn(own, raw.trim())) add(first);
      }
      walk(own);
    } else {
      if (name === 'Fn::If' && Array.isArray(given)) conditions.add(String(given[0]));
      for (const item of Object.values(one)) walk(item);
    }
  };
  walk(value);
  return { refs, conditions };
};

/** The arguments of every Fn::ImportValue in a value. */
export const importsIn = (value: Json | undefined): readonly Json[] => {
  if (Array.isArray(value)) return value.flatMap((one) => importsIn(one as Json));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === 'Fn::ImportValue' && one !== undefined ? [one] : importsIn(one),
  );
};

// Parses a CloudFormation template, JSON or YAML, to JSON; expands YAML's short forms (`!Ref x`,
// `!GetAtt a.b`) to their functions. Never interprets the template.
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { isObject, type Json, type JsonObject } from '../api/json.ts';
import { isTooDeep, parseJson, tooDeepMessage } from '../api/parse-json.ts';
import { placedMessage, refuseRepeatedKeys } from './yaml-keys.ts';

/** Throws an Error whose message names the place of the fault. */
export const parseTemplateText = (text: string): JsonObject => {
  const parsed = text.trimStart().startsWith('{') ? readTemplateJson(text) : parseYaml(text);
  if (isObject(parsed)) return parsed;
  throw new Error('unsupported structure');
};

const readTemplateJson = (text: string): Json => {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`JSON not well-formed. (${error instanceof Error ? error.message : ''})`);
  }
};

const parseYaml = (text: string): Json => {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'silent',
    version: '1.1',
    uniqueKeys: false,
  });
  refuseRepeatedKeys(document);
  const [first] = document.errors;
  if (first !== undefined) {
    throw new Error(`YAML not well-formed. ${placedMessage(first, lineCounter)}`);
  }
  const value = toJson(document.contents);
  if (isTooDeep(value)) throw new Error(`YAML not well-formed. It is ${tooDeepMessage}.`);
  return value;
};

/** Short forms without the `Fn::` prefix. */
const plainNames = new Set(['Ref', 'Condition']);

const toJson = (node: unknown): Json => {
  const value = plainJson(node);
  const tag = (node as Node | null)?.tag;
  if (tag === undefined || !tag.startsWith('!') || tag.startsWith('!!')) return value;
  const name = tag.slice(1);
  if (plainNames.has(name)) return { [name]: value };
  if (name === 'GetAtt' && typeof value === 'string') return { 'Fn::GetAtt': attribute(value) };
  return { [`Fn::${name}`]: value };
};

const attribute = (text: string): Json => {
  const dot = text.indexOf('.');
  return dot < 0 ? [text] : [text.slice(0, dot), text.slice(dot + 1)];
};

const plainJson = (node: unknown): Json => {
  if (isMap(node)) {
    return Object.fromEntries(
      node.items.map((pair) => [keyOf(pair.key), toJson(pair.value)] as const),
    );
  }
  if (isSeq(node)) return node.items.map(toJson);
  if (!isScalar(node)) return null;
  const { value } = node;
  // Template dates such as 2010-09-09 are text, not times.
  if (value instanceof Date) return node.source ?? value.toISOString().slice(0, 10);
  if (typeof value === 'bigint') return Number(value);
  return value === undefined ? null : (value as Json);
};

const keyOf = (key: unknown): string => String(isScalar(key) ? (key.source ?? key.value) : key);

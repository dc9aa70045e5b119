// Parses JSON bodies (json 1.0, json 1.1, and the body of rest-json) to a plain input object.
// Ignores unknown members, as AWS's JSON services do.
import { parseJson } from '../api/parse-json.ts';
import type { AwsError } from './aws-error.ts';
import {
  elementOf,
  entryOf,
  own,
  type ServiceModel,
  type Shape,
  type ShapeRef,
  shapeOf,
} from './model.ts';
import { kindOf, scalarFromJson } from './scalar.ts';

export interface JsonContext {
  readonly model: ServiceModel;
  readonly malformed: (message: string) => AwsError;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** The body as an object; an empty body counts as `{}`. */
export function readJson(context: JsonContext, body: Uint8Array): JsonObject {
  const text = readText(context, body).trim();
  if (text === '') return {};
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw context.malformed('The request body is not valid JSON of at most 400 levels.');
  }
  if (!isObject(json)) throw context.malformed(`Unexpected ${kindOf(json)}: expected START_OBJECT`);
  return json;
}

export function readText(context: Pick<JsonContext, 'malformed'>, body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw context.malformed('The request body is not valid UTF-8.');
  }
}

function isObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Members of `shape` in `json`; parse-rest.ts reads members with a location. */
export function parseJsonStructure(
  context: JsonContext,
  shape: Shape,
  json: JsonObject,
  path: string,
): Readonly<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const [name, ref] of Object.entries(shape.members ?? {})) {
    if (ref.location !== undefined) continue;
    const field = ref.locationName ?? name;
    const value = own(json, field);
    if (value === undefined || value === null) continue;
    input[name] = parseValue(context, ref, value, path === '' ? field : `${path}.${field}`);
  }
  return input;
}

function parseValue(context: JsonContext, ref: ShapeRef, json: unknown, path: string): unknown {
  const shape = shapeOf(context.model, ref.shape);
  const expected = (what: string): AwsError =>
    context.malformed(`Unexpected ${kindOf(json)} at '${path}': expected ${what}`);
  switch (shape.type) {
    case 'structure':
      if (!isObject(json)) throw expected('START_OBJECT');
      return parseJsonStructure(context, shape, json, path);
    case 'list': {
      if (!Array.isArray(json)) throw expected('START_ARRAY');
      const element = elementOf(shape);
      return json.map((item, index) => parseValue(context, element, item, `${path}.${index + 1}`));
    }
    case 'map': {
      if (!isObject(json)) throw expected('START_OBJECT');
      const { value } = entryOf(shape);
      const entries = Object.entries(json).filter(([, item]) => item !== null);
      return Object.fromEntries(
        entries.map(([key, item]) => [key, parseValue(context, value, item, `${path}.${key}`)]),
      );
    }
    default: {
      const parsed = scalarFromJson(shape.type, json);
      if (!parsed.ok) throw context.malformed(`Invalid value at '${path}': ${parsed.reason}`);
      return parsed.value;
    }
  }
}

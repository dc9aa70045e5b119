// rest-json: finds the operation of a method and path, and the members in path, query string and
// headers. The path is split while URL-encoded, so an encoded ARN is one label.
import type { HttpRequest } from '../api/http.ts';
import { elementOf, type ServiceModel, type Shape, type ShapeRef, shapeOf } from './model.ts';
import { type JsonContext, parseJsonStructure, readJson } from './parse-json.ts';
import { scalarFromText } from './scalar.ts';

interface Route {
  readonly operation: string;
  readonly method: string;
  readonly segments: readonly string[];
}

export interface RestMatch {
  readonly operation: string;
  /** Label name to its encoded text. */
  readonly labels: ReadonlyMap<string, string>;
}

const routesOf = new WeakMap<ServiceModel, readonly Route[]>();

function routes(model: ServiceModel): readonly Route[] {
  const known = routesOf.get(model);
  if (known !== undefined) return known;
  const made = Object.entries(model.operations).map(([operation, { http }]): Route => {
    if (http === undefined) throw new Error(`${operation} has no http trait`);
    const [path = ''] = http.requestUri.split('?');
    return { operation, method: http.method, segments: segmentsOf(path) };
  });
  routesOf.set(model, made);
  return made;
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** At most one operation matches: models.test.ts checks every path against all others. */
export function matchRest(
  model: ServiceModel,
  method: string,
  path: string,
): RestMatch | undefined {
  const segments = segmentsOf(path);
  for (const route of routes(model)) {
    if (route.method !== method || route.segments.length !== segments.length) continue;
    const labels = new Map<string, string>();
    const matches = route.segments.every((expected, index) => {
      const actual = segments[index] ?? '';
      if (!expected.startsWith('{')) return expected === actual;
      labels.set(expected.slice(1, -1), actual);
      return true;
    });
    if (matches) return { operation: route.operation, labels };
  }
  return undefined;
}

export function parseRest(
  context: JsonContext,
  inputShape: string | undefined,
  match: RestMatch,
  request: HttpRequest,
): Readonly<Record<string, unknown>> {
  if (inputShape === undefined) return {};
  const shape = shapeOf(context.model, inputShape);
  const hasBody = Object.values(shape.members ?? {}).some((ref) => ref.location === undefined);
  const body = hasBody ? readJson(context, request.body) : {};
  return {
    ...parseJsonStructure(context, shape, body, ''),
    ...parseLocated(context, shape, match, request),
  };
}

function parseLocated(
  context: JsonContext,
  shape: Shape,
  match: RestMatch,
  request: HttpRequest,
): Readonly<Record<string, unknown>> {
  const query = new URLSearchParams(request.query);
  const input: Record<string, unknown> = {};
  for (const [name, ref] of Object.entries(shape.members ?? {})) {
    const field = ref.locationName ?? name;
    if (ref.location === 'uri') {
      const label = match.labels.get(field);
      if (label !== undefined) input[name] = parseText(context, ref, decode(context, label), field);
    } else if (ref.location === 'querystring') {
      const texts = query.getAll(field);
      if (texts.length > 0) input[name] = parseTexts(context, ref, texts, field);
    } else if (ref.location === 'header') {
      const text = request.headers[field.toLowerCase()];
      if (text !== undefined) input[name] = parseText(context, ref, text, field);
    }
  }
  return input;
}

/** `include=a&include=b` is a list, `maxResults=3` a scalar. */
function parseTexts(
  context: JsonContext,
  ref: ShapeRef,
  texts: readonly string[],
  field: string,
): unknown {
  const shape = shapeOf(context.model, ref.shape);
  if (shape.type === 'list') {
    const element = elementOf(shape);
    return texts.map((text) => parseText(context, element, text, field));
  }
  return parseText(context, ref, texts[0] ?? '', field);
}

function parseText(context: JsonContext, ref: ShapeRef, text: string, field: string): unknown {
  const parsed = scalarFromText(shapeOf(context.model, ref.shape).type, text);
  if (!parsed.ok) throw context.malformed(`Invalid value at '${field}': ${parsed.reason}`);
  return parsed.value;
}

function decode(context: JsonContext, label: string): string {
  try {
    return decodeURIComponent(label);
  } catch {
    throw context.malformed(`The path segment '${label}' is not validly URL-encoded.`);
  }
}

// Parses an API request's path into group, version, resource, name and subresource, as apiserver's
// RequestInfo does. Knows no kinds.

export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Cache size: the same few thousand paths are requested repeatedly. */
const mostKnown = 4096;
const known = new Map<string, ResourcePath | undefined>();

/** Undefined for paths without a resource (discovery, health, OpenAPI). */
export function parseResourcePath(path: string): ResourcePath | undefined {
  if (known.has(path)) return known.get(path);
  const parsed = parse(path);
  if (known.size >= mostKnown) known.clear();
  known.set(path, parsed);
  return parsed;
}

function parse(path: string): ResourcePath | undefined {
  const parts = path.split('/').filter((part, index) => index > 0 || part !== '');
  if (parts.at(-1) === '') parts.pop();
  const legacy = parts[0] === 'api';
  if (!legacy && parts[0] !== 'apis') return undefined;
  const group = legacy ? '' : (parts[1] ?? '');
  const version = legacy ? parts[1] : parts[2];
  const rest = parts.slice(legacy ? 2 : 3);
  const [first, second, third, ...more] = rest;
  if (version === undefined || first === undefined || first === '') return undefined;
  const base = { group, version };
  if (first === 'namespaces' && second !== undefined && third !== undefined) {
    // Subresources of a namespace look like resources in it.
    if (legacy && (third === 'status' || third === 'finalize') && more.length === 0) {
      return { ...base, resource: first, namespace: undefined, name: second, subresource: third };
    }
    const [name, ...sub] = more;
    return { ...base, resource: third, namespace: second, name, subresource: joined(sub) };
  }
  const sub = third === undefined ? [] : [third, ...more];
  return { ...base, resource: first, namespace: undefined, name: second, subresource: joined(sub) };
}

const joined = (parts: readonly string[]): string | undefined =>
  parts.length === 0 ? undefined : parts.join('/');

// The part of Kubernetes' JSONPath that printer columns, scale paths and selectable fields use:
// fields, ['quoted'] fields, [n], [*] and [?(@.a=="b")] filters. Unknown syntax finds nothing.
import { isObject, type Json } from '../../../src/api/json.ts';

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | {
      readonly kind: 'filter';
      readonly path: readonly Step[];
      readonly operator: string;
      readonly value: string;
    };

const field = /\.((?:\\.|[^.[\]\\])+)/.source;
const quoted = /\['((?:\\'|[^'])*)'\]|\["((?:\\"|[^"])*)"\]/.source;
const element = /\[(-?\d+)\]|\[(\*)\]/.source;
const literal = /(?:"([^"]*)"|'([^']*)'|([^)\s]+))/.source;
const filter = `\\[\\?\\(\\s*@((?:\\.[^=!<>\\s)]+)+)\\s*(==|!=)\\s*${literal}\\s*\\)\\]`;
const token = new RegExp([field, quoted, element, filter].join('|'), 'y');

const cache = new Map<string, readonly Step[] | undefined>();

function parse(path: string): readonly Step[] | undefined {
  const bare = path.startsWith('{') && path.endsWith('}') ? path.slice(1, -1) : path;
  const text = bare.startsWith('$') ? bare.slice(1) : bare;
  const steps: Step[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    if (match === null) return undefined;
    const [, plain, single, double, index, all, inner, operator = '==', a, b, c] = match;
    const name = plain ?? single ?? double;
    if (name !== undefined) steps.push({ kind: 'field', name: name.replace(/\\(.)/g, '$1') });
    else if (index !== undefined) steps.push({ kind: 'index', index: Number(index) });
    else if (all !== undefined) steps.push({ kind: 'all' });
    else if (inner !== undefined) {
      const at = token.lastIndex;
      const innerSteps = parse(inner);
      token.lastIndex = at;
      if (innerSteps === undefined) return undefined;
      steps.push({ kind: 'filter', path: innerSteps, operator, value: a ?? b ?? c ?? '' });
    }
  }
  return steps;
}

function stepInto(value: Json, step: Step): readonly Json[] {
  const items: readonly Json[] = Array.isArray(value) ? value : [];
  switch (step.kind) {
    case 'field': {
      const known = isObject(value) && Object.hasOwn(value, step.name);
      const found = known ? value[step.name] : undefined;
      return found === undefined || found === null ? [] : [found];
    }
    case 'index': {
      const found = items.at(step.index);
      return found === undefined ? [] : [found];
    }
    case 'all':
      if (!isObject(value)) return items;
      return Object.values(value).filter((item) => item !== undefined);
    case 'filter':
      return items.filter((item) => {
        const found = step.path.reduce(follow, [item] as readonly Json[])[0];
        return (String(found) === step.value) === (step.operator === '==');
      });
  }
}

function follow(values: readonly Json[], step: Step): readonly Json[] {
  return values.flatMap((value) => stepInto(value, step));
}

/** Every value that `path` selects in `value`, in order. */
export function findPath(value: Json, path: string): readonly Json[] {
  if (!cache.has(path)) cache.set(path, parse(path));
  const steps = cache.get(path);
  return steps === undefined ? [] : steps.reduce(follow, [value] as readonly Json[]);
}

/** Plain field names of a path such as `.spec.replicas`; undefined for any other path. */
export function plainPath(path: string): readonly string[] | undefined {
  const steps = parse(path);
  const names = steps?.flatMap((step) => (step.kind === 'field' ? [step.name] : []));
  return names?.length === steps?.length ? names : undefined;
}

// The address holds the displayed state: the view is the path of the fragment, filter and
// selections are its query. A shared link shows the same state.
import { computed, signal } from '@preact/signals';

export const views = [
  'fleet',
  'group',
  'node',
  'updates',
  'update',
  'drains',
  'budgets',
  'journal',
] as const;
export type View = (typeof views)[number];

export interface Route {
  readonly view: View;
  /** Group, node or update. */
  readonly name: string;
  readonly query: URLSearchParams;
}

const paths: Readonly<Record<string, View>> = {
  '': 'fleet',
  g: 'group',
  n: 'node',
  updates: 'updates',
  u: 'update',
  drains: 'drains',
  budgets: 'budgets',
  journal: 'journal',
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const parse = (hash: string): Route => {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [first = '', ...rest] = path.split('/');
  return {
    view: paths[first] ?? 'fleet',
    name: decode(rest.join('/')),
    query: new URLSearchParams(query),
  };
};

export const route = signal<Route>(parse(location.hash));

const prefixes: Readonly<Record<View, string>> = {
  fleet: '',
  group: 'g/',
  node: 'n/',
  updates: 'updates',
  update: 'u/',
  drains: 'drains',
  budgets: 'budgets',
  journal: 'journal',
};

/** The wall and tour settings stay; all others belong to the previous view. */
export const link = (
  view: View,
  name = '',
  query: Readonly<Record<string, string>> = {},
): string => {
  const kept = new URLSearchParams(query);
  for (const key of ['wall', 'tour']) {
    const value = route.value.query.get(key);
    if (value !== null) kept.set(key, value);
  }
  const text = kept.toString();
  return `#/${prefixes[view]}${encodeURIComponent(name)}${text === '' ? '' : `?${text}`}`;
};

export const go = (hash: string): void => {
  location.hash = hash;
};

/** Sets or removes one selection of the current view, without a new history entry. */
export const choose = (key: string, value: string | undefined): void => {
  const { view, name, query } = route.peek();
  const next = new URLSearchParams(query);
  if (value === undefined || value === '') next.delete(key);
  else next.set(key, value);
  const text = next.toString();
  const hash = `#/${prefixes[view]}${encodeURIComponent(name)}${text === '' ? '' : `?${text}`}`;
  history.replaceState(null, '', hash);
  route.value = parse(hash);
};

export const filter = computed(() => route.value.query.get('q') ?? '');
export const isWall = computed(() => route.value.query.has('wall'));

export const followRoute = (): void => {
  addEventListener('hashchange', () => {
    route.value = parse(location.hash);
    scrollTo(0, 0);
  });
};

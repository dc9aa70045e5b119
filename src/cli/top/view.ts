// The screen of `drover top` as pure functions: the lines of a state, and the next state after a
// key. The keys are those of k9s. Draws nothing.
import { visible } from '../visible.ts';
import { groupHeader, nodeHeader, type TopModel, type TopRow } from './model.ts';

export interface TopState {
  readonly view: 'groups' | 'nodes' | 'detail' | 'help';
  /** The group whose nodes are shown; absent: all nodes. */
  readonly group?: string;
  /** The node whose details are shown. */
  readonly node?: string;
  /** Name of the selected row, which stays selected when rows move. */
  readonly selected?: string;
  /** Index of the first row below the header; in the details, of the first line. */
  readonly top: number;
  readonly filter: string;
  readonly isFiltering: boolean;
}

export interface TopSize {
  readonly columns: number;
  readonly rows: number;
}

export const initialState: TopState = { view: 'groups', top: 0, filter: '', isFiltering: false };

/** Lines for title, header, filter and keys; one line stays free for the cursor. */
const frameLines = 5;

const help = [
  'j, down      next row',
  'k, up        previous row',
  'g, G         first row, last row',
  'enter        nodes of the group; everything about the node',
  'n            all nodes',
  'esc          back; drops the filter first',
  '/            filter rows by a part of their text; enter keeps it, esc drops it',
  '?            this help',
  'q, ctrl-c    quit',
];

const bodyHeight = ({ rows }: TopSize): number => Math.max(1, rows - frameLines);

const rowsOf = (model: TopModel, { view, group, filter }: TopState): readonly TopRow[] => {
  const all = view === 'groups' ? model.groups : model.nodesOf(group);
  const wanted = filter.toLowerCase();
  if (wanted === '') return all;
  return all.filter(({ cells }) => cells.join(' ').toLowerCase().includes(wanted));
};

const indexOf = (rows: readonly TopRow[], { selected }: TopState): number =>
  Math.max(
    0,
    rows.findIndex(({ name }) => name === selected),
  );

const cut = (line: string, columns: number): string => {
  const safe = visible(line);
  return safe.length <= columns ? safe : `${safe.slice(0, Math.max(0, columns - 1))}…`;
};

/** Details are shown completely: long lines continue on the next line, indented. */
const wrapped = (line: string, columns: number): readonly string[] => {
  const width = Math.max(20, columns);
  const lines: string[] = [];
  let current = '';
  for (const word of visible(line).split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (longer.length <= width || current === '') current = longer;
    else {
      lines.push(current);
      current = `    ${word}`;
    }
  }
  return [...lines, current];
};

const detailLines = (model: TopModel, state: TopState, columns: number): readonly string[] =>
  model.detailOf(state.node ?? '').flatMap((line) => wrapped(line, columns));

/** Widths of all columns but the last, from the rows on the screen. */
const tableLines = (header: readonly string[], shown: readonly TopRow[]): readonly string[] => {
  const all = [header, ...shown.map(({ cells }) => cells.map(visible))];
  const widths = header.map((_, i) =>
    i === header.length - 1 ? 0 : Math.max(...all.map((cells) => (cells[i] ?? '').length)),
  );
  return all.map((cells) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};

const titleOf = ({ view, group, node }: TopState): string => {
  if (view === 'groups') return 'node groups';
  if (view === 'help') return 'keys';
  if (view === 'detail') return `node ${node ?? ''}`;
  return group === undefined ? 'all nodes' : `nodes of ${group}`;
};

const promptOf = ({ filter, isFiltering }: TopState): string => {
  if (isFiltering) return `/${filter}_`;
  return filter === '' ? '' : `filter: ${filter}`;
};

/** Index of the first row, so that the selected row is on the screen. */
const scrolled = (top: number, index: number, more: { height: number; count: number }): number => {
  const { height, count } = more;
  const highest = Math.max(0, count - height);
  const wanted = index < top ? index : index >= top + height ? index - height + 1 : top;
  return Math.min(highest, Math.max(0, wanted));
};

export const topLines = (
  model: TopModel,
  state: TopState,
  { size, fault }: { readonly size: TopSize; readonly fault: string | undefined },
): readonly string[] => {
  const { columns } = size;
  const height = bodyHeight(size);
  const trouble = fault === undefined ? '' : `  NOT CURRENT: ${fault}`;
  const title = `drover top: ${titleOf(state)}  (${model.summary})${trouble}`;
  const keys = 'j/k move  enter open  esc back  / filter  n nodes  ? help  q quit';
  const frame = (body: readonly string[]): readonly string[] =>
    [title, ...body, promptOf(state), keys].map((line) => cut(line, columns));
  if (state.view === 'help') return frame(help.slice(0, height));
  if (state.view === 'detail') {
    const lines = detailLines(model, state, columns);
    return frame(lines.slice(state.top, state.top + height));
  }
  const rows = rowsOf(model, state);
  const index = indexOf(rows, state);
  const from = scrolled(state.top, index, { height, count: rows.length });
  const shown = rows.slice(from, from + height);
  const header = state.view === 'groups' ? groupHeader : nodeHeader;
  const [head = '', ...lines] = tableLines(header, shown);
  const marked = lines.map((line, i) => `${from + i === index ? '>' : ' '} ${line}`);
  const empty = rows.length === 0 ? ['  nothing here'] : [];
  return frame([`  ${head}`, ...marked, ...empty]);
};

const filtered = (state: TopState, key: string): TopState => {
  if (key === 'enter') return { ...state, isFiltering: false };
  if (key === 'escape') return { ...state, isFiltering: false, filter: '', top: 0 };
  if (key === 'backspace') return { ...state, filter: state.filter.slice(0, -1), top: 0 };
  // A key that is not a character has a longer name.
  return [...key].length === 1 ? { ...state, filter: `${state.filter}${key}`, top: 0 } : state;
};

const back = (state: TopState): TopState => {
  const { view, group, node, filter } = state;
  if (view === 'detail') {
    const { node: _left, ...rest } = state;
    return { ...rest, view: 'nodes', top: 0, ...(node !== undefined && { selected: node }) };
  }
  if (filter !== '') return { ...state, filter: '', top: 0 };
  if (view === 'groups') return state;
  return { ...initialState, ...(group !== undefined && { selected: group }) };
};

const opened = (state: TopState, row: TopRow | undefined): TopState => {
  if (row === undefined) return state;
  if (state.view === 'groups') {
    return { view: 'nodes', group: row.name, top: 0, filter: '', isFiltering: false };
  }
  return state.view === 'nodes' ? { ...state, view: 'detail', node: row.name, top: 0 } : state;
};

const moves: Readonly<Record<string, (index: number, page: number, last: number) => number>> = {
  j: (index) => index + 1,
  down: (index) => index + 1,
  k: (index) => index - 1,
  up: (index) => index - 1,
  pagedown: (index, page) => index + page,
  pageup: (index, page) => index - page,
  g: () => 0,
  G: (_index, _page, last) => last,
};

/** The next state; undefined: quit. */
export const pressed = (
  model: TopModel,
  state: TopState,
  { key, size }: { readonly key: string; readonly size: TopSize },
): TopState | undefined => {
  if (key === 'ctrl-c') return undefined;
  if (state.isFiltering) return filtered(state, key);
  if (key === 'q') return undefined;
  if (key === '?') return { ...state, view: state.view === 'help' ? 'groups' : 'help', top: 0 };
  if (state.view === 'help') return { ...initialState };
  if (key === 'escape' || key === 'backspace') return back(state);
  if (key === 'n') return { ...initialState, view: 'nodes' };
  const height = bodyHeight(size);
  const move = moves[key];
  if (state.view === 'detail') {
    const last = Math.max(0, detailLines(model, state, size.columns).length - height);
    const top = move?.(state.top, height, last) ?? state.top;
    return { ...state, top: Math.min(last, Math.max(0, top)) };
  }
  const rows = rowsOf(model, state);
  const index = indexOf(rows, state);
  if (key === '/') return { ...state, isFiltering: true };
  if (key === 'enter') return opened(state, rows[index]);
  if (move === undefined) return state;
  const last = rows.length - 1;
  const next = Math.min(last, Math.max(0, move(index, height, last)));
  const selected = rows[next]?.name;
  const top = scrolled(state.top, next, { height, count: rows.length });
  return selected === undefined ? state : { ...state, selected, top };
};

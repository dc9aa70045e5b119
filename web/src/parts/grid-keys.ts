// Keys and pointer of the fleet: one cell is in the tab order, arrows move between cells as they lie
// on the screen, Enter opens one. One set of handlers serves all cells.
import { signal } from '@preact/signals';
import { go, link } from '../route.ts';

export interface Peeked {
  readonly name: string;
  readonly box: DOMRect;
}
/** The cell under the pointer or with the focus. */
export const peeked = signal<Peeked | undefined>(undefined);

const cellOf = (target: EventTarget | null): HTMLElement | undefined =>
  (target instanceof Element ? target.closest<HTMLElement>('[data-node]') : undefined) ?? undefined;

const peek = (cell: HTMLElement | undefined): void => {
  const name = cell?.dataset.node;
  if (cell === undefined || name === undefined) peeked.value = undefined;
  else if (peeked.peek()?.name !== name) peeked.value = { name, box: cell.getBoundingClientRect() };
};

const allCells = (root: HTMLElement): readonly HTMLElement[] => [
  ...root.querySelectorAll<HTMLElement>('[data-node]'),
];

const focusOn = (root: HTMLElement, cell: HTMLElement): void => {
  for (const old of root.querySelectorAll('[data-node][tabindex="0"]')) {
    old.setAttribute('tabindex', '-1');
  }
  cell.setAttribute('tabindex', '0');
  cell.focus();
};

/** The nearest cell above or below: other lines, smallest distance. */
const vertical = (
  cells: readonly HTMLElement[],
  from: HTMLElement,
  isDown: boolean,
): HTMLElement | undefined => {
  const box = from.getBoundingClientRect();
  let best: HTMLElement | undefined;
  let bestScore = Number.POSITIVE_INFINITY;
  for (const cell of cells) {
    const other = cell.getBoundingClientRect();
    const down = isDown ? other.top - box.bottom : box.top - other.bottom;
    if (down < -1) continue;
    const score = down * 8 + Math.abs(other.left - box.left);
    if (score < bestScore && cell !== from) {
      bestScore = score;
      best = cell;
    }
  }
  return best;
};

const moved = (root: HTMLElement, from: HTMLElement, key: string): HTMLElement | undefined => {
  const cells = allCells(root);
  const at = cells.indexOf(from);
  switch (key) {
    case 'ArrowRight':
      return cells[at + 1];
    case 'ArrowLeft':
      return cells[at - 1];
    case 'Home':
      return cells[0];
    case 'End':
      return cells.at(-1);
    case 'ArrowDown':
      return vertical(cells, from, true);
    case 'ArrowUp':
      return vertical(cells, from, false);
    default:
      return undefined;
  }
};

export const gridHandlers = {
  onPointerOver: (event: PointerEvent): void => peek(cellOf(event.target)),
  onPointerLeave: (): void => peek(undefined),
  onFocusIn: (event: FocusEvent): void => peek(cellOf(event.target)),
  onFocusOut: (): void => peek(undefined),
  onClick: (event: MouseEvent): void => {
    const name = cellOf(event.target)?.dataset.node;
    if (name === undefined) return;
    peek(undefined);
    go(link('node', name));
  },
  onKeyDown: (event: KeyboardEvent): void => {
    const cell = cellOf(event.target);
    const root = event.currentTarget;
    if (cell === undefined || !(root instanceof HTMLElement)) return;
    const next = moved(root, cell, event.key);
    if (next === undefined) return;
    event.preventDefault();
    focusOn(root, next);
  },
};

/** One cell is reachable by Tab: the first, unless another has it. */
export const ensureTabStop = (root: HTMLElement | null): void => {
  if (root === null || root.querySelector('[data-node][tabindex="0"]') !== null) return;
  root.querySelector('[data-node]')?.setAttribute('tabindex', '0');
};

export const focusCell = (name: string): void => {
  const root = document.querySelector<HTMLElement>('.fleet');
  if (root === null) return;
  const cell = allCells(root).find(({ dataset }) => dataset.node === name);
  if (cell !== undefined) focusOn(root, cell);
};

// Where the focus is after the view has changed: on the cell or link through which the reader left
// that view, else on the view's content. Never takes the focus from the header or from a dialog.
import { focusCell, peeked } from './parts/grid-keys.ts';

/** By fragment, limited to the last few pages. */
const origins = new Map<string, string>();
const maxOrigins = 50;
let hasMoved = false;

/** A selector that finds the same element when the view is drawn again. */
const selectorOf = (element: Element | null): string | undefined => {
  if (!(element instanceof HTMLElement) || element.closest('main') === null) return undefined;
  const { node } = element.dataset;
  if (node !== undefined) return `[data-node="${CSS.escape(node)}"]`;
  const href = element.getAttribute('href');
  return href === null ? undefined : `a[href="${CSS.escape(href)}"]`;
};

const remember = ({ oldURL }: HashChangeEvent): void => {
  hasMoved = true;
  peeked.value = undefined;
  const { hash } = new URL(oldURL);
  const selector = selectorOf(document.activeElement);
  if (selector === undefined) return;
  origins.delete(hash);
  origins.set(hash, selector);
  const [oldest] = origins.keys();
  if (origins.size > maxOrigins && oldest !== undefined) origins.delete(oldest);
};

/** Registered before `followRoute`: the previous view is still drawn when its address changes. */
export const followFocus = (): void => addEventListener('hashchange', remember);

/** Once the new view is drawn. */
export const settleFocus = (): void => {
  const main = document.getElementById('main');
  const { activeElement } = document;
  const isLost = activeElement === document.body || activeElement === main;
  if (!hasMoved || main === null || !isLost) return;
  hasMoved = false;
  const selector = origins.get(location.hash);
  const origin = selector === undefined ? null : main.querySelector<HTMLElement>(selector);
  if (origin?.dataset.node !== undefined) focusCell(origin.dataset.node);
  else (origin ?? main).focus({ preventScroll: origin === null });
};

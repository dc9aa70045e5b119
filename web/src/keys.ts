// Keyboard shortcuts of the page. A key does nothing while the user types in a field, or with a
// modifier. Letter keys can be switched off for users of speech input.
import { signal } from '@preact/signals';
import { waitingNodes } from './derived.ts';
import { focusCell } from './parts/grid-keys.ts';
import { go, link, route } from './route.ts';

export const helpIsOpen = signal(false);

const storageKey = 'drover-signs';

const storedChoice = (): boolean => {
  try {
    return localStorage.getItem(storageKey) !== 'off';
  } catch {
    // The browser forbids storage: the default applies.
    return true;
  }
};

/** Whether letters and signs act as shortcuts; stored in this browser only. */
export const signsAct = signal(storedChoice());

export const chooseSigns = (act: boolean): void => {
  signsAct.value = act;
  try {
    localStorage.setItem(storageKey, act ? 'on' : 'off');
  } catch {
    // The browser forbids storage: the choice lasts until a reload.
  }
};

let lastWaiting = -1;

const toWaiting = (step: 1 | -1): void => {
  const names = waitingNodes.peek();
  if (names.length === 0) return;
  lastWaiting = (lastWaiting + step + names.length) % names.length;
  const name = names[lastWaiting];
  if (name === undefined) return;
  if (route.peek().view === 'fleet') focusCell(name);
  else go(link('node', name));
};

const back = (): void => {
  const { view } = route.peek();
  if (view === 'fleet') (document.activeElement as HTMLElement | null)?.blur();
  else history.length > 1 ? history.back() : go(link('fleet'));
};

const keys: Readonly<Record<string, () => void>> = {
  '/': () => dispatchEvent(new Event('page-filter')),
  f: () => go(link('fleet')),
  u: () => go(link('updates')),
  d: () => go(link('drains')),
  b: () => go(link('budgets')),
  j: () => go(link('journal')),
  ']': () => toWaiting(1),
  '[': () => toWaiting(-1),
  '?': () => {
    helpIsOpen.value = true;
  },
  Escape: back,
};

const typingIn = 'input:not([type=checkbox]), textarea, select, dialog';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(typingIn) !== null;

export const followKeys = (): void => {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const act = keys[event.key];
    if (act === undefined || (event.key.length === 1 && !signsAct.peek())) return;
    event.preventDefault();
    act();
  });
};

// What a screen reader reads of a page: the browser's accessibility tree (CDP) as lines of role and
// name, in reading order. Judges nothing.
import type { CDPSession, Page } from 'playwright-core';

interface AxNode {
  readonly nodeId: string;
  readonly ignored: boolean;
  readonly role?: { readonly value?: string };
  readonly name?: { readonly value?: string };
  readonly description?: { readonly value?: string };
  readonly properties?: readonly {
    readonly name: string;
    readonly value: { readonly value?: unknown };
  }[];
  readonly childIds?: readonly string[];
}

export interface Spoken {
  readonly role: string;
  readonly name: string;
  /** Only headings have one: 1 to 6. */
  readonly level: number | undefined;
  /** polite, assertive or, by default, off. */
  readonly live: string;
  /** Names of what it contains, in order. */
  readonly within: readonly string[];
  readonly depth: number;
}

const propertyOf = ({ properties = [] }: AxNode, name: string): unknown =>
  properties.find((one) => one.name === name)?.value.value;

/** Roles that are printed as one line together with their content. */
const lines = new Set(['row', 'button', 'link', 'heading', 'status', 'alert', 'img']);
/** Roles that are not printed themselves. */
const unread = new Set(['paragraph', 'time', 'sectionheader', 'LabelText', 'rowgroup']);
const silent = new Set(['InlineTextBox', 'none', 'generic', 'LineBreak', 'RootWebArea']);

/** All that is read of the page, without repeating within a line what is part of its name. */
export const spokenOf = async (page: Page): Promise<readonly Spoken[]> => {
  const session: CDPSession = await page.context().newCDPSession(page);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as unknown as {
    readonly nodes: readonly AxNode[];
  };
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const childrenOf = ({ childIds = [] }: AxNode): readonly AxNode[] =>
    childIds.flatMap((id) => byId.get(id) ?? []);
  const roleOf = (node: AxNode): string => String(node.role?.value ?? '');
  const nameOf = (node: AxNode): string =>
    String(node.name?.value ?? '')
      .replace(/\s+/g, ' ')
      .trim();
  const textsIn = (node: AxNode): readonly string[] =>
    childrenOf(node).flatMap((child) => {
      const role = roleOf(child);
      if (role === 'InlineTextBox') return [];
      const name = child.ignored || silent.has(role) ? '' : nameOf(child);
      return name === '' ? textsIn(child) : [name];
    });
  const spoken: Spoken[] = [];
  const read = (node: AxNode, depth: number): void => {
    const role = roleOf(node);
    const isSilent = node.ignored || silent.has(role);
    if (!isSilent) {
      const level = propertyOf(node, 'level');
      spoken.push({
        role,
        name: nameOf(node),
        level: typeof level === 'number' ? level : undefined,
        live: String(propertyOf(node, 'live') ?? 'off'),
        within: textsIn(node),
        depth,
      });
    }
    if (!isSilent && lines.has(role) && role !== 'row') return;
    for (const child of childrenOf(node)) read(child, depth + (isSilent ? 0 : 1));
  };
  const [root] = nodes;
  if (root !== undefined) read(root, 0);
  return spoken;
};

/** As lines for a person: `heading 1: Updates`, `row: 8f2c | demo-ng | ...`. */
export const linesOf = (spoken: readonly Spoken[]): readonly string[] => {
  const lines: string[] = [];
  let isInRow = Number.POSITIVE_INFINITY;
  let isText = false;
  for (const { role, name, level, within, depth } of spoken) {
    if (depth > isInRow || unread.has(role)) continue;
    isInRow = role === 'row' ? depth : Number.POSITIVE_INFINITY;
    const text = role === 'row' ? within.join(' | ') : name;
    const last = lines.at(-1);
    if (role === 'StaticText' && isText && last !== undefined)
      lines.splice(-1, 1, `${last} ${text}`);
    else {
      const what = level === undefined || role !== 'heading' ? role : `${role} ${level}`;
      const head = role === 'StaticText' ? '' : `${what}: `;
      lines.push(`${'  '.repeat(Math.min(depth, 6))}${head}${text}`);
    }
    isText = role === 'StaticText';
  }
  return lines.map((line) => line.replace(/(\S) +/g, '$1 ').trimEnd());
};

/** Changes of the text of live regions while `during` runs. */
export const announcements = async (
  page: Page,
  during: () => Promise<unknown>,
): Promise<string[]> => {
  await page.evaluate(`{
    globalThis.announced = [];
    globalThis.watching = new MutationObserver((changes) => {
      for (const { target } of changes) {
        const element = target.nodeType === 1 ? target : target.parentElement;
        const region = element?.closest('[role=status], [role=alert], [aria-live]');
        if (region) globalThis.announced.push(region.textContent);
      }
    });
    globalThis.watching.observe(document.body, {
      subtree: true, childList: true, characterData: true,
    });
  }`);
  await during();
  return page.evaluate('(globalThis.watching.disconnect(), globalThis.announced)') as Promise<
    string[]
  >;
};

// Writes the table of types in docs/notifications.md from the code: `node
// scripts/print-notifications.ts`. Keeps the text outside the marks. A test fails while the page is
// out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transitionTypes } from '../src/core/notify/index.ts';

export const notificationsFile = join(import.meta.dirname, '..', 'docs', 'notifications.md');
const open = '<!-- generated: types -->';
const close = '<!-- end: types -->';

const table = (): string =>
  [
    '| type | phrase | severity | PagerDuty |',
    '|---|---|---|---|',
    ...Object.entries(transitionTypes).map(([type, row]) => {
      const incident = 'incident' in row ? row.incident : undefined;
      const pager = { begins: 'trigger', ends: 'resolve' };
      const sent = incident === undefined ? 'not sent' : pager[incident];
      return `| \`${type}\` | ${row.phrase} | ${row.severity} | ${sent} |`;
    }),
  ].join('\n');

export const notificationsPage = (): string => {
  const page = readFileSync(notificationsFile, 'utf8');
  const [before = '', rest = ''] = page.split(open);
  const [, after = ''] = rest.split(close);
  return `${before}${open}\n${table()}\n${close}${after}`;
};

if (import.meta.main) writeFileSync(notificationsFile, notificationsPage());

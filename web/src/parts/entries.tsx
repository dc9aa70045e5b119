// Journal entries as a list, newest first.
import type { PageEntry } from '../../../src/api/page.ts';
import { shortHosts, visible } from '../format.ts';
import { link } from '../route.ts';
import { tables } from '../store.ts';
import { At, Text } from './basics.tsx';

const toneOf = ({ type, facts }: PageEntry): string => {
  if (/refused|failed|error|forcing|lost/.test(type) || facts.outcome === 'Failed') return 'bad';
  if (/progress|held|blocked/.test(type)) return 'wait';
  return /notice:dropped|heartbeat/.test(type) ? 'faint' : 'plain';
};

/** Fields that the rest of the line shows already, or that do not help a reader. */
const unsaid = new Set(['uid', 'episode', 'from', 'to']);

const factText = (value: unknown): string =>
  Array.isArray(value) ? value.map(factText).join('; ') : shortHosts(String(value));

const Facts = ({ facts }: Pick<PageEntry, 'facts'>) => (
  <>
    {facts.to !== undefined && (
      <span class="fact">
        {facts.from !== undefined && `${visible(String(facts.from))} → `}
        <b>{visible(String(facts.to))}</b>
      </span>
    )}
    {Object.entries(facts)
      .filter(([name]) => !unsaid.has(name))
      .map(([name, value]) => (
        <span key={name} class="fact">
          <i>{visible(name)}</i> <Text text={factText(value)} />
        </span>
      ))}
  </>
);

const Subject = ({ name }: { readonly name: string }) => {
  const drain = tables.drain.of(name);
  if (drain !== undefined) {
    return (
      <a class="name" href={link('node', drain.node)}>
        <bdi>{visible(name)}</bdi>
      </a>
    );
  }
  const isGroup = tables.group.of(name) !== undefined;
  return isGroup ? (
    <a class="name" href={link('group', name)}>
      <bdi>{visible(name)}</bdi>
    </a>
  ) : (
    <bdi class="name">{visible(name)}</bdi>
  );
};

type NumberedEntry = PageEntry & { readonly number?: number };

/** Unchanged lines are not drawn again when newer ones appear above them. */
export const Entries = ({ entries }: { readonly entries: readonly NumberedEntry[] }) => (
  <ol class="entries">
    {entries.map((entry, at) => {
      const { type, subject, facts, number = entries.length - at } = entry;
      return (
        <li key={`${number} ${entry.at}`} class={toneOf(entry)}>
          <At at={entry.at} />
          <span class="mono type">{visible(type)}</span>
          <span class="entrytext">
            <Subject name={subject} /> <Facts facts={facts} />
          </span>
        </li>
      );
    })}
  </ol>
);

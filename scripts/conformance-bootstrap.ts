// The table of the bootstrap's conformance for docs/conformance.md, from the cases themselves: a
// test runs every one of them, so that what is counted here holds.
import type { Topic } from '../test/conformance/bootstrap/topic.ts';
import { topics } from '../test/conformance/bootstrap/topics.ts';

type AnyTopic = Omit<Topic<never, unknown>, 'cases'> & { readonly cases: readonly unknown[] };

const cell = (text: string): string => text.replaceAll('|', '\\|');

const row = ({ topic, upstream, cases, differences }: AnyTopic): string => {
  const cells = [topic, upstream, String(cases.length), differences.join('; ') || 'none'];
  return `| ${cells.map(cell).join(' | ')} |`;
};

export const bootstrapTable = (): string => {
  const all: readonly AnyTopic[] = Object.values(topics);
  const total = all.reduce((sum, { cases }) => sum + cases.length, 0);
  const types = topics.maxPodsByType.cases.length;
  return [
    `${total} cases in ${all.length} topics, ${types} of them one instance type each.`,
    '',
    '| topic | upstream | cases | differences |',
    '|---|---|---|---|',
    ...all.map(row),
  ].join('\n');
};

// The counts of the bootstrap's conformance for docs/conformance.md, from the cases themselves: a
// test runs every one of them, so that what is counted here holds. Names the upstream source and
// the differences nowhere: each topic's file does.
import type { Topic } from '../test/conformance/bootstrap/topic.ts';
import { topics } from '../test/conformance/bootstrap/topics.ts';

type AnyTopic = Omit<Topic<never, unknown>, 'cases'> & { readonly cases: readonly unknown[] };

export const bootstrapList = (): string => {
  const all: readonly AnyTopic[] = Object.values(topics);
  const total = all.reduce((sum, { cases }) => sum + cases.length, 0);
  const named = all.map(
    ({ topic, cases, differences }) =>
      `${topic} ${cases.length}${differences.length > 0 ? ' *' : ''}`,
  );
  return `${total} cases in ${all.length} topics (*: with differences): ${named.join('; ')}.`;
};

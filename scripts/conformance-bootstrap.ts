// Counts the cases of the bootstrap's conformance, for docs/conformance.md. A test runs every
// counted case. Each topic's own file names its upstream source and the differences.
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

// Every rule of the catalogue reports its bad sample and not its good one.
import { describe, expect, it } from 'vitest';
import { fatalRules } from '../../formats/node/problem.ts';
import { lint } from './lint.ts';
import type { Sample } from './rule.ts';
import { rules } from './rules/index.ts';

const found = ({ text, options }: Sample): readonly string[] =>
  lint({ name: 'sample', bytes: new TextEncoder().encode(text) }, options).findings.map(
    ({ rule }) => rule,
  );

describe('the catalogue', () => {
  it.each(rules.map((rule) => [rule.id, rule] as const))('%s', (id, { bad, good }) => {
    expect(found(bad)).toContain(id);
    expect(found(good)).not.toContain(id);
  });

  it('has a page for everything that keeps a node from joining, as an error', () => {
    const errors = new Set(rules.filter((one) => one.severity === 'error').map(({ id }) => id));
    expect(fatalRules.filter((id) => !errors.has(id))).toEqual([]);
  });

  it('names each rule once', () => {
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  });

  it('has good samples without any error', () => {
    const wrong = rules.flatMap(({ id, good }) => {
      const { findings } = lint(
        { name: 'sample', bytes: new TextEncoder().encode(good.text) },
        good.options,
      );
      const errors = findings.filter(({ severity }) => severity === 'error');
      return errors.length === 0 ? [] : [`${id}: ${errors.map((one) => one.rule).join()}`];
    });
    expect(wrong).toEqual([]);
  });
});

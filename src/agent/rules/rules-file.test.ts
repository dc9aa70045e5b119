// A node's own rules: what they change, and why they are refused, with the place.
import { describe, expect, it } from 'vitest';
import { catalogue } from './catalogue.ts';
import { RulesFileError, withRulesFile } from './rules-file.ts';

const file = (more: object): string =>
  JSON.stringify({ apiVersion: 'drover.dev/v1alpha1', kind: 'AgentRules', ...more }, null, 2);
const changed = (change: object) =>
  withRulesFile(catalogue, file({ change: [change] })).filter(
    ({ reason }) => reason === 'UnexpectedRejectRule',
  );
const own = {
  reason: 'MyDriverReset',
  condition: 'KernelReady',
  lines: [{ source: 'kernel', pattern: '^mydrv (?<device>\\w+): reset' }],
  message: 'mydrv reset {device}',
};

const refusal = (text: string): string => {
  try {
    withRulesFile(catalogue, text);
  } catch (error) {
    if (error instanceof RulesFileError) return error.message;
    throw error;
  }
  return 'taken';
};

describe('a rules file', () => {
  it('turns a rule off, raises it, and allows more than before', () => {
    const reason = 'UnexpectedRejectRule';
    expect(changed({ reason, enabled: false })).toEqual([]);
    expect(changed({ reason, severity: 'Condition' })[0]?.severity).toBe('Condition');
    const [rule] = changed({ reason, allow: ['filter/MY-CHAIN'] });
    expect(rule?.allow).toEqual(expect.arrayContaining(['*/KUBE-*', 'filter/MY-CHAIN']));
    const threshold = { count: 2, withinSeconds: 60 };
    expect(
      changed({ reason, threshold, clearAfterSeconds: 60, limit: 1, rank: 3 })[0],
    ).toMatchObject({
      threshold,
      clearAfterSeconds: 60,
      limit: 1,
      rank: 3,
    });
  });

  it('adds rules on lines', () => {
    const rules = withRulesFile(catalogue, file({ add: [{ ...own, severity: 'Condition' }] }));
    expect(rules).toHaveLength(catalogue.length + 1);
    expect(rules.at(-1)).toMatchObject({ reason: 'MyDriverReset', severity: 'Condition' });
  });

  it('may be empty', () => {
    expect(withRulesFile(catalogue, file({}))).toEqual(catalogue);
  });

  it.each([
    ['', /Unexpected end/],
    ['{', /position|line/],
    ['[]', /^1:1: the document: must be an object/],
    ['{"kind":"AgentRules"}', /apiVersion: must be one of drover.dev\/v1alpha1/],
    [file({ rules: [] }), /^4:12: rules: unknown field rules; known: apiVersion/],
    [
      file({ change: [{ reason: 'Nope' }] }),
      /^6:17: change\.0\.reason: no rule has the reason Nope/,
    ],
    [file({ change: [{ reason: 'AppCrash', enabled: 'no' }] }), /^7:18: .*must be true or false/],
    [file({ change: [{ reason: 'AppCrash', severity: 'Fatal' }] }), /one of Condition, Event/],
    [file({ change: [{ reason: 'AppCrash', limit: -1 }] }), /limit: must be a whole number/],
    [
      file({ change: [{ reason: 'AppCrash', clearAfterSeconds: 0 }] }),
      /clearAfterSeconds: must be/,
    ],
    [file({ change: 1 }), /change: must be a list/],
    [file({ add: [{ ...own, lines: [] }] }), /needs at least one pattern/],
    [file({ add: [{ ...own, reason: 'two words' }] }), /one word in CamelCase/],
    [file({ add: [{ ...own, reason: 'AppCrash' }] }), /change it under "change"/],
    [file({ add: [{ ...own, condition: 'Ready' }] }), /condition: must be one of KernelReady/],
    [
      file({ add: [{ ...own, lines: [{ source: 'kernel', pattern: '(a)\\1' }] }] }),
      /pattern: no pattern that is matched in linear time/,
    ],
    [
      file({ add: [{ ...own, lines: [{ source: 'disk', pattern: 'a' }] }] }),
      /source: must be one of kernel, kubelet/,
    ],
  ])('is refused with the place: %s', (text, message) => {
    expect(refusal(text)).toMatch(message);
  });
});

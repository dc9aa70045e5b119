// Comments that suppress a rule: `drover:ignore RULE reason` for its own line and the next one,
// `drover:ignore-file RULE reason` for the file. Without a reason they suppress nothing and are
// findings themselves.
import type { Position, Problem } from '../../formats/index.ts';
import { ruleOf } from './rules/index.ts';

interface Suppression {
  readonly rule: string;
  readonly isFile: boolean;
  readonly at: Position;
}

const marker = /(?:#|\/\/|<!--)\s*drover:(ignore(?:-file)?)(?:[ \t]+([A-Z]+\d{3}))?[ \t]*([^\n]*)/g;

export const suppress = (
  text: string,
  problems: readonly Problem[],
): { readonly kept: readonly Problem[]; readonly suppressed: number } => {
  const faults: Problem[] = [];
  const suppressions: Suppression[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    for (const match of line.matchAll(marker)) {
      const at = { line: i + 1, column: match.index + 1 };
      const [, kind, rule, reason = ''] = match;
      const why = reason.replace(/-->\s*$/, '').trim();
      if (rule === undefined || ruleOf(rule) === undefined) {
        faults.push({ rule: 'IGN001', at, message: `names no rule${rule ? ` (${rule})` : ''}` });
      } else if (why === '') {
        faults.push({ rule: 'IGN001', at, message: `gives no reason why ${rule} is ignored` });
      } else suppressions.push({ rule, isFile: kind === 'ignore-file', at });
    }
  }
  const used = new Set<Suppression>();
  const kept = problems.filter((problem) => {
    const found = suppressions.find(
      ({ rule, isFile, at }) =>
        rule === problem.rule &&
        (isFile || at.line === problem.at.line || at.line + 1 === problem.at.line),
    );
    if (found !== undefined) used.add(found);
    return found === undefined;
  });
  const unused = suppressions
    .filter((one) => !used.has(one))
    .map(({ rule, at }) => ({ rule: 'IGN002', at, message: `${rule} is not found here` }));
  return {
    kept: [...kept, ...faults, ...unused],
    suppressed: problems.length - kept.length,
  };
};

// Texts that a line must contain for its event to pass the query's filters: raw bytes are searched
// for them, so most lines are never decoded or parsed. Uses only texts that JSON cannot encode
// differently; lines.ts also searches for escapes that could.
import { compileRegex } from './evaluate/compile.ts';
import type { Command, Expression, FieldRef, Query } from './language/ast.ts';

export interface Needles {
  /** In a member's value: a line with escaped letters may also contain it. */
  readonly inValues: readonly string[];
  /** Literally in `@message`. */
  readonly inText: readonly string[];
}

export const needlesOf = (query: Query): Needles => {
  const inValues: string[] = [];
  const inText: string[] = [];
  const made = new Set<string>();
  for (const command of query.commands) {
    if (command.kind === 'filter') {
      for (const condition of conjuncts(command.condition)) {
        const found = requirement(condition);
        if (found === undefined || isMade(found.field, made)) continue;
        if (found.field.name === '@message') inText.push(...printable(found.text));
        else if (!found.field.name.startsWith('@')) inValues.push(...safeRun(found.text));
      }
    } else if (!namesOnly(command, made)) break;
  }
  return { inValues, inText };
};

/**
 * Records the names that a command defines; false when the rows after it are no longer the log's
 * events.
 */
const namesOnly = (command: Command, made: Set<string>): boolean => {
  switch (command.kind) {
    case 'fields':
    case 'display':
      for (const { alias, text, expression } of command.items) {
        if (alias !== undefined || expression.kind !== 'field') made.add(alias ?? text);
      }
      return true;
    case 'parse':
      if (command.pattern.kind === 'regex' && command.names.length === 0) {
        for (const name of compileRegex(command.pattern).names.keys()) made.add(name);
      }
      for (const name of command.names) made.add(name);
      // With `multi` each match is a row of its own, so later filters select rows, not events.
      return !command.multi;
    case 'json':
      made.add(command.alias);
      return true;
    case 'lookup':
      for (const name of command.output) made.add(name);
      return true;
    case 'cidrlookup':
      for (const { alias } of command.output) made.add(alias);
      return true;
    case 'sort':
      return true;
    default:
      return false;
  }
};

const isMade = (field: FieldRef, made: ReadonlySet<string>): boolean => {
  const path = field.name.split('.');
  return path.some((_, index) => made.has(path.slice(0, index + 1).join('.')));
};

const conjuncts = (condition: Expression): readonly Expression[] =>
  condition.kind === 'and' ? condition.operands.flatMap(conjuncts) : [condition];

interface Requirement {
  readonly field: FieldRef;
  readonly text: string;
}

const requirement = (condition: Expression): Requirement | undefined => {
  if (condition.kind === 'compare' && condition.operator === '=') {
    const { left, right } = condition;
    if (left.kind === 'field' && right.kind === 'text') return { field: left, text: right.value };
    if (left.kind === 'text' && right.kind === 'field') return { field: right, text: left.value };
  }
  if (condition.kind === 'in' && !condition.negated) {
    const [item] = condition.items;
    const { operand } = condition;
    if (condition.items.length !== 1 || operand.kind !== 'field' || item?.kind !== 'text') return;
    return { field: operand, text: item.value };
  }
  if (condition.kind !== 'like' || condition.negated || condition.operand.kind !== 'field') return;
  const { operand: field, pattern } = condition;
  if (pattern.kind === 'text') return { field, text: pattern.value };
  if (pattern.kind === 'regex') return { field, text: compileRegex(pattern).required };
  return undefined;
};

/**
 * The longest run of characters that JSON encodes as themselves. Excludes runs that could be a
 * number: 1e2 is shown as 100.
 */
const safeRun = (text: string): readonly string[] => {
  const runs = (text.match(/[A-Za-z0-9_.-]+/g) ?? []).filter((run) => /[A-DF-Za-df-z_]/.test(run));
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  return longest.length < 2 ? [] : [longest];
};

/** Printable ASCII: bytes and characters are the same, whatever else the line contains. */
const printable = (text: string): readonly string[] =>
  text.length >= 2 && /^[\x20-\x7e]+$/.test(text) ? [text] : [];

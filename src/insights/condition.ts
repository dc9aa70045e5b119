// Evaluates one condition on an event, for callers that filter without a query.
import { compile } from './evaluate/compile.ts';
import type { LogEvent } from './evaluate/event.ts';
import { Names, Row } from './evaluate/row.ts';
import { isTrue } from './evaluate/values.ts';
import type { InQuery } from './language/ast.ts';
import { parseQuery } from './language/parse.ts';
import { QueryError } from './language/query-error.ts';

const subquery = ({ span }: InQuery): never => {
  throw new QueryError('a condition by itself has no subquery', span);
};

/** `text`: the condition that follows `filter`. Throws QueryError. */
export const compileCondition = (text: string): ((event: LogEvent) => boolean) => {
  const [command] = parseQuery(`filter ${text}`).commands;
  if (command?.kind !== 'filter') throw new Error('this is not a condition');
  const context = { names: new Names(), nowMs: 0, range: undefined, notice: () => {}, subquery };
  const read = compile(command.condition, context);
  return (event) => isTrue(read(new Row(event, [], 0)));
};

// The controller removes no scale-down-disabled annotation of others, and restores a value that
// others had set before an update.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import { type Request, succeeded } from '../../state/book.ts';
import type { NodeState } from '../../state/nodes.ts';
import { textOf } from '../../state/read.ts';
import { type Remains, scaleDownDisabled } from './owners.ts';

/** By uid of the node: values that others set, unless equal to the controller's value. */
type Values = Map<string, { readonly value: string; readonly at: number }>;

const noteValue = ({ book }: Context, node: NodeState, value: unknown, values: Values): void => {
  if (value === null || (value === 'true' && node.shieldedBy !== '')) values.delete(node.uid);
  else values.set(node.uid, { value: textOf(value), at: book.now });
};

/** A removal is reported elsewhere. */
const checkValue = (context: Context, node: NodeState, value: unknown, values: Values): void => {
  const { book, report } = context;
  const known = values.get(node.uid);
  if (known === undefined || book.now - known.at <= book.lagMicros) return;
  if (value === 'true' || value === known.value || known.value === 'true') return;
  const message = `${scaleDownDisabled}=${known.value} of others was not restored`;
  report({ subject: node.name, message });
};

const check = (
  context: Context,
  entry: Request,
  {
    annotations,
    values,
  }: { readonly annotations: Remains['annotations']; readonly values: Values },
): void => {
  const { book, saw, report } = context;
  const changed = objectOr(objectOr(objectOr(entry.body).metadata).annotations);
  const value = changed[scaleDownDisabled];
  const node = book.nodes.byName.get(entry.name ?? '');
  if (value === undefined || node === undefined) return;
  const isOurs = book.isOurs(entry);
  if (isOurs) {
    saw();
    checkValue(context, node, value, values);
  } else noteValue(context, node, value, values);
  // A value set again while the controller's note is on the node is the controller's too.
  if (value !== null && node.shieldedBy !== '') annotations.set(node.uid, true);
  if (value !== null) annotations.set(node.uid, isOurs);
  else if (annotations.take(node.uid, isOurs)) {
    report({ subject: node.name, message: `${scaleDownDisabled} of others was taken away` });
  }
};

export const watchAnnotations = (context: Context, { annotations }: Remains): Watcher => {
  const values: Values = new Map();
  return {
    request: (entry) => {
      if (entry.resource !== 'nodes' || !succeeded(entry)) return;
      check(context, entry, { annotations, values });
    },
  };
};

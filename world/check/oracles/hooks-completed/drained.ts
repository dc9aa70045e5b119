// A drain is recorded as Drained only if no pod is left on its node.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import type { DisruptionState, NodeState, PodState } from '../../state/book.ts';
import { textOf } from '../../state/read.ts';
import { holding } from './holding.ts';

/** The pod that still runs when the journal first records the drain as Drained. */
const falselyDrained = (
  { book }: Pick<Context, 'book'>,
  one: DisruptionState,
): { readonly node: NodeState; readonly pod: PodState } | undefined => {
  const before = objectOr(objectOr(one.previous).status);
  if (one.phase !== 'Completing' || one.outcome !== 'Drained') return undefined;
  if (before.phase === 'Completing') return undefined;
  const byInstance = book.nodes.ofInstance(one.instanceId);
  const node = byInstance ?? book.nodes.byName.get(one.nodeName);
  if (node === undefined || node.goneAt !== undefined) return undefined;
  const pods = holding({ book }, node, one);
  const pod = pods.find(({ boundAt }) => book.now - boundAt > book.lagMicros);
  return pod === undefined ? undefined : { node, pod };
};

export const watchDrained = (context: Context): Watcher => ({
  object: ({ type, resource, object }) => {
    const { book, report } = context;
    if (resource !== 'nodedisruptions' || type === 'DELETED' || !book.isNewVersion) return;
    const name = textOf(objectOr(object.metadata).name);
    const one = book.disruptions.byName.get(name);
    const left = one === undefined ? undefined : falselyDrained(context, one);
    if (left === undefined) return;
    const { pod, node } = left;
    report({
      subject: name,
      message: `told as Drained while ${pod.key} still ran on ${node.name}`,
    });
  },
});

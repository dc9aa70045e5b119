// The controller deletes a pod, or shortens its grace period, only after the pod's forced-at time
// and after the journal names the deadline.
import { both, type Context, type Oracle } from '../../oracle.ts';
import { endsPod, graceAsked, isEviction, type Request, succeeded } from '../../state/book.ts';
import { wrongWith } from './forced-at.ts';

const check = ({ book, saw, report }: Context, entry: Request): void => {
  if (entry.resource === 'pods' && entry.verb === 'deletecollection') {
    saw();
    report({ subject: entry.namespace ?? 'pods', message: 'pods were deleted as a collection' });
    return;
  }
  if (!endsPod(entry)) return;
  const pod = book.podOf(entry);
  if (pod === undefined) return;
  saw();
  const asked = graceAsked(entry);
  if (asked === 0) {
    report({
      subject: pod.key,
      message: 'killed with a grace of 0, which only removes the object',
    });
    return;
  }
  if (isEviction(entry)) {
    if (asked === undefined || asked >= pod.graceSeconds) return;
    // The kubelet does not answer, so a longer grace period would not help.
    if (book.nodes.byName.get(pod.nodeName)?.ready !== true) return;
  }
  const disruption = book.disruptionOf(pod);
  const wrong =
    disruption === undefined
      ? 'without a NodeDisruption'
      : wrongWith({ book, disruption, pod }, asked);
  if (wrong === undefined) return;
  const how = isEviction(entry) ? 'evicted with a shorter grace' : 'deleted';
  report({ subject: pod.key, message: `${how} ${wrong}` });
};

export const forced: Oracle = {
  name: 'nothing-forced-early',
  what:
    'the controller deletes no pod before its forced-at time, and none with a grace period of ' +
    '0',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => ({
    request: (entry) => {
      if (context.book.isOurs(entry) && succeeded(entry)) check(context, entry);
    },
  }),
};

// No hot loop: the number of API requests and cloud calls per minute is bounded by the number of
// changes in that minute. Refused requests count too; a trace without reads is judged by its writes
// alone.
import { both, type Oracle } from '../../oracle.ts';
import { keyOf, textOf } from '../../state/read.ts';
import { Minute } from './minute.ts';

/** The leader's lease and events have intervals of their own. */
const unrelated = new Set(['leases', 'events']);

export const hotLoop: Oracle = {
  name: 'no-hot-loop',
  what:
    'the number of requests and calls of the controller per minute is bounded by the events ' +
    'of that minute',
  strategies: both,
  needs: ['request'],
  watch: (context) => {
    const { book } = context;
    const minute = new Minute(context);
    return {
      object: (entry) => {
        if (book.matters) minute.change(entry.at);
      },
      lifecycle: (entry) => minute.step(entry.at),
      request: (entry) => {
        if (!book.isOurs(entry) || unrelated.has(entry.resource)) return;
        const { verb, resource, subresource = '', namespace, name, selector = '' } = entry;
        const about = `${keyOf(namespace, name)} ${selector}`.trim();
        minute.request(entry.at, `${verb} ${resource}/${subresource} ${about}`);
      },
      call: (entry) => {
        if (!book.isOurs(entry)) return;
        const { InstanceId, ReceiptHandle, AutoScalingGroupName } = entry.input;
        const about = textOf(InstanceId) || textOf(ReceiptHandle) || textOf(AutoScalingGroupName);
        minute.call(entry.at, `${entry.operation} ${about}`);
      },
      end: () => minute.end(),
    };
  },
};

// Every effect has an earlier intent. Before the controller changes a pod, a node, a hook or a
// template, the journal has committed the phase that allows it. Judged in a file per effect.
import { both, type Oracle } from '../../oracle.ts';
import { endsPod, succeeded } from '../../state/book.ts';
import { isHookCall, isTermination } from '../../state/cloud.ts';
import { checkHook, checkTermination } from './instances.ts';
import { checkNode } from './marks.ts';
import { checkPod } from './pods.ts';
import { TemplateIntent } from './template-intent.ts';

export const intent: Oracle = {
  name: 'intent-before-effect',
  what:
    'the journal announces each eviction, deletion, mark, hook call, termination and template ' +
    'before it happens',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book } = context;
    const templates = new TemplateIntent(context);
    return {
      object: (entry) => templates.object(entry),
      request: (entry) => {
        if (!succeeded(entry) || !book.isOurs(entry)) return;
        if (endsPod(entry)) checkPod(context, entry);
        else if (entry.resource === 'nodes') {
          const node = book.nodes.byName.get(entry.name ?? '');
          if (node !== undefined) checkNode(context, node);
        }
      },
      call: (entry) => {
        if (!book.isOurs(entry) || entry.error !== undefined) return;
        if (isHookCall(entry)) checkHook(context, entry);
        else if (isTermination(entry)) checkTermination(context, entry);
        else templates.call(entry);
      },
    };
  },
};

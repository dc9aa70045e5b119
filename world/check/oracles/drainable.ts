// The controller never evicts or deletes a DaemonSet's pod, a mirror pod or a finished pod.
import { both, type Oracle } from '../oracle.ts';
import { endsPod, succeeded } from '../state/book.ts';
import { isFinished } from '../state/pods.ts';

export const drainable: Oracle = {
  name: 'only-drainable-pods',
  what:
    'the controller evicts and deletes no pod of a DaemonSet, no mirror pod and no finished ' +
    'pod',
  strategies: both,
  needs: ['request', 'object'],
  watch: ({ book, saw, report }) => ({
    request: (entry) => {
      if (!endsPod(entry) || !succeeded(entry) || !book.isOurs(entry)) return;
      const pod = book.podOf(entry);
      if (pod === undefined) return;
      saw();
      const told = (what: string) => report({ subject: pod.key, message: `${what} was sent away` });
      if (pod.isMirror) told('a mirror pod, which is the kubelet’s own,');
      else if (isFinished(pod)) {
        const age = book.now - (pod.finishedAt ?? book.now);
        if (age > book.lagMicros) told(`a pod that was ${pod.phase} already`);
      } else if (pod.ownerKind === 'DaemonSet') {
        // An orphan of a DaemonSet is evicted like any other pod.
        const wasOrphan = book.isDrainable({ ...pod, goneAt: undefined });
        if (!wasOrphan) told(`a pod of DaemonSet ${pod.ownerName}`);
      }
    },
  }),
};

// The controller deletes a message only after the journal records what it asks for. Each deletion
// is checked if the trace knows the message of the receipt. In addition, no hook of the controller
// and no maintenance stays open for long without a cause in the journal.
import type { Notice } from '../../../src/api/notice.ts';
import { parseNotice } from '../../../src/formats/index.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { Wait } from '../state/cloud.ts';
import { microsPerMinute } from '../state/read.ts';
import { watchScheduled } from './scheduled.ts';

/** A notice that requires an action. */
type Action = Extract<Notice, { readonly kind: 'terminate' | 'launch' | 'spotInterruption' }>;

/** The backstop polls every 30 s; ten polls are enough under any fault. */
const noticedWithinMicros = 5 * microsPerMinute;

const namesInstance = /EC2InstanceId|instance-id/;

const isRecorded = ({ book }: Context, notice: Action): boolean => {
  const causes = book.disruptions.ofInstance(notice.instanceId)?.causes ?? [];
  if (notice.kind === 'spotInterruption') {
    return causes.some((cause) => cause.kind === 'SpotInterruption');
  }
  return causes.some(
    ({ hook }) =>
      hook !== undefined &&
      hook.name === notice.hookName &&
      hook.group === notice.autoScalingGroupName &&
      (hook.token === notice.token || hook.token === ''),
  );
};

/** Whether the message requests something that is still to be done. */
const isDue = ({ book }: Context, notice: Action): boolean => {
  const instance = book.cloud.instances.get(notice.instanceId);
  if (instance === undefined || !book.isManaged(instance.group)) return false;
  if (notice.kind === 'spotInterruption') {
    const isMember = instance.state === 'InService' || instance.state === 'Terminating:Wait';
    return isMember && instance.deadAt === undefined;
  }
  const { wait } = instance;
  if (notice.kind === 'launch' || wait?.kind !== 'terminate' || wait.leftAt !== undefined) {
    return false;
  }
  const isOpen = !wait.ended.has(notice.hookName);
  return isOpen && book.isOwnHook(notice.autoScalingGroupName, notice.hookName, book.now);
};

const hasCause = ({ book }: Context, wait: Wait): boolean => {
  const causes = book.disruptions.ofInstance(wait.instanceId)?.causes ?? [];
  return causes.some(
    ({ hook }) => hook !== undefined && book.isOwnHook(hook.group, hook.name, wait.startedAt),
  );
};

export const messages: Oracle = {
  name: 'messages-are-durable',
  what: 'a message is deleted only after its cause is in the journal',
  strategies: both,
  needs: ['call', 'lifecycle', 'object'],
  watch: (context) => {
    const { book, saw, report } = context;
    const waits = new Set<Wait>();
    const scheduled = watchScheduled(context);
    return {
      fault: (entry) => scheduled.fault(entry),
      lifecycle: (entry) => {
        scheduled.lifecycle(entry);
        const wait = book.cloud.instances.get(entry.instanceId)?.wait;
        if (wait?.kind === 'terminate' && book.isManaged(wait.group)) waits.add(wait);
      },
      call: (entry) => {
        if (entry.operation !== 'DeleteMessage' || entry.error !== undefined) return;
        if (!book.isOurs(entry) || entry.message === undefined) return;
        // Malformed and foreign messages name no instance; they are skipped without parsing.
        if (!namesInstance.test(entry.message)) return;
        const notice = parseNotice(entry.message);
        const isAction =
          notice.kind === 'terminate' ||
          notice.kind === 'launch' ||
          notice.kind === 'spotInterruption';
        if (!isAction || !isDue(context, notice)) return;
        saw();
        if (isRecorded(context, notice)) return;
        report({
          subject: notice.instanceId,
          message: `its ${notice.kind} message was deleted before any cause was recorded`,
        });
      },
      end: () => {
        scheduled.end();
        for (const wait of waits) {
          const until = wait.leftAt ?? book.facts.endedAt;
          if (until - wait.startedAt < noticedWithinMicros) continue;
          saw();
          if (hasCause(context, wait)) continue;
          report({
            at: wait.startedAt,
            subject: wait.instanceId,
            message: 'waited in a hook of ours and no NodeDisruption ever named the hook',
          });
        }
      },
    };
  },
};

// Once no update is open, nodes carry no taint or annotation of an update, and the group has the
// processes and sizes that its spec asks for.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import { numberOf } from '../../state/read.ts';
import { isLeaving } from './leaving.ts';
import { autoScalingGroupOf, type Remains, scaleDownDisabled } from './owners.ts';

const checkNodes = (context: Context, { annotations }: Remains): void => {
  const { book, saw, report } = context;
  for (const node of book.nodes.byName.values()) {
    if (node.goneAt !== undefined || book.updates.openOf(node.nodeGroup) !== undefined) continue;
    saw();
    // The instance is terminated; the node will be removed.
    if (isLeaving(context, node)) continue;
    const told = (what: string) =>
      report({ subject: node.name, message: `no update is under way, and our ${what} stayed` });
    if (node.isOutdated) told('taint drover.dev/outdated');
    if (node.awaitedBy !== '') told('taint drover.dev/awaiting-update');
    if (node.shieldedBy !== '') told('drover.dev/scale-down-disabled-by');
    if (node.isKept && annotations.of(node.uid)?.by === 'us') told(scaleDownDisabled);
  }
};

const checkGroup = (
  { book, saw, report }: Context,
  [name, group]: readonly [string, JsonObject],
  { processes }: Remains,
): void => {
  const told = autoScalingGroupOf(group);
  const there = book.cloud.groups.get(told);
  const updates = [...book.updates.byName.values()].some(({ nodeGroup }) => nodeGroup === name);
  const isDeleted = objectOr(group.metadata).deletionTimestamp !== undefined;
  const isOpen = book.updates.openOf(name) !== undefined;
  if (there === undefined || isDeleted || isOpen || !updates) return;
  saw();
  for (const one of there.suspended) {
    if (processes.of(`${told} ${one}`)?.by !== 'us') continue;
    report({ subject: told, message: `no update is under way, and our ${one} stayed suspended` });
  }
  const { minSize, maxSize } = objectOr(objectOr(group.spec).scaling);
  const more = numberOf(objectOr(objectOr(group.status).surge).maxSize) ?? 0;
  const [least, most] = [numberOf(minSize) ?? 0, (numberOf(maxSize) ?? 0) + more];
  if (there.minSize === least && there.maxSize === most) return;
  const is = `${there.minSize} to ${there.maxSize}`;
  report({
    subject: told,
    message: `no update is under way, sizes are ${is}, not ${least} to ${most}`,
  });
};

export const watchAllEnded = (context: Context, remains: Remains): Watcher => ({
  end: () => {
    if (!context.book.facts.settled) return;
    checkNodes(context, remains);
    for (const one of remains.groups) checkGroup(context, one, remains);
  },
});

// An update that ends has removed its note from every node that it annotated.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import { textOf } from '../../state/read.ts';
import type { UpdateState } from '../../state/updates.ts';
import { isLeaving } from './leaving.ts';
import type { Remains } from './owners.ts';

/** The controller may not have seen a node that has just joined when it ended the update. */
const check = (context: Context, update: UpdateState, { groups }: Remains): void => {
  const { book, saw, report } = context;
  const group = groups.get(update.nodeGroup);
  if (group === undefined || objectOr(group.metadata).deletionTimestamp !== undefined) return;
  saw();
  if (book.isBlind) return;
  for (const node of book.nodes.byName.values()) {
    if (node.goneAt !== undefined || book.now - node.joinedAt <= book.lagMicros) continue;
    if (isLeaving(context, node, '') || node.shieldedBy !== update.name) continue;
    report({ subject: node.name, message: `${update.name} is over, and its annotation stayed` });
  }
};

export const watchUpdateEnds = (context: Context, remains: Remains): Watcher => {
  const over = new Set<string>();
  return {
    object: ({ resource, type, object }) => {
      if (resource !== 'nodegroupupdates' || type === 'DELETED') return;
      const { byName } = context.book.updates;
      const update = byName.get(textOf(objectOr(object.metadata).name));
      if (update?.endedAt === undefined || over.has(update.name)) return;
      over.add(update.name);
      if (update.phase !== '') check(context, update, remains);
    },
  };
};

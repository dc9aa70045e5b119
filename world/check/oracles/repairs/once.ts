// An episode of an unhealthy node has one NodeRepair. It records an action before the action's
// cause, and each action once.
import { objectOr } from '../../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../../oracle.ts';
import { textOf } from '../../state/read.ts';
import { isOpen, type RepairState } from '../../state/repairs.ts';

const objectionOf = ({ book }: Context, repair: RepairState): string | undefined => {
  const actions = repair.attempts.map(({ action }) => action);
  if (new Set(actions).size < actions.length) return `repaired by ${actions.join(', ')}`;
  const isOver = repair.endedAs !== '';
  if (isOver && repair.phase !== repair.endedAs) return 'goes on after its end';
  const isNew = repair.openedAt === book.now && isOpen(repair);
  const other = isNew
    ? book.repairs.ofInstance(repair.instanceId).find((one) => one !== repair && isOpen(one))
    : undefined;
  return other && `opened beside ${other.name}`;
};

export const repairOnce: Oracle = {
  name: 'each-episode-is-repaired-once',
  what: 'an instance has one open episode, which takes each action once and records it before its cause',
  strategies: both,
  needs: ['object'],
  watch: (context) => {
    const { book, saw, report } = context;
    const told = new Set<string>();
    const object = (name: string): void => {
      const repair = book.repairs.byName.get(name);
      if (repair === undefined || repair.goneAt !== undefined) return;
      saw();
      const message = objectionOf(context, repair);
      if (message !== undefined) report({ subject: name, message });
    };
    return {
      object: (entry) => {
        if (entry.resource === 'noderepairs') {
          object(textOf(objectOr(entry.object.metadata).name));
          return;
        }
        const one = book.disruptionIn(entry);
        for (const { kind, id } of one?.causes ?? []) {
          if (kind !== 'Repair' || told.has(id)) continue;
          told.add(id);
          saw();
          const repairs = book.repairs.ofInstance(one?.instanceId ?? '');
          // The end of a quarantine has a cause of its own.
          const isRecorded = (causeId: string): boolean =>
            id === causeId || id === `${causeId}/end`;
          if (repairs.some(({ attempts }) => attempts.some((one) => isRecorded(one.causeId))))
            continue;
          report({ subject: one?.name ?? '', message: `${id} was recorded by no repair` });
        }
      },
    };
  },
};

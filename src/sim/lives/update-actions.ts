// What an update does to one node: it holds the node with its pods, later starts the drain, with or
// without force, or withdraws. It also withdraws its cause from a failed drain.

import { microsPerSecond } from '../../../world/kernel/index.ts';
import { liftWrite, withdrawCauseWrite } from '../../core/termination/index.ts';
import { type ActionContext, pickOf } from './action.ts';
import { changeCauses, liveNodes, recordCause, timestamp } from './node-causes.ts';

const longestTurnSeconds = 300;
/** Shorter than the wait at the end of a life, so that the node is uncordoned before it ends. */
const giveBackSeconds = 20;

export const updateNode = (context: ActionContext): void => {
  const { random, world } = context;
  const node = pickOf(random, liveNodes(context));
  if (node === undefined) return;
  const id = `update/${timestamp(context)}`;
  const after = (seconds: number, run: () => void): void => {
    world.kernel.after(Math.round(seconds * microsPerSecond), run);
  };
  const turn = longestTurnSeconds * random.next() ** 2;
  const isGivenBack = random.next() < 0.3;
  const onDeadline = random.next() < 0.5 ? 'force' : 'fail';
  const patience = 60 + random.below(600);
  const more = onDeadline === 'force' ? 30 + random.below(240) : 0;
  recordCause(context, node, {
    kind: 'Update',
    id,
    receivedAt: timestamp(context),
    onDeadline: 'fail',
    followUp: 'Replace',
    hold: true,
    cooldownSeconds: random.next() < 0.7 ? 60 : 0,
  });
  after(turn, () => {
    const at = timestamp(context);
    if (isGivenBack) {
      changeCauses(context, node, (existing) => withdrawCauseWrite(existing, id, at));
      return;
    }
    const deadline = timestamp(context, patience + more);
    const forced = onDeadline === 'force' ? { forceFrom: timestamp(context, patience) } : {};
    const lifted = { deadline, onDeadline, ...forced } as const;
    changeCauses(context, node, (existing) => liftWrite(existing, id, lifted));
    after(patience + more + giveBackSeconds, () => {
      changeCauses(context, node, (existing) =>
        existing.status?.outcome === 'Failed' &&
        existing.status.handledCauses?.includes(id) === true
          ? withdrawCauseWrite(existing, id, timestamp(context))
          : { kind: 'recorded' },
      );
    });
  });
};

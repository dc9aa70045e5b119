// What operators do with sequences of node group updates: create, pause, abort, roll back, and
// resume after a failure.

import type { WorldClient } from '../../../world/contracts.ts';
import type { World } from '../../../world/index.ts';
import type { JsonObject } from '../../api/json.ts';
import { updateStrategies } from '../../api/nodegroup-update.ts';
import type { NodeGroupUpdateSequence } from '../../api/update-sequence.ts';
import { type ActionContext, nodeGroups, pickOf } from './action.ts';
import { resources } from './open-work.ts';

/** Limits the cost of a life: each sequence updates every group. */
const maxSequences = 2;

const sequencesOf = ({ kube }: World): readonly NodeGroupUpdateSequence[] =>
  [...kube.readAll(resources.sequences)] as unknown as readonly NodeGroupUpdateSequence[];

/** All groups in random order; sometimes the last one runs in parallel with the one before it. */
export const askForSequence = ({ world, random, user }: ActionContext): void => {
  if (sequencesOf(world).length >= maxSequences) return;
  const left = [...world.kube.readAll(nodeGroups)].map(({ metadata }) => metadata.name);
  if (left.length < 2) return;
  const names: string[] = [];
  while (left.length > 0) names.push(...left.splice(random.below(left.length), 1));
  const isBeside = random.next() < 0.3;
  const groups = names.map((name, i) =>
    isBeside && i === names.length - 1 ? { name, after: names.slice(0, i - 1) } : { name },
  );
  const strategy = pickOf(random, updateStrategies) ?? 'SURGE';
  user.create(resources.sequences, undefined, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdateSequence',
    metadata: { name: `all-${Math.floor(world.kernel.now() / 1000)}` },
    spec: {
      groups,
      ...(random.next() < 0.6 ? { strategy } : {}),
      ...(random.next() < 0.3 ? { force: true } : {}),
    },
  });
};

const patch = (user: WorldClient, name: string, spec: JsonObject): void => {
  user.patch(resources.sequences, { name }, { type: 'merge', body: { spec } });
};

/** Acts as `drover pause sequence`, `resume` and `abort` do. */
export const changeSequence = ({ world, random, user }: ActionContext): void => {
  const one = pickOf(random, sequencesOf(world));
  if (one === undefined) return;
  const { name } = one.metadata;
  const roll = random.next();
  if (one.status?.status === 'Failed') patch(user, name, { resume: String(world.kernel.now()) });
  else if (roll < 0.5) patch(user, name, { paused: one.spec.paused === true ? null : true });
  else patch(user, name, { abort: roll < 0.75 ? 'Stop' : 'RollBack' });
};

/** At the end of a life, resumes all paused sequences. */
export const resumeSequences = (world: World, user: WorldClient): void => {
  for (const { spec, metadata } of sequencesOf(world)) {
    if (spec.paused === true) patch(user, metadata.name, { paused: null });
  }
};

// The input and ranking of `drover explain nodegroup`, in the virtual time of a life.
import { epochMs } from '../../src/api/brand.ts';
import { gatherJoinEvidence } from '../../src/cli/explain/join-evidence.ts';
import { type JoinCause, joinCauses } from '../../src/core/explain/index.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { testStart } from '../builders/runtime.ts';
import type { GroupLife } from './nodegroup-world.ts';

const person = { user: { username: 'ada', groups: ['system:masters'] }, userAgent: 'drover' };

/** The ranked causes of `drover explain nodegroup ng`. */
export const explained = async (life: GroupLife): Promise<readonly JoinCause[]> => {
  const { kube, cloud } = createInProcessPorts(life.world, {
    component: 'explain',
    identity: person,
  });
  let done = false;
  const gathering = gatherJoinEvidence(kube, cloud, {
    name: 'ng',
    now: epochMs(life.seconds * 1000 + testStart),
  }).finally(() => {
    done = true;
  });
  for (let i = 0; i < 500 && !done; i += 1) await life.driver.advance(0.01);
  return joinCauses((await gathering).evidence);
};

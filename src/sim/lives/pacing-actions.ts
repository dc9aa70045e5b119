// When operators let updates proceed: freezes and windows of minutes, since lives are short, and
// probes for a condition that an application may or may not have. Uses a random stream of its own.

import type { WorldClient } from '../../../world/contracts.ts';
import type { World } from '../../../world/index.ts';
import type { JsonObject } from '../../api/json.ts';
import { type ActionContext, nodeGroups, pickOf } from './action.ts';
import { timestamp } from './node-causes.ts';
import { resources } from './open-work.ts';
import { appNamespace } from './scenario.ts';

/** Removes all windows, freezes and probes. */
const never = { windows: null, freezes: null, probes: null } as const;

const drawProbe = ({ world }: ActionContext): JsonObject => {
  const random = world.kernel.random('life.pacing');
  const apps = [...world.kube.readAll(resources.deployments, appNamespace)];
  const app = pickOf(random, apps);
  if (app === undefined) return {};
  const condition = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: appNamespace,
    name: app.metadata.name,
    type: 'Available',
    status: random.next() < 0.5 ? 'True' : 'False',
  };
  const intervalSeconds = pickOf(random, [10, 30]) ?? 30;
  return { probes: [{ name: 'app', condition, intervalSeconds }] };
};

/** A part of `spec.updateConfig`, to be merged. */
export const drawPacing = (context: ActionContext): JsonObject => {
  const random = context.world.kernel.random('life.pacing');
  const chance = random.next();
  if (chance < 0.6) return never;
  if (chance < 0.74) {
    const begins = random.below(60);
    const from = timestamp(context, begins);
    const until = timestamp(context, begins + 60 + random.below(540));
    return { ...never, freezes: [{ from, until, reason: 'a release' }] };
  }
  if (chance < 0.87) {
    const cron = `*/${pickOf(random, [3, 5, 10]) ?? 5} * * * *`;
    return { ...never, windows: [{ cron, durationSeconds: 60 }] };
  }
  return { ...never, ...drawProbe(context) };
};

/** At the end of a life, removes all windows, freezes and probes. */
export const openGates = ({ kube }: World, user: WorldClient): void => {
  for (const { metadata, spec } of kube.readAll(nodeGroups)) {
    const text = JSON.stringify(spec);
    if (!/"(?:windows|freezes|probes)"/.test(text)) continue;
    const body = { spec: { updateConfig: never } };
    user.patch(nodeGroups, { name: metadata.name }, { type: 'merge', body });
  }
};

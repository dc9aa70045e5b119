// The oracles' verdict over a story: it fails for violations, and for an oracle that checked
// nothing, unless the story exempts that oracle with a reason. Never examines the world.
import assert from 'node:assert/strict';
import type { Trace } from '../../src/api/trace.ts';
import { checkTrace, oracles } from '../../world/check/index.ts';

/** Oracle name to the reason why it has nothing to check in this story. */
export type Exempt = Readonly<Record<string, string>>;

const noSizes = 'no size of a node group changes in this story';
const noRepair = 'no group repairs its nodes in this story';

/**
 * For stories in which no node group changes version or size or repairs nodes, and no announced
 * event may wait.
 */
export const noUpdates: Exempt = {
  'sizes-grow-as-noted': noSizes,
  'groups-shrink-by-drained-nodes': noSizes,
  'sizes-of-others-are-followed': noSizes,
  'causes-that-may-wait-take-turns': 'no rebalance and no maintenance is announced',
  'updates-keep-their-pace': 'no version is updated in this story',
  'surge-moves-pods-once': 'no version is updated in this story',
  'updates-leave-nothing': 'no version is updated in this story',
  'updates-stop-at-gates': 'no version is updated in this story',
  'repairs-keep-their-wait': noRepair,
  'healthy-nodes-are-not-repaired': noRepair,
  'repairs-stop-at-breakers': noRepair,
  'repairs-obey-their-owners': noRepair,
  'repairs-replace-what-they-end': noRepair,
  'each-episode-is-repaired-once': noRepair,
  'unhealthy-nodes-are-repaired': noRepair,
  'quarantined-instances-end-in-time': noRepair,
};

const names = new Set(oracles.map(({ name }) => name));

const secondsInto = (trace: Trace, at: number): string => {
  const begin = trace.entries[0]?.at ?? at;
  return `${((at - begin) / 1_000_000).toFixed(3)} s`;
};

/** The oracles' violations, one sentence each. */
export const violationsOf = (trace: Trace): readonly string[] =>
  checkTrace(trace).violations.map(
    ({ oracle, at, subject, message }) =>
      `${oracle}: ${subject} ${message} (${secondsInto(trace, at)} into the story)`,
  );

export const judge = (trace: Trace, exempt: Exempt = {}): void => {
  for (const [name, reason] of Object.entries(exempt)) {
    assert.ok(names.has(name), `no oracle is called ${name}: mend the story's exemptions`);
    assert.ok(reason.length > 10, `say why ${name} does not apply`);
  }
  const told = violationsOf(trace);
  assert.ok(told.length === 0, `what happened breaks ${told.length} rules:\n${told.join('\n')}`);
  const blind = Object.entries(checkTrace(trace).checked)
    .filter(([name, count]) => count === 0 && exempt[name] === undefined)
    .map(([name]) => name);
  assert.ok(
    blind.length === 0,
    `oracles that looked at nothing: ${blind.join(', ')}; say in the story why they do not apply`,
  );
};

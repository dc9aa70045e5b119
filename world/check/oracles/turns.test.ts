// Canaries of the oracle about causes that may wait: too many at once, and one that is never
// withdrawn.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { i1, i2, judge, Story, timeAt } from '../../../test/builders/world-check.ts';
import { turns } from './turns.ts';

const group = (story: Story, updateConfig: JsonObject = {}): Story =>
  story.object('nodegroups', {
    metadata: { name: 'ng1', uid: 'uid-ng1' },
    spec: { updateConfig },
    status: { instances: 4 },
  });
const cause = (kind: string, more: JsonObject = {}): JsonObject => ({
  kind,
  id: `${kind}/1`,
  receivedAt: timeAt(0),
  confirmation: { state: 'Confirmed', at: timeAt(0), reason: 'the cloud' },
  onDeadline: 'fail',
  followUp: 'Release',
  ...more,
});
const disrupted = (story: Story, name: string, phase: string, one: JsonObject): Story =>
  story.object('nodedisruptions', {
    metadata: { name, uid: `uid-${name}` },
    spec: { instanceId: name, nodeGroup: 'ng1', causes: [one] },
    status: { episode: 1, phase },
  });
const said = (story: Story) => judge(turns, story).said;
/** One node is being drained for `first`; another begins for `second` a minute later. */
const beside = (first: JsonObject, second: JsonObject, config: JsonObject = {}): Story =>
  disrupted(
    disrupted(group(new Story(), config), i1, 'Marking', first).at(60),
    i2,
    'Marking',
    second,
  );

const rebalance = cause('RebalanceRecommendation');
const far = cause('Maintenance', { deadline: timeAt(7 * 86_400) });
const begun = [`${i2}: begun beside 1 nodes out of service, of 1 that may`];

describe('causes-that-may-wait-take-turns', () => {
  it.each([
    ['a recommendation beside another', rebalance, rebalance],
    ['a recommendation beside a hook', cause('LifecycleHook'), rebalance],
    ['maintenance that is days ahead', rebalance, far],
  ])('reports %s', (_what, first, second) => {
    expect(said(beside(first, second))).toEqual(begun);
  });
  it.each([
    ['one that has to be obeyed', rebalance, cause('SpotInterruption'), {}],
    ['maintenance that is near', rebalance, cause('Maintenance', { deadline: timeAt(3600) }), {}],
    ['one beside a node that is scaled in', cause('ScaleIn'), rebalance, {}],
    ['as many as the group allows', rebalance, rebalance, { maxUnavailable: 2 }],
    ['as many as its percentage allows', rebalance, far, { maxUnavailablePercentage: 50 }],
  ])('accepts %s', (_what, first, second, config) => {
    expect(said(beside(first, second, config))).toEqual([]);
  });
  it('accepts one that begins when the other has ended', () => {
    const first = disrupted(group(new Story()), i1, 'Marking', rebalance);
    const ended = disrupted(first.at(30), i1, 'Ended', rebalance);
    expect(judge(turns, disrupted(ended.at(60), i2, 'Marking', far))).toEqual({ said: [], saw: 2 });
  });
  it('reports a recommendation that is in the end although nothing followed', () => {
    const stands = (seconds: number, one = rebalance) =>
      disrupted(group(new Story({ settled: true })), i1, 'Ended', one).at(seconds);
    const left = `${i1}: RebalanceRecommendation/1 stands although nothing followed it`;
    expect(said(stands(4000))).toEqual([left]);
    expect(said(stands(3700))).toEqual([]);
    expect(said(stands(4000, { ...rebalance, cancelledAt: timeAt(3600) }))).toEqual([]);
  });
});

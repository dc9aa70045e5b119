// Canaries of the oracle about gates of an update: windows, freezes and probes, each closed and
// each open.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { i1, i2, judge, Story, timeAt } from '../../../test/builders/world-check.ts';
import { updateGates } from './update-gates/index.ts';

const paced = (story: Story, updateConfig: JsonObject): Story =>
  story.object('nodegroups', {
    metadata: { name: 'ng1', uid: 'uid-ng1' },
    spec: { scaling: { minSize: 0, maxSize: 5, desired: 2 }, updateConfig },
  });

const update = (
  story: Story,
  phase: string,
  { strategy = 'SURGE', ...spec }: JsonObject = {},
): Story =>
  story.object('nodegroupupdates', {
    metadata: { name: 'u', uid: 'uid-u' },
    spec: { nodeGroup: 'ng1', type: 'VersionUpdate', ...spec },
    status: { status: 'InProgress', strategy, phase },
  });

const take = (story: Story, instance: string, more: { readonly hold?: boolean } = {}): Story =>
  story.disruption(instance, {
    causes: [{ kind: 'Update', id: 'update/u', onDeadline: 'fail', followUp: 'Replace', ...more }],
    status: { phase: 'Draining' },
  });

const said = (story: Story) => judge(updateGates, story).said;
const late = [`${i1}: taken by update u outside the times of node group ng1`] as const;

describe('updates-stop-at-gates', () => {
  const freeze = { freezes: [{ from: timeAt(100), until: timeAt(400) }] };
  const frozen = (spec: JsonObject = {}) => update(paced(new Story(), freeze), 'Rolling', spec);

  it('reports a node that is taken in a freeze, and none before it and after it', () => {
    expect(said(take(frozen().at(200), i1))).toEqual(late);
    expect(judge(updateGates, take(frozen().at(90), i1))).toEqual({ said: [], saw: 1 });
    expect(said(take(frozen().at(401), i1))).toEqual([]);
    // Decided before the freeze began.
    expect(said(take(frozen().at(115), i1))).toEqual([]);
  });
  it('reports a held node of EKS’ strategies that is let go in a freeze, not that it is held', () => {
    const story = take(frozen({ strategy: 'DEFAULT' }).at(200), i1, { hold: true });
    expect(said(story)).toEqual([]);
    expect(said(take(story.at(210), i1))).toEqual(late);
  });
  it('reports a hook that begins in a freeze, not the drain after one that began before', () => {
    expect(said(take(frozen().at(200), i1, { hold: true }))).toEqual(late);
    const begun = take(frozen().at(90), i1, { hold: true });
    expect(judge(updateGates, take(begun.at(200), i1))).toEqual({ said: [], saw: 1 });
  });
  it('leaves the way back alone', () => {
    expect(said(take(frozen({ action: 'Rollback' }).at(200), i1))).toEqual([]);
    expect(said(take(frozen({ abort: 'Stop' }).at(200), i1))).toEqual([]);
    expect(said(take(update(frozen(), 'Restoring').at(200), i1))).toEqual([]);
  });
  it('counts a freeze that has just been taken away, and one that has just been made', () => {
    expect(said(take(paced(frozen().at(195), {}).at(200), i1))).toEqual([]);
    const made = paced(update(paced(new Story(), {}), 'Rolling').at(195), freeze);
    expect(said(take(made.at(200), i1))).toEqual([]);
    expect(said(take(made.at(300), i2))).toEqual([late[0].replace(i1, i2)]);
  });
  it('knows the windows of an hour', () => {
    const windows = [{ cron: '*/10 * * * *', durationSeconds: 60 }];
    const story = () => update(paced(new Story(), { windows }), 'Rolling');
    expect(said(take(story().at(630), i1))).toEqual([]);
    expect(said(take(story().at(300), i1))).toEqual(late);
  });
  it('counts a window that has just opened by a clock that is ahead, and no other', () => {
    const windows = [{ cron: '*/10 * * * *', durationSeconds: 60 }];
    const story = () => update(paced(new Story({ clockSkew: 4_800_000 }), { windows }), 'Rolling');
    expect(said(take(story().at(595.3), i1))).toEqual([]);
    expect(said(take(story().at(595.1), i1))).toEqual(late);
  });
  it('reports an update that begins while it may not', () => {
    const pending = () => update(paced(new Story(), freeze).at(200), 'Pending');
    expect(said(update(pending(), 'Preparing'))).toEqual([
      'update u: began outside the times of node group ng1',
    ]);
    expect(said(update(pending().at(450), 'Preparing'))).toEqual([]);
  });

  const probe = { name: 'app', intervalSeconds: 10 };
  const condition = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web' };
  const probes = [{ ...probe, condition: { ...condition, type: 'Available' } }];
  const app = (story: Story, status: string): Story =>
    story.object('deployments', {
      metadata: { namespace: 'demo', name: 'web', uid: 'uid-web' },
      status: { conditions: [{ type: 'Available', status }] },
    });

  it('reports a node that is taken while a probe has failed for long', () => {
    const story = () => update(paced(app(new Story(), 'True'), { probes }), 'Rolling');
    expect(judge(updateGates, take(story().at(100), i1))).toEqual({ said: [], saw: 2 });
    expect(said(take(app(story().at(100), 'False').at(125), i1))).toEqual([]);
    const failing = take(app(story().at(100), 'False').at(160), i2);
    expect(said(failing)).toEqual([
      `${i2}: taken by update u although the probe of Available of demo/web has failed for 60 s`,
    ]);
  });
});

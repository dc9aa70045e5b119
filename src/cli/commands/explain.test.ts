// What drover explain adds to the texts of core: history, labels and taints with their owners, an
// idle controller.
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aGroup,
  aManualCause,
  aMarkedNode,
  aNode,
  timePlus,
} from '../../../test/builders/core-termination.ts';
import { helpOnlyContext } from '../../../test/builders/help-only-context.ts';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import { resourceTypes } from '../../api/kube.ts';
import { addExplainCommand, explainLines, historyOf, marksDocument } from './explain.ts';

const owned = { excludeLabel: true, unschedulable: false, taint: false, annotation: false };
const draining = aDisruption([aManualCause()], {
  episode: 1,
  phase: 'Draining',
  startedAt: timePlus(1),
  markedAt: timePlus(2),
  node: { name: 'n1', uid: 'uid-n1' },
  ownedMarks: owned,
});

describe('drover explain', () => {
  it('names the startup taints for which a launch hook waits, and no others', () => {
    const taints = ['a/starting', 'b/other'].map((key) => ({ key, effect: 'NoSchedule' as const }));
    const node = { ...aNode(), spec: { ...aNode().spec, taints } };
    const group = aGroup({ launch: { startupTaints: ['a/starting'] } });
    const inHealth = { health: { state: 'Healthy', findings: [] }, group } as never;
    expect(explainLines({ node, disruption: undefined, inHealth })[1]).toBe(
      'startup taint a/starting is still on the node: its launch hook is completed only once ' +
        'that is gone',
    );
  });

  it('tells when each phase was reached, in order', () => {
    expect(historyOf(draining)).toEqual([
      { what: 'recorded', at: timePlus(0) },
      { what: 'begun', at: timePlus(1) },
      { what: 'marked', at: timePlus(2) },
    ]);
  });

  it('begins the story of a second drain with its own cause, after the end of the first', () => {
    const second = aManualCause({ id: 'manual/2', receivedAt: timePlus(100) });
    const again = aDisruption([aManualCause({ deadline: timePlus(60) }), second], {
      episode: 2,
      phase: 'Draining',
      startedAt: timePlus(101),
      handledCauses: [aManualCause().id],
      previous: {
        episode: 1,
        outcome: 'Failed',
        startedAt: timePlus(1),
        deadline: timePlus(60),
        endedAt: timePlus(61),
      },
    });
    expect(historyOf(again)).toEqual([
      { what: 'the drain before this one: begun', at: timePlus(1) },
      { what: 'the drain before this one: its deadline', at: timePlus(60) },
      { what: 'the drain before this one: Failed', at: timePlus(61) },
      { what: 'recorded', at: timePlus(100) },
      { what: 'begun', at: timePlus(101) },
    ]);
  });

  it('reports a deadline that was missed, and none that was met', () => {
    const ended = (outcome: 'Failed' | 'Forced' | 'Drained') => {
      const status = { ...draining.status, episode: 1, phase: 'Ended', outcome } as const;
      const causes = { completingCauses: [aManualCause().id], handledCauses: [aManualCause().id] };
      const times = { deadline: timePlus(60), endedAt: timePlus(61) };
      return historyOf(aDisruption([aManualCause()], { ...status, ...causes, ...times }));
    };
    const missed = { what: 'deadline', at: timePlus(60) };
    expect(ended('Failed')).toContainEqual(missed);
    expect(ended('Forced')).toContainEqual(missed);
    expect(ended('Drained')).not.toContainEqual(missed);
    expect(ended('Drained')).toContainEqual({ what: 'recorded', at: timePlus(0) });
  });

  it('tells our marks from those of others', () => {
    const subject = { node: aMarkedNode(), disruption: draining };
    expect(marksDocument(subject)).toEqual([
      { mark: 'excluded from load balancers', ours: true },
      { mark: 'cordoned', ours: false },
    ]);
    expect(explainLines(subject)).toContain('`kubectl uncordon n1` lifts that cordon');
  });

  it('claims no mark on a node that has come again under the same name', () => {
    const node = aMarkedNode({ uid: 'uid-other' });
    expect(marksDocument({ node, disruption: draining }).some(({ ours }) => ours)).toBe(false);
  });

  it('says so when nothing is held', () => {
    expect(explainLines({ node: aNode(), disruption: undefined })).toEqual([
      'node n1: drover holds nothing on it',
      'Drover set no label, taint or cordon on the node',
    ]);
  });

  it('says so when no controller has acted, and when the node is gone', () => {
    const text = explainLines({ node: undefined, disruption: aDisruption() }).join('\n');
    expect(text).toMatch(/no controller has acted on it yet/);
    expect(text).toMatch(/the node itself is gone/);
    expect(explainLines({ node: aNode(), disruption: draining }).join()).not.toMatch(
      /no controller/,
    );
  });
});

describe('drover explain NODE', () => {
  it.each([
    ['lists no pods of a node without a drain', [], 0],
    ['lists the pods of a draining node once', [draining.metadata.name], 1],
  ])('%s', async (_, drained, lists) => {
    const clock = new VirtualClock();
    const kube = new FakeKube(clock);
    kube.put(resourceTypes.nodes, { name: 'n1', spec: aNode().spec, status: {} });
    for (const name of drained) {
      const { spec, status = {} } = draining;
      kube.put(resourceTypes.nodedisruptions, { name, spec, status });
    }
    const program = new Command();
    const context = {
      ...helpOnlyContext,
      out: () => undefined,
      kube: async () => kube,
      cluster: async () => ({ embedded: false, now: clock.now() }),
    };
    addExplainCommand(program, context, () => ({}));
    await program.parseAsync(['explain', 'n1'], { from: 'user' });
    const asked = kube.requests.filter(({ resource }) => resource === 'pods');
    expect(asked).toHaveLength(lists);
  });
});

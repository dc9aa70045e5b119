// How sequences are found, displayed and watched, and the exit code of a watch.
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { NodeGroupUpdateSequenceStatus } from '../../api/update-sequence.ts';
import { exitCodes } from '../context.ts';
import {
  describeSequence,
  needSequence,
  patchSequence,
  requestSequence,
  sequenceCells,
  sequenceDocument,
  watchSequence,
} from './sequence.ts';

const type = resourceTypes.nodegroupupdatesequences;
const groups = [{ name: 'a' }, { name: 'b', after: [] }];
const running: NodeGroupUpdateSequenceStatus = {
  status: 'InProgress',
  phase: 'Rolling',
  message: 'updating a; 0 of 2 groups done',
  groups: [
    { name: 'a', status: 'InProgress', update: 'u', attempt: 1, message: 'm' },
    { name: 'b', status: 'Waiting', attempt: 1 },
  ],
  progress: { done: 0, total: 2 },
};

const setUp = (status?: NodeGroupUpdateSequenceStatus) => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const put = (next?: NodeGroupUpdateSequenceStatus): void => {
    kube.put(type, { name: 's', spec: { groups }, ...(next && { status: next }) });
  };
  put(status);
  const lines: string[] = [];
  const tell = (line: string): void => {
    lines.push(line);
  };
  const { signal } = new AbortController();
  return { clock, kube, put, lines, deps: { kube, clock, signal, tell } };
};

describe('a sequence', () => {
  it('is reported with its groups, whether a controller has seen it or not', async () => {
    const { kube } = setUp(running);
    const sequence = await needSequence(kube, 's');
    expect(sequenceCells(sequence)).toEqual([
      's',
      'InProgress',
      'Rolling',
      '0/2',
      'updating a; 0 of 2 groups done',
    ]);
    expect(describeSequence(sequence)).toEqual([
      'sequence s: InProgress, phase Rolling',
      'updating a; 0 of 2 groups done',
      'groups:',
      '  a  InProgress  update u\n    m',
      '  b  Waiting  after nothing',
    ]);
    const fresh = await needSequence(setUp().kube, 's');
    expect(sequenceCells(fresh)).toEqual(['s', 'InProgress', '-', '0/2', '']);
    expect(sequenceDocument(fresh)).toMatchObject({
      kind: 'UpdateSequence',
      phase: null,
      groups: [{ name: 'a', status: 'Waiting', update: null }, { name: 'b' }],
    });
  });

  it('that does not exist, or is there already, is reported with a remedy', async () => {
    const { kube } = setUp();
    await expect(needSequence(kube, 'x')).rejects.toThrow('no update sequence x; there are: s');
    await expect(requestSequence(kube, 's', { groups })).rejects.toThrow(
      '`drover resume sequence s` continues it',
    );
    await expect(patchSequence(kube, 'x', { paused: true })).rejects.toThrow(
      'was deleted just now',
    );
  });

  it.each([
    ['Failed', exitCodes.failed],
    ['Cancelled', exitCodes.refused],
  ] as const)('that ends %s ends a watch so', async (status, exitCode) => {
    const { deps, put, clock, lines } = setUp(running);
    const watch = watchSequence(deps, 's', undefined);
    const rejected = expect(watch).rejects.toMatchObject({ exitCode });
    await clock.advance(5000);
    put({ ...running, status, phase: 'Ended', message: 'why' });
    await clock.advance(2000);
    await rejected;
    expect(lines).toEqual(['sequence s: InProgress: updating a; 0 of 2 groups done']);
  });

  it('that is Successful is told; one that continues is watched no longer than asked', async () => {
    const over = setUp({ ...running, status: 'Successful', phase: 'Ended', message: 'done' });
    await watchSequence(over.deps, 's', undefined);
    expect(over.lines).toEqual(['sequence s: Successful: done']);
    const { deps, clock } = setUp(running);
    const late = expect(watchSequence(deps, 's', 3000)).rejects.toMatchObject({
      exitCode: exitCodes.timedOut,
    });
    await clock.advance(5000);
    await late;
  });
});

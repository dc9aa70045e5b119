// Waves and probes as tables: how many nodes may begin, what the update waits for, what ends it.
import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../../api/brand.ts';
import type { NodeGroupUpdate, UpdateStrategy } from '../../../api/nodegroup-update.ts';
import type { Probe, ProbeResult, Wave, WaveStatus } from '../../../api/update-pacing.ts';
import { probeFailures, probeHolds } from './probes.ts';
import { decideWave } from './waves.ts';

const now = epochMs(Date.parse('2026-01-05T12:00:00Z'));
const ago = (seconds: number): string => formatTime(epochMs(now - seconds * 1000));

const anUpdate = (wave?: WaveStatus, approvedWave?: string): NodeGroupUpdate => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroupUpdate',
  metadata: {
    name: 'up',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: ago(0),
    ...(approvedWave && { annotations: { 'drover.dev/approved-wave': approvedWave } }),
  },
  spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} },
  status: { status: 'InProgress', ...(wave && { wave }) },
});

const waves: readonly Wave[] = [
  { percent: 10, soakSeconds: 600, gates: ['Approval'] },
  { percent: 50, gates: ['Probes'] },
];

const passed = (at: string): readonly ProbeResult[] => [
  { name: 'web', isPassing: true, failures: 0, message: '', at },
];

interface Given {
  readonly wave?: WaveStatus;
  readonly approved?: string;
  readonly untouched: number;
  readonly isSettled?: boolean;
  readonly probed?: readonly ProbeResult[];
}

const decide = ({ wave, approved, untouched, isSettled = true, probed = [] }: Given) =>
  decideWave({
    update: anUpdate(wave, approved),
    waves,
    total: 15,
    untouched,
    isSettled,
    probes: [{ name: 'web' }],
    probed,
    now,
  });

const first = { number: 1, of: 2, upTo: 2 };
const second = { number: 2, of: 2, upTo: 8 };

describe('a wave', () => {
  it.each([
    ['yes', true],
    ['0', false],
  ])('says that "%s" approves nothing where it is no number: %s', (approved, isTold) => {
    const { holds } = decide({ approved, untouched: 13 });
    const [reason = ''] = holds.flatMap((one) => (one.kind === 'WaveApproval' ? one.reason : []));
    const words = `is "${approved}", which approves nothing: expected is the number of the wave, "1")`;
    expect(reason.includes(words)).toBe(isTold);
  });

  it.each<readonly [string, Given, string]>([
    ['begins with its share, rounded up', { untouched: 15 }, '2 of wave 1'],
    ['goes on to it', { untouched: 14, isSettled: false }, '1 of wave 1'],
    ['waits for its last node', { untouched: 13, isSettled: false }, '0 of wave 1'],
    ['then soaks, and waits to be approved', { untouched: 13 }, '0 of wave 1: Soak,WaveApproval'],
    [
      'soaks from then on',
      { wave: { ...first, doneAt: ago(599) }, approved: '1', untouched: 13 },
      '0 of wave 1: Soak',
    ],
    [
      'waits longer for approval than for its soak',
      { wave: { ...first, doneAt: ago(9999) }, untouched: 13 },
      '0 of wave 1: WaveApproval',
    ],
    [
      'is over',
      { wave: { ...first, doneAt: ago(600) }, approved: '1', untouched: 13 },
      '6 of wave 2',
    ],
    [
      'is not approved by nonsense',
      { wave: { ...first, doneAt: ago(600) }, approved: 'yes', untouched: 13 },
      '0 of wave 1: WaveApproval',
    ],
    ['is never begun again', { wave: second, untouched: 13 }, '6 of wave 2'],
    [
      'waits for a probe that has passed since',
      { wave: { ...second, doneAt: ago(10) }, untouched: 7, probed: passed(ago(11)) },
      '0 of wave 2: WaveProbes',
    ],
    [
      'does not wait for one that has',
      { wave: { ...second, doneAt: ago(10) }, untouched: 7, probed: passed(ago(9)) },
      '7 of wave 3',
    ],
    [
      'waits for one that nobody has looked at',
      { wave: { ...second, doneAt: ago(10) }, untouched: 7 },
      '0 of wave 2: WaveProbes',
    ],
    [
      'leaves the rest to no wave',
      { wave: { number: 3, of: 2, upTo: 15 }, untouched: 3 },
      '3 of wave 3',
    ],
  ])('%s', (_, given, expected) => {
    const { limit, wave, holds } = decide(given);
    const held = holds.length === 0 ? '' : `: ${holds.map(({ kind }) => kind).join()}`;
    expect(`${limit} of wave ${wave?.number}${held}`).toBe(expected);
  });

  const behind = { wave: { ...second, doneAt: ago(0) }, untouched: 7 };
  it.each<readonly [string, readonly Wave[], UpdateStrategy, Given, string]>([
    ['the next wave', waves, 'SURGE', { untouched: 13 }, 'wave 2, 6 nodes'],
    [
      'a next wave without nodes',
      [{ percent: 10 }, { percent: 12 }],
      'SURGE',
      { untouched: 13 },
      'wave 2, which has no more nodes',
    ],
    ['what is in no wave', waves, 'SURGE', behind, 'the rest, 7 nodes'],
    ['the last node', waves, 'SURGE', { ...behind, untouched: 1 }, 'the rest, 1 node'],
    ['the end', waves, 'SURGE', { ...behind, untouched: 0 }, 'the end: sizes are set back'],
    [
      'the end with a surplus',
      waves,
      'DEFAULT',
      { ...behind, untouched: 0 },
      'the end: the surplus is taken back',
    ],
    ['a soak', waves, 'BLUE_GREEN', { ...behind, untouched: 0 }, 'the soak of the old nodes'],
  ])('says that its approval lets continue with %s', (_, some, strategy, given, next) => {
    const gated = some.map((one): Wave => ({ ...one, gates: ['Approval'] }));
    const { wave, approved, untouched } = given;
    const update = anUpdate(wave, approved);
    const facts = { total: 15, untouched, isSettled: true, probes: [], probed: [], now };
    const { holds } = decideWave({
      ...facts,
      update: { ...update, status: { ...update.status, status: 'InProgress', strategy } },
      waves: gated,
    });
    expect(holds.at(-1)?.reason).toMatch(`\`drover approve update up\` lets go on with ${next}`);
  });

  it('says when its soak is over', () => {
    const { holds, wave } = decide({
      wave: { ...first, doneAt: ago(60) },
      approved: '1',
      untouched: 13,
    });
    expect(holds[0]?.until).toBe(formatTime(epochMs(now + 540_000)));
    expect(wave?.doneAt).toBe(ago(60));
  });

  it('comes after those that go less far, in whatever order they are written', () => {
    const facts = {
      update: anUpdate(),
      total: 15,
      untouched: 15,
      isSettled: true,
      probes: [],
      probed: [],
      now,
    };
    expect(decideWave({ ...facts, waves: waves.toReversed() })).toMatchObject({
      limit: 2,
      wave: first,
    });
  });

  it('is not asked for where none is defined, nor on the way back', () => {
    const update = anUpdate();
    const facts = { update, total: 4, untouched: 4, isSettled: true, probes: [], probed: [], now };
    expect(decideWave({ ...facts, waves: [] })).toMatchObject({ limit: Number.POSITIVE_INFINITY });
    const back = { ...update, spec: { ...update.spec, action: 'Rollback' as const } };
    expect(decideWave({ ...facts, update: back, waves }).limit).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a probe', () => {
  const probe = (more: Partial<Probe> = {}): Probe => ({
    name: 'web',
    http: { url: 'http://w' },
    ...more,
  });
  const failed = (failures: number): readonly ProbeResult[] => [
    { name: 'web', isPassing: false, failures, message: 'answered 503', at: ago(1) },
  ];
  it.each([
    ['that was never looked at', probe(), [], 'probe web has not been looked at yet', 0],
    ['that passes', probe(), passed(ago(1)), undefined, 0],
    [
      'that fails once',
      probe(),
      failed(1),
      'probe web fails: answered 503 (1 of 3 failures in a row)',
      0,
    ],
    [
      'that goes on failing',
      probe(),
      failed(9),
      'probe web fails: answered 503 (3 of 3 failures in a row)',
      0,
    ],
    [
      'that fails too seldom to end it',
      probe({ onFailure: 'Fail' }),
      failed(2),
      'probe web fails: answered 503 (2 of 3 failures in a row)',
      0,
    ],
    [
      'that ends it',
      probe({ onFailure: 'Fail' }),
      failed(3),
      'probe web fails: answered 503 (3 of 3 failures in a row)',
      1,
    ],
    [
      'that ends it at once',
      probe({ onFailure: 'Fail', failureThreshold: 1 }),
      failed(1),
      'probe web fails: answered 503 (1 of 1 failures in a row)',
      1,
    ],
  ] as const)('%s', (_, one, results, reason, failures) => {
    expect(probeHolds([one], results)[0]?.reason).toBe(reason);
    expect(probeFailures('ng', [one], results)).toHaveLength(failures);
  });
});

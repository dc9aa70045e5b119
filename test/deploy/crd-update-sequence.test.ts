// The CRD of update sequences in the embedded API server: it keeps every field of the types and
// refuses changes of immutable fields.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import type {
  NodeGroupUpdateSequenceSpec,
  NodeGroupUpdateSequenceStatus,
} from '../../src/api/update-sequence.ts';
import { beginGroups, sequenceOf } from '../support/sequence-world.ts';

type Full<T> = T extends readonly (infer Item)[]
  ? readonly Full<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]-?: Full<Exclude<T[Key], undefined>> }
    : T;

const kind = { group: 'drover.dev', resource: 'nodegroupupdatesequences' } as const;
const t = '2026-01-01T00:00:00.000Z';
const target = {
  version: '1.32',
  releaseVersion: 'r',
  launchTemplate: { id: 'lt', name: 'n', version: '1' },
};
const spec: Full<NodeGroupUpdateSequenceSpec> = {
  groups: [{ name: 'a', after: ['b'], target }],
  target,
  force: true,
  strategy: 'SURGE',
  policies: {
    drain: { timeoutSeconds: 1, cooldownSeconds: 1, onTimeout: 'Quarantine', forceAfterSeconds: 0 },
    maxQuarantined: 1,
    rollback: { auto: true, failedNewNodes: 1 },
    capacity: { onShortage: 'Fail', waitSeconds: 1 },
    blueGreen: { soakSeconds: 1, batchSoakSeconds: 1 },
  },
  paused: true,
  abort: 'Stop',
  resume: 'x',
};
const status: Full<NodeGroupUpdateSequenceStatus> = {
  status: 'InProgress',
  phase: 'Rolling',
  message: 'm',
  groups: [{ name: 'a', status: 'Waiting', update: 'u', attempt: 1, message: 'm' }],
  progress: { done: 0, total: 1 },
  startedAt: t,
  endedAt: t,
  ending: 'Failed',
  endedGeneration: 1,
  conditions: [
    {
      type: 'Complete',
      status: 'False',
      reason: 'r',
      message: 'm',
      lastTransitionTime: t,
      lastHeartbeatTime: t,
      observedGeneration: 1,
    },
  ],
};
const { forceAfterSeconds: _of, ...drain } = spec.policies.drain;
const asked = { ...spec, policies: { ...spec.policies, drain } };
const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

describe('the definition of NodeGroupUpdateSequence', () => {
  it('keeps every field, and refuses what a sequence may not become', async () => {
    const life = await beginGroups({ groups: [], nodes: 0 });
    await life.end();
    const { user } = life;
    const make = (name: string, of: unknown) =>
      user.create(kind, undefined, {
        apiVersion: 'drover.dev/v1alpha1',
        kind: 'NodeGroupUpdateSequence',
        metadata: { name },
        spec: plain(of),
      }).kind;
    expect(make('all', asked)).not.toBe('error');
    const merge = (body: unknown, subresource?: 'status') => {
      const more = subresource === undefined ? {} : { subresource };
      return user.patch(kind, { name: 'all' }, { type: 'merge', body: plain(body), ...more }).kind;
    };
    expect(merge({ status }, 'status')).not.toBe('error');
    expect(sequenceOf(life)).toMatchObject({ spec: asked, status });
    for (const change of [
      { groups: [{ name: 'b' }] },
      { target: null },
      { abort: null },
      { abort: 'RollBack' },
    ]) {
      expect(merge({ spec: change }), JSON.stringify(change)).toBe('error');
    }
    expect(merge({ spec: { force: false, paused: false, resume: 'y' } })).not.toBe('error');
    for (const groups of [[], [{ name: '' }], [{ name: 'a' }, { name: 'a' }]]) {
      expect(make('other', { groups }), JSON.stringify(groups)).toBe('error');
    }
  });
});

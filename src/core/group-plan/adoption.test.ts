// Whether Drover holds an existing group, when it tags it, and how long it waits for its tag.
import { describe, expect, it } from 'vitest';
import { aGroupSpec } from '../../../test/builders/controllers.ts';
import { epochMs } from '../../api/brand.ts';
import { ownerTag } from '../../api/nodegroup.ts';
import type { Ownership } from '../nodegroup/index.ts';
import { type AdoptionObservation, decideAdoption } from './adoption.ts';

const now = epochMs(100_000);
const deletionTimestamp = '2026-01-01T00:00:00Z';
const managed = { nodeMarks: { applied: 'a' } };

interface Facts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
  readonly markedAt?: number;
}

const decided = (kind: Ownership['kind'], { metadata, spec, status, markedAt }: Facts = {}) => {
  const { outcome, plan } = decideAdoption({
    group: {
      metadata: { name: 'ng', uid: 'u1', ...metadata },
      spec: { ...aGroupSpec(), ...spec },
      status,
    },
    scaling: { name: 'asg-1', tags: {} },
    ownership: { kind },
    markedAt,
    now,
  } as unknown as AdoptionObservation);
  return [outcome, plan.steps.map((step) => step.kind), plan.nextCheckAt];
};

describe('the adoption of an Auto Scaling group', () => {
  it.each<[string, unknown, readonly unknown[]]>([
    [
      'tags one that names no owner, and waits',
      decided('free'),
      ['later', ['TagGroup'], now + 5_000],
    ],
    ['tags one that names it, and goes on', decided('named'), ['held', ['TagGroup'], undefined]],
    [
      'waits for a tag that it has just read',
      decided('own', { markedAt: now }),
      ['later', [], now + 5_000],
    ],
    [
      'goes on once its tag has stayed',
      decided('own', { markedAt: now - 5_000 }),
      ['held', [], undefined],
    ],
    [
      'needs no wait when it is managed',
      decided('own', { status: managed }),
      ['held', [], undefined],
    ],
    [
      'tags a managed one again',
      decided('free', { status: managed }),
      ['held', ['TagGroup'], undefined],
    ],
    ['touches nothing of others', decided('foreign'), ['held', [], undefined]],
    [
      'is not needed for a group that Drover created',
      decided('own', { spec: { autoScalingGroupName: undefined } }),
      ['held', [], undefined],
    ],
    [
      'does not begin when the object is being deleted',
      decided('free', { metadata: { deletionTimestamp } }),
      ['none', [], undefined],
    ],
    [
      'does not tag again what a release has untagged',
      decided('free', {
        metadata: { deletionTimestamp },
        spec: { deletionPolicy: 'Retain' },
        status: managed,
      }),
      ['held', [], undefined],
    ],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  it('writes the owner’s tag among the others', () => {
    const { plan } = decideAdoption({
      group: { metadata: { name: 'ng', uid: 'u1' }, spec: aGroupSpec() },
      scaling: { name: 'asg-1', tags: {} },
      ownership: { kind: 'free' },
      now,
    } as unknown as AdoptionObservation);
    expect(plan.steps).toMatchObject([{ tags: { [ownerTag]: 'u1' } }]);
  });
});

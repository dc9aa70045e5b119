import { describe, expect, it } from 'vitest';
import { type Candidate, launchOrder, scaleInChoice } from './choose.ts';

const places = ['a', 'b', 'c'].map((zone) => ({ zone, subnetId: `subnet-${zone}` }));

describe('the zone of the next instance', () => {
  it.each([
    ['nothing runs', '', 'abc'],
    ['one zone has one', 'a', 'bca'],
    ['two zones have one', 'ab', 'cab'],
    ['one zone is ahead', 'aab', 'cba'],
    ['all are level', 'abc', 'abc'],
  ])('when %s: members in "%s" give the order "%s"', (_, members, order) => {
    const zones = launchOrder(places, [...members]).map((place) => place.zone);
    expect(zones.join('')).toBe(order);
  });
});

const aMember = (instanceId: string, overrides: Partial<Candidate> = {}): Candidate => ({
  instanceId,
  zone: 'a',
  isProtected: false,
  joinedAt: 0,
  templateVersion: 1,
  health: 'Healthy',
  ...overrides,
});

describe('the instance that goes at scale-in', () => {
  const cases: readonly (readonly [string, readonly Candidate[], string | undefined])[] = [
    ['none is there', [], undefined],
    ['all are protected', [aMember('i1', { isProtected: true })], undefined],
    [
      'one zone has more: from that zone',
      [aMember('i1', { zone: 'b' }), aMember('i2'), aMember('i3', { joinedAt: 5 })],
      'i2',
    ],
    [
      'zones are level: the oldest template',
      [aMember('i1', { templateVersion: 2 }), aMember('i2', { zone: 'b', joinedAt: 9 })],
      'i2',
    ],
    [
      'templates are equal: the longest there',
      [aMember('i1', { joinedAt: 9 }), aMember('i2', { joinedAt: 3 })],
      'i2',
    ],
    [
      'one is unhealthy: that one, wherever it is',
      [aMember('i1'), aMember('i2'), aMember('i3', { zone: 'b', health: 'Unhealthy' })],
      'i3',
    ],
    [
      'the crowded zone is protected: from another',
      [
        aMember('i1', { isProtected: true }),
        aMember('i2', { isProtected: true }),
        aMember('i3', { zone: 'b' }),
      ],
      'i3',
    ],
  ];
  it.each(cases)('when %s', (_, members, expected) => {
    expect(scaleInChoice(members)?.instanceId).toBe(expected);
  });
});

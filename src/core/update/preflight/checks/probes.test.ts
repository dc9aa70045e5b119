// Each case is a health probe and its state, and the finding that target-configuration reports.
import { expect, it } from 'vitest';
import { aGroup, findingsOf } from '../../../../../test/builders/core-update-preflight.ts';
import type { Probe } from '../../../../api/update-pacing.ts';
import type { Snapshot } from '../snapshot.ts';
import { targetConfiguration } from './target-configuration.ts';

const url = 'http://web.shop.svc';
const withProbe = (
  state: 'gone' | 'failing' | 'unknown',
  probe: Partial<Probe> = {},
): Partial<Snapshot> => ({
  group: aGroup({ updateConfig: { probes: [{ name: 'web', http: { url }, ...probe }] } }),
  probes: [
    { name: 'web', object: { kind: 'Service', name: 'shop/web' }, state, message: 'there is none' },
  ],
});

it.each([
  ['gone', {}, 'blocker', 3, /^probe web cannot pass: there is none; no node is begun before/],
  [
    'gone',
    { onFailure: 'Fail', failureThreshold: 5, intervalSeconds: 60 },
    'blocker',
    7,
    /HealthProbeFailed, after 5 failures in a row$/,
  ],
  ['failing', {}, 'warning', 3, /^probe web does not pass now: .* no node is begun before/],
  ['unknown', {}, 'notChecked', undefined, /^not checked: there is none$/],
] as const)('%s with %j is a %s at minute %s', (state, probe, severity, minute, words) => {
  const [found, ...others] = findingsOf(targetConfiguration, withProbe(state, probe));
  expect(others).toEqual([]);
  expect([found?.severity, found?.consequence.minute]).toEqual([severity, minute]);
  expect(found?.consequence.text).toMatch(words);
  expect(found?.object).toEqual({ kind: 'Service', name: 'shop/web' });
  expect(found?.remedy).toMatch(/kubectl edit ng ng {3}# spec.updateConfig.probes/);
});

it('tells what makes an unknown one known', () => {
  const fact = { name: 'web', object: { kind: 'Service', name: 'shop/web' }, message: 'hidden' };
  const probes = [{ ...fact, state: 'unknown', remedy: 'let it be read' }] as const;
  const [found] = findingsOf(targetConfiguration, { ...withProbe('unknown'), probes });
  expect(found?.remedy).toBe('let it be read');
});

it('what may not be read is told, and no check of probes passes for it', () => {
  const found = findingsOf(targetConfiguration, { unread: { probes: 'forbidden' } });
  expect(found.map(({ severity, consequence }) => [severity, consequence.text])).toEqual([
    ['notChecked', 'not checked: forbidden'],
  ]);
});

it('where no node is old no one looks', () => {
  expect(findingsOf(targetConfiguration, { ...withProbe('gone'), nodes: [] })).toEqual([]);
});

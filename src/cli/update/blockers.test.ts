// What `drover update` warns of before it records an update: its plan's blockers, a line each.
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import type { Finding } from '../../core/update/preflight/index.ts';
import type { Sources } from '../plan/snapshot.ts';
import { blockerLines, warningsBefore } from './blockers.ts';

const finding = (name: string, more: Partial<Finding> = {}): Finding => ({
  check: 'budget-never-allows',
  severity: 'blocker',
  object: { kind: 'PodDisruptionBudget', name },
  evidence: {},
  consequence: { text: 'allows no eviction' },
  remedy: 'raise maxUnavailable',
  ...more,
});

describe('the blockers of an update that is asked for', () => {
  it('are reported with object, consequence, remedy and check; warnings and waived ones are not', () => {
    const findings = [
      finding('demo/web'),
      finding('demo/a', { severity: 'warning' }),
      { ...finding('demo/b'), waived: { by: 'me', reason: 'fine' } },
    ];
    expect(blockerLines({ findings } as never, 'ng')).toEqual([
      'PodDisruptionBudget demo/web: allows no eviction; remedy: raise maxUnavailable (budget-never-allows)',
    ]);
  });

  it('are counted where there are many', () => {
    const findings = Array.from({ length: 8 }, (_, i) => finding(`demo/${i}`));
    const lines = blockerLines({ findings } as never, 'ng');
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toBe('and 3 more: `drover plan update ng` lists all');
  });

  it('that cannot be looked at hold up nothing', async () => {
    const sources = { kube: new FakeKube(new VirtualClock()) } as unknown as Sources;
    const asked = { version: undefined, releaseVersion: undefined, templateVersion: undefined };
    const intended = { name: 'ng', asked, strategy: undefined, policies: undefined, force: false };
    expect(await warningsBefore(sources, intended)).toEqual([
      expect.stringMatching(/^what would stop this update was not checked: /),
    ]);
  });
});

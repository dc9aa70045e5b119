// docs/health matches the agent's catalogue: one page for each reason, and no other.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { healthDirectory, healthPages } from '../../scripts/print-health.ts';
import { catalogue, rulesInForce } from '../../src/agent/index.ts';

describe('docs/health', () => {
  it('is what `node scripts/print-health.ts` prints', () => {
    const pages = healthPages();
    expect(readdirSync(healthDirectory).sort()).toEqual([...pages.keys()].sort());
    for (const [name, text] of pages) {
      expect(readFileSync(join(healthDirectory, name), 'utf8'), name).toBe(text);
    }
  });

  it('says of no rule that a real fault shows it, unless the story of real faults names it', () => {
    const story = ['../e2e/agent-host.e2e.ts', '../support/agent-faults.ts']
      .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
      .join('\n');
    const claimed = catalogue.filter(({ text }) => text.proof === 'fault');
    expect(claimed.length).toBeGreaterThan(15);
    expect(claimed.filter(({ reason }) => !story.includes(reason))).toEqual([]);
  });

  it('shows a rules file that is right', () => {
    const readme = healthPages().get('README.md') ?? '';
    const file = /```json\n([\s\S]*?)```/.exec(readme)?.[1];
    const { rules, fault } = rulesInForce(file);
    expect(fault).toBeUndefined();
    expect(rules).toHaveLength(catalogue.length);
    expect(rules.at(-1)?.reason).toBe('MyDriverReset');
  });
});

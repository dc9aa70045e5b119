// The agent's metrics in the text that Prometheus reads, checked by promtool where it is installed.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { epochMs } from '../api/brand.ts';
import type { ConditionState } from './engine/index.ts';
import { AgentMetrics } from './metrics.ts';

const condition = (
  type: ConditionState['type'],
  status: ConditionState['status'],
): readonly [ConditionState['type'], ConditionState] => [
  type,
  {
    type,
    status,
    reason: 'R',
    message: 'm',
    since: epochMs(0),
  },
];

it('the text has conditions, findings and reports, and a series for at most 500 reasons', async () => {
  const startedAtSeconds = 1_767_225_600;
  const metrics = new AgentMetrics({ version: '1', startedAtSeconds, residentBytes: () => 5 });
  metrics.watch(() => ({
    conditions: new Map([condition('KernelReady', 'True'), condition('StorageReady', 'False')]),
    unreadable: ['journal: no such file'],
  }));
  metrics.found('StorageReady', 'say "x"\\');
  for (let index = 0; index < 600; index++) metrics.found('KernelReady', `Reason${index}`);
  metrics.reported('sent');
  const { text } = await metrics.read();
  for (const line of [
    'drover_agent_condition{condition="KernelReady"} 1',
    'drover_agent_condition{condition="StorageReady"} 0',
    'drover_agent_findings_total{condition="StorageReady",reason="say \\"x\\"\\\\"} 1',
    'drover_agent_findings_total{condition="KernelReady",reason="other"} 101',
    'drover_agent_reports_total{result="sent"} 1',
    'drover_agent_reports_total{result="failed"} 0',
    'drover_agent_logs_unreadable 1',
    'process_resident_memory_bytes 5',
  ]) {
    expect(text).toContain(`\n${line}\n`);
  }
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: text });
  if (checked.error === undefined) expect(checked.stderr.toString()).toBe('');
});

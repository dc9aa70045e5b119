// The metrics of the node agent, in the text format of Prometheus. Rendered here: a library for it
// would cost the agent a tenth of its memory. Counts what the agent found and wrote; decides
// nothing.
import type { ConditionState } from './engine/index.ts';
import type { ConditionType } from './rules/rule.ts';

interface AgentMetricRow {
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly labels: readonly string[];
}

/** docs/metrics.md is generated from this table, too. */
export const agentMetricTable = {
  drover_agent_condition: {
    type: 'gauge',
    help: "The Node's condition as the agent knows it: 1 True, 0 False.",
    labels: ['condition'],
  },
  drover_agent_findings_total: {
    type: 'counter',
    help: 'Findings by their reason: those that turn a condition False, and Events.',
    labels: ['condition', 'reason'],
  },
  drover_agent_reports_total: {
    type: 'counter',
    help: 'Writes of the conditions to the Node: sent, failed, gone (no such Node).',
    labels: ['result'],
  },
  drover_agent_logs_unreadable: {
    type: 'gauge',
    help: 'Logs of the node that cannot be read: kernel log, journal.',
    labels: [],
  },
  drover_build_info: { type: 'gauge', help: 'Always 1.', labels: ['version'] },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'Start of the process, seconds since 1970.',
    labels: [],
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of the process.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, AgentMetricRow>>;
type Name = keyof typeof agentMetricTable;

export interface AgentState {
  readonly conditions: ReadonlyMap<ConditionType, ConditionState>;
  readonly unreadable: readonly string[];
}

export interface AgentProcess {
  readonly version: string;
  readonly startedAtSeconds: number;
  /** Read at each scrape. */
  readonly residentBytes: () => number;
}

/** A rules file may name any number of reasons; those beyond this limit share one series. */
const maxSeries = 500;

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const labelsText = (names: readonly string[], values: readonly string[]): string =>
  names.length === 0
    ? ''
    : `{${names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`).join(',')}}`;

export class AgentMetrics {
  readonly #process: AgentProcess;
  readonly #findings = new Map<string, number>();
  readonly #reports = new Map<string, number>([
    ['sent', 0],
    ['failed', 0],
    ['gone', 0],
  ]);
  #state: () => AgentState = () => ({ conditions: new Map(), unreadable: [] });

  constructor(process: AgentProcess) {
    this.#process = process;
  }

  /** Sets the source from which each scrape reads the gauges. */
  watch(state: () => AgentState): void {
    this.#state = state;
  }
  found(condition: string, reason: string): void {
    const key = JSON.stringify([condition, reason]);
    const isKnown = this.#findings.has(key) || this.#findings.size < maxSeries;
    const counted = isKnown ? key : JSON.stringify([condition, 'other']);
    this.#findings.set(counted, (this.#findings.get(counted) ?? 0) + 1);
  }
  reported(result: 'sent' | 'failed' | 'gone'): void {
    this.#reports.set(result, (this.#reports.get(result) ?? 0) + 1);
  }

  async read(): Promise<{ readonly contentType: string; readonly text: string }> {
    const { version, startedAtSeconds, residentBytes } = this.#process;
    const { conditions, unreadable } = this.#state();
    const values: Readonly<Record<Name, readonly (readonly [readonly string[], number])[]>> = {
      drover_agent_condition: [...conditions].map(([condition, { status }]) => [
        [condition],
        status === 'True' ? 1 : 0,
      ]),
      drover_agent_findings_total: [...this.#findings].map(([key, count]) => [
        JSON.parse(key) as readonly string[],
        count,
      ]),
      drover_agent_reports_total: [...this.#reports].map(([result, count]) => [[result], count]),
      drover_agent_logs_unreadable: [[[], unreadable.length]],
      drover_build_info: [[[version], 1]],
      process_start_time_seconds: [[[], startedAtSeconds]],
      process_resident_memory_bytes: [[[], residentBytes()]],
    };
    const lines = (Object.keys(agentMetricTable) as Name[]).flatMap((name) => {
      const { type, help, labels }: AgentMetricRow = agentMetricTable[name];
      return [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...values[name].map(([known, value]) => `${name}${labelsText(labels, known)} ${value}`),
      ];
    });
    return {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      text: `${lines.join('\n')}\n`,
    };
  }
}

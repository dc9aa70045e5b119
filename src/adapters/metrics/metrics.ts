// The Metrics port on prom-client: one registry per process, in the exposition format of
// Prometheus. Registers every row of the table, so that a metric exists before its first value.
// Decides nothing about what is counted.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type MetricName, type MetricRow, type Metrics, metricTable } from '../../ports/index.ts';

export interface ReadableMetrics extends Metrics {
  /** Text of a scrape; samples the gauges first. */
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
}

type Labels = Readonly<Record<string, string>>;

/** Bounds label values from open sets, such as error texts. */
const longestValue = 64;
/** Replaces a value outside of a closed set. */
const other = 'other';

const bounded = (name: MetricName, labels: Labels): Record<string, string> => {
  const { labels: sets }: MetricRow = metricTable[name];
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => {
      const set = sets[label];
      if (typeof set !== 'object') return [label, value.slice(0, longestValue)];
      return [label, set.includes(value) ? value : other];
    }),
  );
};

/** Every combination of labels if all their sets are closed; otherwise none. */
const combinations = ({ labels }: MetricRow): readonly Labels[] => {
  const sets = Object.entries(labels);
  return sets.reduce<readonly Labels[]>(
    (known, [label, values]) => {
      if (typeof values === 'string') return [];
      return known.flatMap((one) => values.map((value) => ({ ...one, [label]: value })));
    },
    [{}],
  );
};

const rowsOf = (table: Readonly<Record<string, MetricRow>>, type: MetricRow['type']) =>
  Object.entries(table)
    .filter(([, row]) => row.type === type)
    .map(([name, row]) => ({ name, help: row.help, row, labelNames: Object.keys(row.labels) }));

/** Gauges of prom-client with the suffix of a counter, which promtool refuses. */
const misnamed = ['handles', 'requests', 'resources'].map((of) => `nodejs_active_${of}_total`);

const found = <T>(map: ReadonlyMap<string, T>, name: string): T => {
  const one = map.get(name);
  if (one === undefined) throw new Error(`${name} is not in the table of metrics`);
  return one;
};

export const createMetrics = (options: { readonly version: string }): ReadableMetrics => {
  const registry = new Registry();
  const registers = [registry];
  const counters = new Map(
    rowsOf(metricTable, 'counter').map(({ name, help, labelNames }) => [
      name,
      new Counter({ name, help, labelNames, registers }),
    ]),
  );
  const gauges = new Map(
    rowsOf(metricTable, 'gauge').map(({ name, help, labelNames }) => [
      name,
      new Gauge({ name, help, labelNames, registers }),
    ]),
  );
  const histograms = new Map(
    rowsOf(metricTable, 'histogram').map(({ name, help, labelNames, row }) => [
      name,
      new Histogram({ name, help, labelNames, registers, buckets: [...(row.buckets ?? [])] }),
    ]),
  );
  // Counters start at 0: a series that starts at 1 shows no increase, so no alert would fire for
  // it.
  for (const { name, row } of rowsOf(metricTable, 'counter')) {
    for (const labels of combinations(row)) found(counters, name).inc(labels, 0);
  }
  const samples = new Set<() => void>();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  found(gauges, 'drover_build_info').set({ version: options.version }, 1);
  return {
    add: (name, labels) => found(counters, name).inc(bounded(name, labels)),
    observe: (name, labels, seconds) =>
      found(histograms, name).observe(bounded(name, labels), seconds),
    set: (name, labels, value) => found(gauges, name).set(bounded(name, labels), value),
    reset: (name) => found(gauges, name).reset(),
    onRead: (sample) => {
      samples.add(sample);
      return () => samples.delete(sample);
    },
    read: async () => {
      for (const sample of samples) sample();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
};

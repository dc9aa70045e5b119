// Public entry of the metrics adapter.
export { createMetrics, type ReadableMetrics } from './metrics.ts';

// Public entry of the disruption controller.
export { createDisruptionController } from './controller.ts';
export type { DisruptionDeps } from './deps.ts';
export { disruptionCounters, sampleDrains } from './metrics.ts';
export { endSurges } from './open-surges.ts';

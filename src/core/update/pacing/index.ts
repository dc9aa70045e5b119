// Public entry of pacing: when a step of an update may begin.

export { isHeld, withHolds } from './held.ts';
export { startHolds, stepHolds, wrongApprovals } from './holds.ts';
export { type Outlook, outlookOf } from './outlook.ts';
export { nextProbeAt, pace, restsInWave, soakEnd } from './pace.ts';
export { type Conditioned, conditionComplaint, probedPlace } from './probed.ts';
export { defaultFailureThreshold, defaultIntervalSeconds } from './probes.ts';

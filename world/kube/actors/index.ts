// Public entry of what the world's actors share: work queues, views of objects, selectors,
// identities, events.

export { EventMemory, EventRecorder } from './events.ts';
export {
  clientFor,
  cloudControllerIdentity,
  clusterIdentity,
  controllerIdentity,
  type Identity,
  kubeletIdentity,
  schedulerIdentity,
} from './identities.ts';
export type { Latency, LatencyName } from './latencies.ts';
export {
  conditionOf,
  controllerOf,
  countsTheSame,
  isActive,
  isFinished,
  isNamespaceEnding,
  isReady,
  isTerminating,
  keyOf,
  lostController,
  nameOfKey,
  resources,
  scaled,
  withCondition,
  withStatus,
} from './objects.ts';
export { amount, milliCpu } from './quantity.ts';
export { SelectorIndex } from './selector-index.ts';
export { hasAll, nodeTermsMatch, tolerates, untolerated } from './selectors.ts';
export { kubeMicroTime, kubeTime, microsOf } from './time.ts';
export * from './types.ts';
export * from './types-volumes.ts';
export * from './types-workloads.ts';
export { attacherOf, attachmentName, claimsOf, selectedNodeAnnotation } from './volumes.ts';
export { type Outcome, Ticker, Worker } from './worker.ts';

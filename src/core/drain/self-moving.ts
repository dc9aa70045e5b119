// Applications that move themselves when an eviction of their pods is requested: which pods they
// are, how often a request is sent, and what an admission webhook answered. Sends nothing.
//
// Strimzi's Drain Cleaner and KubeVirt's virt-api deny pods/eviction in a validating webhook and
// then restart or migrate the pod; others watch requests behind a budget of 0.
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../../api/brand.ts';
import type { LabelSelector, Pod } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { selectorMatches } from '../../api/selectors.ts';
import type { Failure } from './ledger.ts';

export interface SelfMoving {
  /** Selects further pods, in every namespace. */
  readonly podSelector?: LabelSelector;
  /** Time from a refused request to the next one for the same pod. */
  readonly requestEveryMs: DurationMs;
}

/** `true` and `false` on a pod outrank the group's selector and the known labels. */
const annotation = 'drover.dev/moves-itself';
/** Strimzi's label of brokers, and KubeVirt's of the pods that run virtual machines. */
const knownLabels: readonly (readonly [string, string])[] = [
  ['strimzi.io/kind', 'Kafka'],
  ['kubevirt.io', 'virt-launcher'],
];
/** A live migration takes about a minute; the operator needs no second request before that. */
const defaultRequestEveryMs = durationMs(60_000);

export const selfMovingOf = (group: NodeGroup | undefined): SelfMoving => {
  const { podSelector, requestEverySeconds } = group?.spec.drain?.selfMoving ?? {};
  const requestEveryMs =
    requestEverySeconds === undefined
      ? defaultRequestEveryMs
      : durationMs(requestEverySeconds * 1000);
  return podSelector === undefined ? { requestEveryMs } : { podSelector, requestEveryMs };
};

const isSelected = (pod: Pod, { podSelector }: SelfMoving): boolean =>
  podSelector !== undefined && selectorMatches(podSelector, pod.metadata.labels ?? {});

/** Whether an eviction request is a signal to the pod's application. */
export const movesItself = (pod: Pod, rule: SelfMoving): boolean => {
  const { annotations = {}, labels = {} } = pod.metadata;
  const stated = annotations[annotation];
  if (stated === 'true' || stated === 'false') return stated === 'true';
  return isSelected(pod, rule) || knownLabels.some(([key, value]) => labels[key] === value);
};

export interface Denial {
  readonly webhook: string;
  /** The webhook's own message; empty where it gave none. */
  readonly message: string;
}

/** The API server's words for a webhook that denies (apiserver, `ToStatusErr`). */
const denied = /admission webhook "([^"]+)" denied the request(?:: ([\s\S]*))?/;

/** A denial by an admission webhook. A webhook that could not be called denies nothing. */
export const denialOf = ({ message }: Pick<Failure, 'message'>): Denial | undefined => {
  const found = denied.exec(message);
  return found?.[1] === undefined
    ? undefined
    : { webhook: found[1], message: (found[2] ?? '').trim() };
};

/** Refusals that answer a request; after any other failure the request may not have arrived. */
const refusals: ReadonlySet<string> = new Set(['DisruptionBudget', 'MultipleBudgets']);

/** When the next request is due; undefined where the failure is no answer to a request. */
export const requestAgainAt = (
  failure: Failure,
  isKnown: boolean,
  { requestEveryMs }: SelfMoving,
): EpochMs | undefined => {
  const isAnswer =
    failure.how === 'evict' &&
    (denialOf(failure) !== undefined || (isKnown && refusals.has(failure.code)));
  return isAnswer
    ? epochMs(failure.at + Math.max(requestEveryMs, failure.retryAfterMs))
    : undefined;
};

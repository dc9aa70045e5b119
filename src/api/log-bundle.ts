// The log bundle before a repair: how the repair controller asks a node's agent for it, and how the
// agent answers. The request is an annotation of the Node, the answer a condition: an agent may
// write nothing else on its Node. Decides nothing.
import type { Condition } from './kube.ts';

/**
 * Annotation that requests a bundle: the id of the repair's attempt. The controller sets and
 * removes it.
 */
export const bundleAnnotation = 'drover.dev/log-bundle-for';

/** Condition written by the agent. True: collected; False: not collected. It leads to no repair. */
export const bundleCondition = 'LogBundleCollected';

export interface BundleAnswer {
  readonly isCollected: boolean;
  /** Where the bundle is, or why there is none. */
  readonly message: string;
}

/** The API server accepts longer messages; the NodeRepair does not. */
const maxMessage = 400;

/** The condition that answers `request`, without its times. */
export const bundleAnswer = (
  request: string,
  { isCollected, message }: BundleAnswer,
): Pick<Condition, 'type' | 'status' | 'reason' | 'message'> => ({
  type: bundleCondition,
  status: isCollected ? 'True' : 'False',
  reason: isCollected ? 'Collected' : 'NotCollected',
  message: `${request}: ${message.slice(0, maxMessage)}`,
});

/** Undefined: the agent has not answered this request. */
export const bundleAnswerOf = (
  conditions: readonly Condition[] | undefined,
  request: string,
): BundleAnswer | undefined => {
  const { status, message = '' } = conditions?.find(({ type }) => type === bundleCondition) ?? {};
  const start = `${request}: `;
  if (!message.startsWith(start)) return undefined;
  return {
    isCollected: status === 'True',
    message: message.slice(start.length, start.length + maxMessage),
  };
};

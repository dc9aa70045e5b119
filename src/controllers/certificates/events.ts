// Reports of the approver: a journal entry for each approval, and a Kubernetes event on a request
// that is left pending, once per reason. A failed event write delays nothing.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { WaitingReason } from '../../core/identity/index.ts';
import { type Journal, type KubeApi, KubeError, type Log } from '../../ports/index.ts';
import type { SigningRequest } from './requests.ts';

/** Events of cluster-scoped objects are in this namespace; kubectl searches all. */
const namespace = 'default';
/** The API server refuses longer messages (core/v1 Event, 1024 characters). */
const maxMessage = 1000;

export interface Waiting {
  readonly reason: WaitingReason;
  readonly message: string;
}

export const journalApproval = (journal: Journal, csr: SigningRequest, message: string): void =>
  journal.record({ type: 'certificate:approved', subject: csr.metadata.name, facts: { message } });

const eventOf = (csr: SigningRequest, waiting: Waiting, now: EpochMs): JsonObject => {
  const { name, uid } = csr.metadata;
  const at = formatKubeTime(now);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // The name includes the reason, so a restart does not repeat the event.
    metadata: { name: `${name}.${uid}.${waiting.reason.toLowerCase()}`.slice(-253), namespace },
    involvedObject: { apiVersion: csr.apiVersion, kind: csr.kind, name, uid },
    reason: `NotApproved${waiting.reason}`,
    message: `left pending: ${waiting.message}`.slice(0, maxMessage),
    type: 'Warning',
    source: { component: 'drover' },
    reportingComponent: 'drover.dev/certificates',
    reportingInstance: 'drover',
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
};

export const tellWaiting = async (
  { kube, log }: { readonly kube: KubeApi; readonly log: Log },
  csr: SigningRequest,
  told: { readonly waiting: Waiting; readonly now: EpochMs; readonly signal: AbortSignal },
): Promise<void> => {
  const { waiting, now, signal } = told;
  try {
    await kube.create(resourceTypes.events, eventOf(csr, waiting, now), { namespace, signal });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.code === 'AlreadyExists') return;
    const facts = { request: csr.metadata.name, reason: waiting.reason, error: error.message };
    log.warn('event not written', facts);
  }
};

// Which faults make a kubelet fall silent, and when. Switches nothing off itself.
import type { FaultKind, Faults } from '../../faults/index.ts';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';

/** aws-iam-authenticator's tokens are renewed after 14 minutes, which needs credentials. */
const tokenLifeMicros = 14 * 60 * microsPerSecond;

/** From the injection of the fault until the kubelet is silent. */
const silentAfter: Readonly<Partial<Record<FaultKind, Micros>>> = {
  'kubelet-stop': 0,
  'instance-death': 0,
  // The instance metadata service gives the kubelet its credentials.
  'iptables-drop': tokenLifeMicros,
};

/** Whether a fault is on that silences some kubelet, by now or later. */
export const anySilences = (faults: Faults): boolean =>
  faults.list().some(({ kind }) => Object.hasOwn(silentAfter, kind));

export const isSilenced = (
  faults: Faults,
  place: Parameters<Faults['activeSince']>[1],
  now: Micros,
): boolean =>
  Object.entries(silentAfter).some(([kind, after]) => {
    const since = faults.activeSince(kind as FaultKind, place);
    return since !== undefined && now - since >= after;
  });

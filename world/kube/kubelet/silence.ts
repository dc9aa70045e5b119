// Which faults stop a kubelet from reporting, and when. Switches nothing off itself.
import type { FaultKind, Faults } from '../../faults/index.ts';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';

/** aws-iam-authenticator tokens are renewed after 14 minutes, which needs credentials. */
const tokenLifeMicros = 14 * 60 * microsPerSecond;

/** Delay between the injection of the fault and the kubelet's silence. */
const silentAfter: Readonly<Partial<Record<FaultKind, Micros>>> = {
  'kubelet-stop': 0,
  'instance-death': 0,
  // The kubelet gets its credentials from the instance metadata service.
  'iptables-drop': tokenLifeMicros,
};

/** Whether an active fault silences some kubelet, at once or later. */
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

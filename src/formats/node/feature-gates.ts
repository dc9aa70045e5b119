// Feature gates of the kubelet: the minor that added each and, if removed, the first without it.
// Taken from the sources of 1.25 to 1.36 (see NOTICE); 0: older than these. Outside these minors a
// gate that is missing here may exist and is not reported.
import facts from './facts/feature-gates.json' with { type: 'json' };

const firstRead = 25;
const lastRead = 36;

/**
 * Gates removed before these sources (removed gates on Kubernetes' website), and two that stand for
 * sets of gates.
 */
const others: Readonly<Record<string, readonly number[]>> = {
  AllAlpha: [0],
  AllBeta: [0],
  SupportPodPidsLimit: [10, 23],
  TTLAfterFinished: [12, 25],
};
const gates: Readonly<Record<string, readonly number[]>> = { ...facts, ...others };

export const featureGateNames: readonly string[] = Object.keys(gates);

/**
 * absent: the sources of that minor version have no such gate. unheard-of: its sources were not
 * examined.
 */
export type GateState = 'known' | 'gone' | 'not-yet' | 'absent' | 'unheard-of';

export const gateState = (name: string, minor: number): GateState => {
  const gate = Object.hasOwn(gates, name) ? gates[name] : undefined;
  if (gate === undefined) {
    return minor >= firstRead && minor <= lastRead ? 'absent' : 'unheard-of';
  }
  const [since = 0, gone] = gate;
  if (minor < since) return 'not-yet';
  return gone !== undefined && minor >= gone ? 'gone' : 'known';
};

export const goneIn = (name: string): number | undefined => gates[name]?.[1];

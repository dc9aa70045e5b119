// Kubernetes quantities as integers: thousandths of a core, bytes, counts. Never rounds a request
// down.
import { parseQuantity } from '../../../src/api/quantity.ts';

/** Converts to units of `one` billionths. */
const unitsOf = (quantity: string | number | undefined, one: bigint): number => {
  const nanos = parseQuantity(String(quantity ?? 0))?.nanos ?? 0n;
  return Number(nanos / one) + (nanos % one > 0n ? 1 : 0);
};

/** '25m' -> 25, '2' -> 2000. */
export const milliCpu = (quantity: string | number | undefined): number =>
  unitsOf(quantity, 1_000_000n);

/** '70Mi' -> bytes; also for counts such as pods: '29' -> 29. */
export const amount = (quantity: string | number | undefined): number =>
  unitsOf(quantity, 1_000_000_000n);

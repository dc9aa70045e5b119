// Kubernetes quantities as plain numbers (base units, or thousandths for cpu) and back.
// Never rounds down what is asked for.

const factors: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

const parse = (text: string): { readonly number: number; readonly suffix: string } => {
  const match = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)$/.exec(text.trim());
  return match === null
    ? { number: 0, suffix: '' }
    : { number: Number(match[1]), suffix: match[2] ?? '' };
};

/** '25m' -> 25, '2' -> 2000. */
export const milliCpu = (quantity: string | number | undefined): number => {
  if (quantity === undefined) return 0;
  const { number, suffix } = parse(String(quantity));
  return suffix === 'm' ? Math.ceil(number) : Math.ceil(number * 1000 * (factors[suffix] ?? 1));
};

/** '70Mi' -> bytes; also for counts such as pods: '29' -> 29. */
export const amount = (quantity: string | number | undefined): number => {
  if (quantity === undefined) return 0;
  const { number, suffix } = parse(String(quantity));
  return Math.ceil(number * (factors[suffix] ?? 1));
};

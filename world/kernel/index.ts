// Public entry of the world kernel.
export {
  type Actor,
  Kernel,
  type Micros,
  microsPerMs,
  microsPerSecond,
  type WorldEvent,
} from './kernel.ts';
export { hexString, nameSuffix, SeededRandom, uuid } from './random.ts';
export { Table, Tables } from './tables.ts';

// The machine's random source, which outsiders cannot predict.
import { randomBytes } from 'node:crypto';
import type { Random } from '../ports/index.ts';

const next = (): number => randomBytes(4).readUInt32LE() / 0x1_0000_0000;

export const machineRandom: Random = { next, below: (bound) => Math.floor(next() * bound) };

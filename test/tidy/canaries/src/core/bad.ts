// Canary: core must not reach for a clock, a package or another room.
import { readFileSync } from 'node:fs';
import pino from 'pino';
import { Kernel } from '../../world/kernel/index.ts';

export const x = [readFileSync, pino, Kernel, Date.now()];

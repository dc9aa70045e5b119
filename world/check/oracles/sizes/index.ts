// The oracles about sizes of groups, in the order of docs/designs/oracles.md.
import type { Oracle } from '../../oracle.ts';
import { bounds } from './bounds.ts';
import { following } from './following.ts';
import { growth } from './growth.ts';
import { shrinking } from './shrinking.ts';

export const sizes: readonly Oracle[] = [bounds, growth, shrinking, following];

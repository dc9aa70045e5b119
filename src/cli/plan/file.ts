// A plan on disk: what `plan update --out` writes and `update nodegroup --plan` reads. Says of a file that
// is no plan why; never repairs one.
import type { UpdatePlan } from '../../core/update/plan/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import type { PlanRequest } from './snapshot.ts';

/** The plan, and what was asked for when it was made. */
export interface PlanFile extends UpdatePlan {
  readonly request: PlanRequest;
}

export const printPlan = (plan: PlanFile): string => `${JSON.stringify(plan, null, 2)}\n`;

const isPlan = (value: unknown): value is PlanFile =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  value.kind === 'UpdatePlan' &&
  'version' in value &&
  value.version === 1 &&
  'hash' in value &&
  typeof value.hash === 'string' &&
  'request' in value &&
  typeof value.request === 'object';

/** Throws CommandError naming the file. */
export const parsePlan = (path: string, text: string): PlanFile => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isPlan(value)) return value;
  throw new CommandError(
    exitCodes.usage,
    `${path} is no plan of this version: \`drover plan update NODEGROUP --out ${path}\` writes one`,
  );
};

// A plan on disk: written by `plan update --out`, read by `update nodegroup --plan`. Explains why a
// file is not a plan; never repairs one.
import { isObject, type Json } from '../../api/json.ts';
import type { UpdatePlan } from '../../core/update/plan/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import type { PlanRequest } from './snapshot.ts';

/** The plan, and the request that it was made for. */
export interface PlanFile extends UpdatePlan {
  readonly request: PlanRequest;
}

export const printPlan = (plan: PlanFile): string => `${JSON.stringify(plan, null, 2)}\n`;

const planVersion = 1;

const isText = (value: Json | undefined): boolean => typeof value === 'string' && value !== '';
const isCount = (value: Json | undefined): boolean => typeof value === 'number' && value >= 0;
const verdicts: readonly (Json | undefined)[] = ['ready', 'blocked', 'upToDate'];

/** The members that an update by the plan needs; the rest is for readers. */
const members: Readonly<Record<string, (value: Json | undefined) => boolean>> = {
  plannedAt: isText,
  group: isText,
  cluster: isText,
  hash: isText,
  managedBy: (value) => value === 'drover' || value === 'eks',
  verdict: (value) => verdicts.includes(value),
  basis: (value) =>
    isObject(value) &&
    ['settings', 'nodes', 'pods', 'budgets'].every((part) => isText(value[part])),
  minutes: (value) => isObject(value) && isCount(value.p50) && isCount(value.p90),
  to: isObject,
  request: (value) => isObject(value) && typeof value.force === 'boolean',
  findings: (value) =>
    Array.isArray(value) && value.every((one: Json) => isObject(one) && isText(one.check)),
  waivers: (value) =>
    Array.isArray(value) && value.every((one: Json) => isObject(one) && isText(one.check)),
};

/** Why the text is not a plan; undefined: it is one. */
const complaint = (value: Json | undefined): string | undefined => {
  if (value === undefined) return 'it is no JSON';
  if (!isObject(value) || value.kind !== 'UpdatePlan') return 'it has no kind UpdatePlan';
  if (value.version !== planVersion) {
    return (
      `its version is ${JSON.stringify(value.version) ?? 'missing'}, and this drover reads ` +
      `${planVersion}`
    );
  }
  const wrong = Object.entries(members).find(([name, fits]) => !fits(value[name]));
  return wrong === undefined ? undefined : `its member ${wrong[0]} is missing or of another form`;
};

/** Throws CommandError naming the file and the error in it. */
export const parsePlan = (path: string, text: string): PlanFile => {
  let value: Json | undefined;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    value = undefined;
  }
  const wrong = complaint(value);
  if (wrong === undefined) return value as unknown as PlanFile;
  throw new CommandError(
    exitCodes.usage,
    `${path} is no plan: ${wrong}. \`drover plan update NODEGROUP --out ${path}\` writes one`,
  );
};

// Public entry of bootstrap decisions: lint and its catalogue, explain, diff, a group's user data.
export {
  type Difference,
  diffUserData,
  type Explanation,
  explainField,
  fieldsOf,
  type Replacement,
} from './explain.ts';
export { type GroupUserData, groupUserData } from './group-user-data.ts';
export {
  digestText,
  type InitPlan,
  type InitStep,
  markPath,
  type PresentFile,
  pathsOfMark,
  planInit,
} from './init.ts';
export {
  type InitImage,
  initFiles,
  initProblems,
  servicesLookedFor,
  servicesOf,
  unitDirectories,
  vendorDropIns,
} from './init-files.ts';
export { type Finding, hasErrors, type LintResult, lint } from './lint.ts';
export type { Rule, Sample } from './rule.ts';
export { rules } from './rules/index.ts';
export type { Setting } from './settings.ts';

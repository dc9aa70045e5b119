// Public entry of bootstrap decisions: lint and its catalogue.
export { type Finding, hasErrors, type LintResult, lint } from './lint.ts';
export { defaultLintOptions, type LintOptions } from './options.ts';
export type { Rule, Sample } from './rule.ts';
export { rules } from './rules/index.ts';

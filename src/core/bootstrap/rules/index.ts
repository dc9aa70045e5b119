// The catalogue: every rule on user data, by id.
import type { Rule } from '../rule.ts';
import { containerRules } from './container.ts';
import { kubeletRules } from './kubelet.ts';
import { nodeRules } from './node.ts';
import { scriptRules } from './scripts.ts';

export const rules: readonly Rule[] = [
  ...containerRules,
  ...scriptRules,
  ...nodeRules,
  ...kubeletRules,
].toSorted((a, b) => (a.id < b.id ? -1 : 1));

const byId = new Map(rules.map((rule) => [rule.id, rule]));

export const ruleOf = (id: string): Rule | undefined => byId.get(id);

// All built-in rules of the agent. A node's rules file changes and extends them.
import { acceleratorRules } from './accelerators.ts';
import { agentRules } from './agent.ts';
import { kernelRules } from './kernel.ts';
import { kernelCheckRules } from './kernel-checks.ts';
import { networkingRules } from './networking.ts';
import type { HealthRule } from './rule.ts';
import { runtimeRules } from './runtime.ts';
import { storageRules } from './storage.ts';

export const catalogue: readonly HealthRule[] = [
  ...kernelRules,
  ...kernelCheckRules,
  ...storageRules,
  ...networkingRules,
  ...runtimeRules,
  ...acceleratorRules,
  ...agentRules,
];

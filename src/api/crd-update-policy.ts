// The schema of what an update does when a step does not succeed: exactly the types of
// update-policy.ts, and the rules by which the API server refuses contradictions.
import { boolean, count, object, oneOf, positive, type Schema } from './crd-schema.ts';
import {
  drainTimeoutPolicies,
  maxCooldownSeconds,
  maxDrainSeconds,
  maxQuarantinedNodes,
  maxSoakSeconds,
  shortagePolicies,
} from './update-policy.ts';

const drain: Schema = {
  ...object({
    timeoutSeconds: { ...positive, maximum: maxDrainSeconds },
    cooldownSeconds: { ...count, maximum: maxCooldownSeconds },
    onTimeout: oneOf(drainTimeoutPolicies),
    forceAfterSeconds: { ...count, maximum: maxDrainSeconds },
  }),
  'x-kubernetes-validations': [
    {
      rule: "!has(self.forceAfterSeconds) || (has(self.onTimeout) && self.onTimeout == 'Force')",
      message: 'forceAfterSeconds goes with onTimeout: Force alone',
    },
  ],
};

export const updatePolicyFields: Readonly<Record<string, Schema>> = {
  drain,
  maxQuarantined: { ...positive, maximum: maxQuarantinedNodes },
  capacity: object({
    onShortage: oneOf(shortagePolicies),
    waitSeconds: { ...count, maximum: maxDrainSeconds },
  }),
  blueGreen: object({
    soakSeconds: { ...count, maximum: maxSoakSeconds },
    batchSoakSeconds: { ...count, maximum: maxSoakSeconds },
  }),
  rollback: object({ auto: boolean, failedNewNodes: { ...positive, maximum: 100 } }, ['auto']),
};

export const updatePolicyRules = [
  {
    rule:
      '!has(self.maxQuarantined) || (has(self.drain) && has(self.drain.onTimeout) && ' +
      "self.drain.onTimeout == 'Quarantine')",
    message: 'maxQuarantined goes with drain.onTimeout: Quarantine alone',
  },
];

const isStrategy = (name: string): string =>
  `(has(self.updateStrategy) && self.updateStrategy == '${name}')`;

/**
 * Each policy needs a strategy that has it: EKS' strategies behave as in EKS, and blue/green has
 * all its new nodes before the first old one is drained.
 */
export const ownStrategyRules = [
  {
    rule:
      `!(has(self.drain) || has(self.rollback) || has(self.hooks)) || ${isStrategy('SURGE')} ` +
      `|| ${isStrategy('BLUE_GREEN')}`,
    message:
      'drain, rollback and hooks are of updateStrategy: SURGE or BLUE_GREEN, which must be ' +
      'set with them',
  },
  {
    rule: `!(has(self.maxQuarantined) || has(self.capacity)) || ${isStrategy('SURGE')}`,
    message:
      'maxQuarantined and capacity are of updateStrategy: SURGE, which must be set with them',
  },
  {
    rule: `!has(self.blueGreen) || ${isStrategy('BLUE_GREEN')}`,
    message: 'blueGreen is of updateStrategy: BLUE_GREEN, which must be set with it',
  },
  {
    rule:
      '!(has(self.drain) && has(self.drain.onTimeout) && self.drain.onTimeout == ' +
      `'Quarantine') || !${isStrategy('BLUE_GREEN')}`,
    message:
      'drain.onTimeout: Quarantine makes no sense with updateStrategy: BLUE_GREEN, which ' +
      'ends with no old node left or with all of them',
  },
];

// The schema of what an update does when a step does not succeed: exactly the types of update-policy.ts, and
// the rules by which the API server refuses what makes no sense.
import { boolean, count, object, oneOf, positive, type Schema } from './crd-schema.ts';
import { drainTimeoutPolicies, maxQuarantinedNodes, shortagePolicies } from './update-policy.ts';

const drain: Schema = {
  ...object({
    timeoutSeconds: { ...positive, maximum: 172_800 },
    cooldownSeconds: { ...count, maximum: 3_600 },
    onTimeout: oneOf(drainTimeoutPolicies),
    forceAfterSeconds: { ...count, maximum: 172_800 },
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
    waitSeconds: { ...count, maximum: 172_800 },
  }),
  rollback: object({ auto: boolean, failedNewNodes: { ...positive, maximum: 100 } }, ['auto']),
};

export const updatePolicyRules = [
  {
    rule: "!has(self.maxQuarantined) || (has(self.drain) && has(self.drain.onTimeout) && self.drain.onTimeout == 'Quarantine')",
    message: 'maxQuarantined goes with drain.onTimeout: Quarantine alone',
  },
];

/** EKS' strategies do as EKS does. */
export const ownStrategyRule = {
  rule: "!(has(self.drain) || has(self.maxQuarantined) || has(self.rollback) || has(self.capacity) || has(self.hooks)) || (has(self.updateStrategy) && self.updateStrategy == 'SURGE')",
  message:
    'drain, maxQuarantined, rollback, capacity and hooks are of updateStrategy: SURGE, which must be set with them',
};

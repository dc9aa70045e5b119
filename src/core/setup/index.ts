// Public entry: what Drover needs in an AWS account, as data. Pure.
export { checkedBesides, controllerActions, controllerPolicy } from './controller-policy.ts';
export {
  eventRules,
  maxQueueName,
  type Place,
  queueArn,
  queuePolicy,
  retentionSeconds,
} from './notices.ts';
export { podIdentityTrust, serviceAccountTrust } from './trust.ts';

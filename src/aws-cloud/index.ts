// Public entry: the cloud's ports over AWS operations, independent of the transport. Pure.
import type { CloudApi } from '../ports/index.ts';
import { accessCalls } from './access.ts';
import { AwsCalls } from './calls.ts';
import { catalogueCalls } from './catalogue.ts';
import { groupCalls } from './groups.ts';
import { hookCalls } from './hooks.ts';
import { instanceCalls } from './instances.ts';
import { loadBalancerCalls } from './load-balancers.ts';
import { profileCalls } from './profiles.ts';
import { queueCalls } from './queue.ts';
import { stackCalls } from './stacks.ts';
import { templateCalls } from './templates.ts';
import type { AwsTransport } from './transport.ts';

export {
  type AwsOperation,
  type AwsService,
  cloudOperations,
  logOperations,
  provisioningOperations,
} from '../api/aws-operations.ts';
export { cloudErrorFrom } from './calls.ts';
export { createLogQueries } from './log-queries.ts';
export { createProvisioning } from './provisioning.ts';
export { type AwsAnswer, AwsRefusal, type AwsTransport } from './transport.ts';

export const createCloudApi = (transport: AwsTransport): CloudApi => {
  const calls = new AwsCalls(transport);
  const groups = groupCalls(calls);
  return {
    ...groups,
    ...hookCalls(calls),
    ...instanceCalls(calls),
    ...loadBalancerCalls(calls),
    ...templateCalls(calls),
    ...profileCalls(calls),
    ...catalogueCalls(calls),
    ...accessCalls(calls),
    ...queueCalls(calls),
    ...stackCalls(calls, groups),
  };
};

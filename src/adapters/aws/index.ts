// Public entry of the AWS adapter: the CloudApi port over the AWS SDK, real or our world's
// endpoint.
import type { CloudApi } from '../../ports/index.ts';
import { accessCalls } from './access.ts';
import { catalogueCalls } from './catalogue.ts';
import { type AwsOptions, createClients } from './clients.ts';
import { groupChanges } from './group-changes.ts';
import { groupCalls } from './groups.ts';
import { profileCalls } from './profiles.ts';
import { queueCalls } from './queue.ts';
import { stackCalls } from './stacks.ts';
import { templateCalls } from './templates.ts';
import { timeCalls } from './time.ts';

export type { AwsOptions } from './clients.ts';
export { createAwsLogQueries } from './log-queries.ts';
export { createAwsProvisioning } from './provisioning.ts';

/** Nothing is imported or connected before the first call. */
export const createAwsCloud = (options: AwsOptions): CloudApi => {
  const clients = createClients(options);
  const groups = groupCalls(clients);
  return {
    ...queueCalls(clients),
    ...timeCalls(clients),
    ...groups,
    ...groupChanges(clients),
    ...templateCalls(clients),
    ...catalogueCalls(clients),
    ...profileCalls(clients),
    ...accessCalls(clients),
    ...stackCalls(clients, groups),
  };
};

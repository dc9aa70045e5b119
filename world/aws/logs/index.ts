// Public entry of CloudWatch Logs: groups and streams of the control plane, events, queries.
import type { KeptLog } from '../../contracts.ts';
import type { Clusters } from '../platform/clusters.ts';
import type { Scope, ServiceHandlers } from '../scope.ts';
import { eventHandlers } from './events.ts';
import { groupHandlers, LogGroups } from './groups.ts';
import { type LogQueries, queryHandlers } from './queries.ts';

export { LogQueries } from './queries.ts';

export const logHandlers = (parts: {
  readonly scope: Scope;
  readonly clusters: Clusters;
  readonly auditLog: KeptLog;
  readonly logQueries: LogQueries;
}): ServiceHandlers => {
  const groups = new LogGroups(parts.scope, parts.clusters);
  return {
    ...groupHandlers(groups, parts.auditLog),
    ...eventHandlers(groups, parts.auditLog),
    ...queryHandlers(groups, parts.logQueries),
  };
};

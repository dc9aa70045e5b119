// CloudWatch's log groups and streams of a cluster's control plane: which there are follows from the
// cluster's logging. What stands in them is not kept here.
import { type AwsInput, optionalFlag, optionalNumber, optionalText } from '../../../wire/index.ts';
import { pageOf } from '../paging.ts';
import type { ClusterRow, Clusters, LogType } from '../platform/clusters.ts';
import { refuse, type Scope, type ServiceHandlers } from '../scope.ts';

/** Streams of each type, as EKS names them (EKS user guide, "control-plane-logs"). */
const streamsOf: Readonly<Record<LogType, readonly string[]>> = {
  api: ['kube-apiserver'],
  audit: ['kube-apiserver-audit'],
  authenticator: ['authenticator'],
  controllerManager: ['kube-controller-manager', 'cloud-controller-manager'],
  scheduler: ['kube-scheduler'],
};

const groupNameOf = (cluster: ClusterRow): string => `/aws/eks/${cluster.name}/cluster`;

/** Streams end in the id of the control plane's host: the same for a cluster's whole life. */
const suffixOf = (cluster: ClusterRow): string => cluster.oidcId.toLowerCase();

export interface LogParts {
  readonly scope: Scope;
  readonly clusters: Clusters;
}

export const logHandlers = ({ scope, clusters }: LogParts): ServiceHandlers => {
  const groups = () => clusters.all().filter((row) => row.logs.length > 0);
  const arnOf = (row: ClusterRow) => scope.arn('logs', `log-group:${groupNameOf(row)}`);
  const invalid = () => refuse('InvalidParameterException', 'The specified nextToken is invalid.');
  const find = (input: AwsInput): ClusterRow => {
    const wanted = optionalText(input, 'logGroupName') ?? optionalText(input, 'logGroupIdentifier');
    const row = groups().find((one) => [groupNameOf(one), arnOf(one)].includes(wanted ?? ''));
    if (row !== undefined) return row;
    throw refuse('ResourceNotFoundException', 'The specified log group does not exist.');
  };
  return {
    DescribeLogGroups: (input) => {
      const prefix = optionalText(input, 'logGroupNamePrefix') ?? '';
      const part = optionalText(input, 'logGroupNamePattern') ?? '';
      const found = groups().filter((row) => {
        const name = groupNameOf(row);
        return name.startsWith(prefix) && name.includes(part);
      });
      return {
        logGroups: found.map((row) => ({
          logGroupName: groupNameOf(row),
          creationTime: row.createdAt,
          metricFilterCount: 0,
          arn: `${arnOf(row)}:*`,
          logGroupArn: arnOf(row),
          logGroupClass: 'STANDARD',
          storedBytes: 0,
        })),
      };
    },
    DescribeLogStreams: (input) => {
      const row = find(input);
      const prefix = optionalText(input, 'logStreamNamePrefix') ?? '';
      const names = row.logs
        .flatMap((type) => streamsOf[type])
        .map((name) => `${name}-${suffixOf(row)}`)
        .filter((name) => name.startsWith(prefix))
        .sort();
      const ordered = optionalFlag(input, 'descending') === true ? names.toReversed() : names;
      const page = pageOf(ordered, {
        max: optionalNumber(input, 'limit') ?? 50,
        token: optionalText(input, 'nextToken'),
        keyOf: (name) => name,
        invalid,
      });
      return {
        logStreams: page.items.map((logStreamName) => ({
          logStreamName,
          creationTime: row.createdAt,
          arn: `${arnOf(row)}:log-stream:${logStreamName}`,
          storedBytes: 0,
        })),
        ...(page.nextToken === undefined ? {} : { nextToken: page.nextToken }),
      };
    },
  };
};

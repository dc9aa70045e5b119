// Instance refreshes over the API. Refuses options that the world does not model.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalStructure,
  optionalText,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import { invalidNextToken, pageOf } from '../paging.ts';
import { type ServiceHandlers, validationError } from '../scope.ts';
import type { InstanceRefreshes, RefreshRow } from './instance-refresh.ts';
import type { GroupStore } from './store.ts';

export interface RefreshHandlerParts {
  readonly store: GroupStore;
  readonly refreshes: InstanceRefreshes;
}

const unsupported = [
  'CheckpointPercentages',
  'CheckpointDelay',
  'AutoRollback',
  'AlarmSpecification',
  'BakeTime',
  'MaxHealthyPercentage',
];

const refuseWhatIsNotThere = (input: AwsInput, preferences: AwsInput): void => {
  const strategy = optionalText(input, 'Strategy') ?? 'Rolling';
  const given = unsupported.filter((name) => preferences[name] !== undefined);
  if (strategy !== 'Rolling') given.push(`Strategy ${strategy}`);
  if (input.DesiredConfiguration !== undefined) given.push('DesiredConfiguration');
  if (given.length === 0) return;
  throw validationError(`${given.join(', ')}: not supported by Drover's world`);
};

export const refreshHandlers = ({ store, refreshes }: RefreshHandlerParts): ServiceHandlers => ({
  StartInstanceRefresh: (input) => {
    const group = store.needGroup(text(input, 'AutoScalingGroupName'));
    const preferences = optionalStructure(input, 'Preferences') ?? {};
    refuseWhatIsNotThere(input, preferences);
    const { id } = refreshes.start({
      group: group.name,
      minHealthyPercentage: optionalNumber(preferences, 'MinHealthyPercentage') ?? 90,
      warmupSeconds: optionalNumber(preferences, 'InstanceWarmup') ?? group.gracePeriodSeconds,
      skipMatching: optionalFlag(preferences, 'SkipMatching') ?? false,
    });
    return { InstanceRefreshId: id };
  },
  CancelInstanceRefresh: (input) => {
    const group = store.needGroup(text(input, 'AutoScalingGroupName'));
    return { InstanceRefreshId: refreshes.cancel(group.name).id };
  },
  DescribeInstanceRefreshes: (input) => {
    const group = store.needGroup(text(input, 'AutoScalingGroupName'));
    const ids = texts(input, 'InstanceRefreshIds');
    const all = refreshes.of(group.name).filter(({ id }) => ids.length === 0 || ids.includes(id));
    const page = pageOf(all, {
      max: optionalNumber(input, 'MaxRecords') ?? 50,
      token: optionalText(input, 'NextToken'),
      keyOf: ({ id }) => id,
      invalid: invalidNextToken,
    });
    return {
      InstanceRefreshes: page.items.map((row) => render(refreshes, row)),
      ...defined({ NextToken: page.nextToken }),
    };
  },
});

const render = (refreshes: InstanceRefreshes, row: RefreshRow) => {
  const toUpdate = row.status === 'Successful' ? 0 : refreshes.toUpdate(row);
  const done = row.total === 0 ? 100 : Math.floor(((row.total - toUpdate) * 100) / row.total);
  return {
    InstanceRefreshId: row.id,
    AutoScalingGroupName: row.group,
    Status: row.status,
    StartTime: row.startedAt,
    ...defined({ EndTime: row.endedAt }),
    PercentageComplete: row.status === 'Pending' ? 0 : done,
    InstancesToUpdate: toUpdate,
    Preferences: {
      MinHealthyPercentage: row.minHealthyPercentage,
      InstanceWarmup: row.warmupSeconds,
      SkipMatching: row.skipMatching,
    },
    Strategy: 'Rolling',
  };
};

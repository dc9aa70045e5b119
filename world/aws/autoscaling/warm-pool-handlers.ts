// Warm pools over the API.
import { defined } from '../../../src/api/defined.ts';
import {
  optionalFlag,
  optionalNumber,
  optionalStructure,
  optionalText,
  text,
} from '../../../src/aws-wire/index.ts';
import { invalidNextToken, pageOf } from '../paging.ts';
import { type ServiceHandlers, validationError } from '../scope.ts';
import type { Engine } from './engine.ts';
import { groupInstance, renderWarmPool } from './render.ts';
import type { GroupStore } from './store.ts';
import type { WarmPools } from './warm-pool.ts';

export interface WarmPoolHandlerParts {
  readonly store: GroupStore;
  readonly engine: Engine;
  readonly warmPools: WarmPools;
}

export const warmPoolHandlers = (parts: WarmPoolHandlerParts): ServiceHandlers => {
  const { store, engine, warmPools } = parts;
  return {
    PutWarmPool: (input) => {
      const group = store.needGroup(text(input, 'AutoScalingGroupName'));
      const before = warmPools.find(group.name);
      const state = optionalText(input, 'PoolState') ?? before?.state ?? 'Stopped';
      if (state !== 'Stopped' && state !== 'Running') {
        throw validationError(`The warm pool state ${state} is not supported by Drover's world`);
      }
      const reuse = optionalStructure(input, 'InstanceReusePolicy') ?? {};
      if (optionalFlag(reuse, 'ReuseOnScaleIn') === true) {
        throw validationError("ReuseOnScaleIn is not supported by Drover's world");
      }
      if (group.mixed !== undefined) {
        throw validationError(
          'You cannot add a warm pool to an Auto Scaling group that has a mixed instances policy',
        );
      }
      // -1 removes the value (PutWarmPool, API reference).
      const given = optionalNumber(input, 'MaxGroupPreparedCapacity') ?? before?.maxPrepared;
      const maxPrepared = given === -1 ? undefined : given;
      warmPools.put({
        group: group.name,
        minSize: optionalNumber(input, 'MinSize') ?? before?.minSize ?? 0,
        state,
        isDeleting: false,
        ...defined({ maxPrepared }),
      });
      engine.queueScaling(group.name);
      return {};
    },
    DeleteWarmPool: (input) => {
      const group = store.needGroup(text(input, 'AutoScalingGroupName'));
      if (warmPools.find(group.name) === undefined) {
        throw validationError(`No warm pool found for AutoScalingGroup: ${group.name}`);
      }
      warmPools.remove(group.name);
      return {};
    },
    DescribeWarmPool: (input) => {
      const group = store.needGroup(text(input, 'AutoScalingGroupName'));
      const pool = warmPools.find(group.name);
      const page = pageOf(store.warmed(group.name), {
        max: optionalNumber(input, 'MaxRecords') ?? 50,
        token: optionalText(input, 'NextToken'),
        keyOf: (member) => member.instanceId,
        invalid: invalidNextToken,
      });
      return {
        ...(pool === undefined ? {} : { WarmPoolConfiguration: renderWarmPool(pool) }),
        Instances: page.items.map(groupInstance),
        ...defined({ NextToken: page.nextToken }),
      };
    },
  };
};

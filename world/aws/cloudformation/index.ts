// Wires CloudFormation: its tables, its engine with the resource types, its handlers.
import type { GroupStore } from '../autoscaling/store.ts';
import type { ServiceCalls } from '../calls.ts';
import type { LaunchTemplates } from '../ec2/launch-templates.ts';
import type { Network } from '../ec2/network.ts';
import type { NetworkRecords } from '../ec2/network-records.ts';
import type { Identity } from '../platform/identity.ts';
import type { Scope, ServiceHandlers } from '../scope.ts';
import { type StackParts, stackChangeHandlers } from './change-handlers.ts';
import { changeSetHandlers } from './change-set-handlers.ts';
import { ChangeSets } from './change-sets.ts';
import { StackEngine } from './engine.ts';
import { StackLookups } from './lookups.ts';
import { stackReadHandlers } from './read-handlers.ts';
import { Stacks } from './store.ts';
import { scalingTypes } from './types/autoscaling.ts';
import { ec2Types } from './types/ec2.ts';
import { eksTypes } from './types/eks.ts';
import { iamTypes } from './types/iam.ts';
import { messagingTypes } from './types/messaging.ts';
import { StackUpdates } from './updates.ts';

export const buildStacks = (parts: {
  readonly scope: Scope;
  readonly calls: ServiceCalls;
  readonly network: Network;
  readonly records: NetworkRecords;
  readonly templates: LaunchTemplates;
  readonly store: GroupStore;
  readonly identity: Identity;
}): Omit<StackParts, 'images'> => {
  const { scope, calls } = parts;
  const stacks = new Stacks(scope);
  const lookups = new StackLookups(scope, stacks, parts.network);
  const types = {
    ...scalingTypes(parts),
    ...ec2Types(parts),
    ...iamTypes(parts.identity),
    ...messagingTypes(calls),
    ...eksTypes(parts),
  };
  return {
    stacks,
    lookups,
    changeSets: new ChangeSets(scope, stacks),
    stackUpdates: new StackUpdates({ scope, stacks, calls, lookups }, types),
    stackEngine: new StackEngine({ scope, stacks, calls, lookups }, types),
  };
};

export const stackHandlers = (parts: StackParts): ServiceHandlers => ({
  ...stackReadHandlers(parts.stacks),
  ...stackChangeHandlers(parts),
  ...changeSetHandlers(parts),
});

export type { ChangeSets } from './change-sets.ts';
export type { StackEngine } from './engine.ts';
export type { StackLookups } from './lookups.ts';
export { addStanding } from './standing.ts';
export type { Stacks } from './store.ts';
export { nodegroupAttributes } from './types/nodegroup.ts';
export type { StackUpdates } from './updates.ts';

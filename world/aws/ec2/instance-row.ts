// The row of an EC2 instance. Types only.
import type { Tags } from '../filters.ts';

export type InstanceState =
  | 'pending'
  | 'running'
  | 'stopping'
  | 'stopped'
  | 'shutting-down'
  | 'terminated';

export type StateReason = { readonly code: string; readonly message: string };

export type InstanceRow = {
  readonly instanceId: string;
  readonly reservationId: string;
  readonly interfaceId: string;
  readonly mac: string;
  readonly state: InstanceState;
  readonly stateReason?: StateReason;
  readonly transitionReason: string;
  readonly launchedAt: number;
  readonly imageId: string;
  readonly instanceType: string;
  readonly capacityType: 'ON_DEMAND' | 'SPOT';
  readonly zone: string;
  readonly subnetId: string;
  readonly vpcId: string;
  readonly privateIp: string;
  readonly privateDnsName: string;
  readonly keyName?: string;
  readonly profileArn?: string;
  readonly securityGroupIds: readonly string[];
  readonly diskGiB: number;
  readonly userData?: string;
  readonly tags: Tags;
  /**
   * True in a warm pool: EC2 runs the instance, but its machine does not join until it leaves the
   * pool.
   */
  readonly isWarm?: boolean;
  /** False if its bootstrap was broken at launch: it runs but never becomes a node. */
  readonly joins: boolean;
};

// For tests of world/aws: a small world with a network and one group, a host that records its
// calls, and functions that advance time. Not part of the public entry.
import { defined } from '../../src/api/defined.ts';
import type { AwsInput } from '../../src/aws-wire/index.ts';
import { type Foundation, layFoundation } from '../../world/aws/demo/foundation.ts';
import { encodeBase64 } from '../../world/aws/ec2/user-data.ts';
import { type AwsParts, type AwsWorldOptions, buildParts } from '../../world/aws/parts.ts';
import type { Timings } from '../../world/aws/scope.ts';
import { type AwsWorld, worldOf } from '../../world/aws/world.ts';
import type { Machine, MachineHost } from '../../world/contracts.ts';
import { Faults } from '../../world/faults/index.ts';
import { Kernel, microsPerSecond, Tables } from '../../world/kernel/index.ts';

export class RecordingHost implements MachineHost {
  readonly on = new Map<string, Machine>();
  readonly log: string[] = [];
  powerOn(machine: Machine): void {
    this.on.set(machine.instanceId, machine);
    this.log.push(`on ${machine.instanceId}`);
  }
  powerOff(instanceId: string): void {
    this.on.delete(instanceId);
    this.log.push(`off ${instanceId}`);
  }
  reboot(instanceId: string): void {
    this.log.push(`reboot ${instanceId}`);
  }
  consoleOutput(instanceId: string): string {
    return `boot of ${instanceId}`;
  }
}

export interface TestWorld {
  readonly kernel: Kernel;
  readonly faults: Faults;
  readonly host: RecordingHost;
  readonly parts: AwsParts;
  readonly aws: AwsWorld;
  readonly foundation: Foundation;
  /** Runs all events of the next `seconds` and advances time to their end. */
  advance(seconds: number): void;
  /** A call whose answer the test may read without types. */
  call(service: string, operation: string, input?: AwsInput): Answer;
  /** `code: message` of the refusal; fails when the call is not refused. */
  refusal(service: string, operation: string, input?: AwsInput): string;
  /** Instance id to lifecycle state of a group's members. */
  states(group: string): Readonly<Record<string, string>>;
  /** Bodies of the messages in the notice queue; removes them. */
  takeMessages(): readonly string[];
}

/** An answer with untyped member access. */
export type Answer = { readonly [member: string]: Answer } & readonly Answer[];

const bootstrapScript = encodeBase64(
  '#!/bin/bash\n/etc/eks/bootstrap.sh ironman-2022 --kubelet-extra-args "--node-labels=team=red"\n',
);

const instant: Partial<Timings> = {
  instancePendingMs: [2000, 2000],
  instanceShuttingDownMs: [5000, 5000],
  scalingMs: [1000, 1000],
  transitionMs: [100, 100],
  healthCheckMs: [20_000, 20_000],
  launchRetryMs: [15_000, 15_000],
  deliveryMs: [50, 50],
};

export const aTestWorld = (
  options: { readonly seed?: number; readonly tables?: Tables } & Partial<AwsWorldOptions> = {},
): TestWorld => {
  const kernel = new Kernel({
    seed: options.seed ?? 1,
    startAt: Date.UTC(2026, 8, 25, 13, 0, 0) * 1000,
    tables: options.tables ?? new Tables(),
  });
  const faults = new Faults(kernel);
  const host = new RecordingHost();
  const parts = buildParts({
    kernel,
    faults,
    host: () => host,
    account: '111111111111',
    region: 'eu-west-1',
    ...defined({ clusterAccess: options.clusterAccess, auditLog: options.auditLog }),
    timings: { ...instant, ...options.timings },
  });
  const aws = worldOf(parts);
  const foundation =
    options.tables === undefined
      ? layFoundation(parts, { clusterName: 'ironman-2022', kubernetesVersion: '1.32.9' })
      : undefined;
  const call = (service: string, operation: string, input: AwsInput = {}): Answer =>
    aws.call(service, operation, input) as Answer;
  return {
    kernel,
    faults,
    host,
    parts,
    aws,
    get foundation() {
      if (foundation === undefined)
        throw new Error('a restored world has no foundation of its own');
      return foundation;
    },
    advance(seconds) {
      const end = kernel.now() + seconds * microsPerSecond;
      for (let at = kernel.nextAt(); at !== undefined && at <= end; at = kernel.nextAt()) {
        kernel.step();
      }
      kernel.advanceTo(end);
    },
    call,
    refusal(service, operation, input = {}) {
      try {
        aws.call(service, operation, input);
      } catch (error) {
        if (error instanceof Error && 'code' in error) return `${error.code}: ${error.message}`;
        throw error;
      }
      throw new Error(`${service}:${operation} was not refused`);
    },
    states(group) {
      const members = parts.store.members(group);
      return Object.fromEntries(members.map((one) => [one.instanceId, one.state]));
    },
    takeMessages() {
      const taken = parts.queues.receive('drover-notices', { max: 1000 });
      for (const one of taken) parts.queues.deleteMessage('drover-notices', one.receiptHandle);
      return taken.map((one) => one.message.body);
    },
  };
};

export interface GroupRequest {
  readonly name?: string;
  readonly min?: number;
  readonly max?: number;
  readonly desired?: number;
  readonly hooks?: readonly AwsInput[];
  /** Number of public subnets, in the order of zones a, c, b. */
  readonly zones?: number;
  /** The template requests Spot Instances. */
  readonly isSpot?: boolean;
  /** Names of Classic Load Balancers. */
  readonly balancers?: readonly string[];
}

/** Creates a launch template and a group `g` over the API. */
export const aGroup = (world: TestWorld, request: GroupRequest = {}): string => {
  const name = request.name ?? 'g';
  const image = world.parts.images.releases('AL2_x86_64', '1.32')[0];
  world.call('ec2', 'CreateLaunchTemplate', {
    LaunchTemplateName: `${name}-template`,
    LaunchTemplateData: {
      ImageId: image?.imageId,
      InstanceType: 'm5.large',
      UserData: bootstrapScript,
      ...(request.isSpot === true ? { InstanceMarketOptions: { MarketType: 'spot' } } : {}),
    },
  });
  const subnets = world.foundation.publicSubnets.slice(0, request.zones ?? 3);
  world.call('autoscaling', 'CreateAutoScalingGroup', {
    AutoScalingGroupName: name,
    MinSize: request.min ?? 0,
    MaxSize: request.max ?? 10,
    DesiredCapacity: request.desired ?? 1,
    LaunchTemplate: { LaunchTemplateName: `${name}-template`, Version: '$Latest' },
    VPCZoneIdentifier: subnets.map((subnet) => subnet.subnetId).join(','),
    LifecycleHookSpecificationList: request.hooks ?? [],
    LoadBalancerNames: request.balancers ?? [],
  });
  return name;
};

export const aHook = (overrides: AwsInput = {}): AwsInput => ({
  LifecycleHookName: 'drain',
  LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
  HeartbeatTimeout: 1800,
  DefaultResult: 'CONTINUE',
  NotificationTargetARN: 'arn:aws:sns:eu-west-1:346952985317:eks-asg-lifecycle-hook-topic',
  ...overrides,
});

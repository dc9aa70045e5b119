// The CloudApi port over the world's AWS services in the same process: the same operations as the
// SDK adapter calls, in virtual time. Never reads the world's tables directly.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type {
  CloudInstance,
  ClusterAccess,
  Image,
  ImpairedInstance,
  InstanceTypeFacts,
  NewGroup,
  QueueMessage,
  ScalingActivity,
  ScalingGroup,
  ScheduledEvent,
  Stack,
  Subnet,
} from '../../api/cloud.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import {
  activityZone,
  type CloudApi,
  createGroupRequest,
  newestActivities,
  nodeRoleOutputs,
  scheduledEventsRequest,
  updateGroupRequest,
} from '../../ports/index.ts';
import { accessCalls } from './cloud-access.ts';
import {
  CloudCalls,
  type Options,
  type SentCall,
  type WorldAwsCall,
  type WorldReceive,
} from './cloud-calls.ts';
import { hookCalls } from './cloud-hooks.ts';
import { impairedInstances } from './cloud-status.ts';
import { SimTemplates } from './cloud-templates.ts';
import {
  numberOf,
  objects,
  tagsOf,
  textOf,
  timeOf,
  toCloudInstance,
  toClusterNetwork,
  toGroup,
  toInstanceType,
  toScheduledEvents,
} from './cloud-values.ts';
import { deleteGroupBy } from './delete-group.ts';
import type { Network } from './network.ts';

export class SimCloudApi implements CloudApi {
  readonly #calls: CloudCalls;
  readonly #receive: WorldReceive;
  readonly #network: Network;
  readonly #now: () => EpochMs;
  readonly deleteGroup: CloudApi['deleteGroup'];
  readonly describeLaunchTemplate: CloudApi['describeLaunchTemplate'];
  readonly findLaunchTemplate: CloudApi['findLaunchTemplate'];
  readonly createLaunchTemplate: CloudApi['createLaunchTemplate'];
  readonly addLaunchTemplateVersion: CloudApi['addLaunchTemplateVersion'];
  readonly deleteLaunchTemplate: CloudApi['deleteLaunchTemplate'];
  readonly findInstanceProfile: CloudApi['findInstanceProfile'];
  readonly ensureInstanceProfile: CloudApi['ensureInstanceProfile'];
  readonly deleteInstanceProfile: CloudApi['deleteInstanceProfile'];
  readonly describeHooks: CloudApi['describeHooks'];
  readonly installHook: CloudApi['installHook'];
  readonly removeHook: CloudApi['removeHook'];
  readonly completeHook: CloudApi['completeHook'];
  readonly heartbeatHook: CloudApi['heartbeatHook'];
  readonly tagGroup: CloudApi['tagGroup'];
  readonly untagGroup: CloudApi['untagGroup'];
  readonly hasKeyPair: CloudApi['hasKeyPair'];
  readonly findSecurityGroups: CloudApi['findSecurityGroups'];
  readonly createSecurityGroup: CloudApi['createSecurityGroup'];
  readonly allowIngress: CloudApi['allowIngress'];
  readonly deleteSecurityGroup: CloudApi['deleteSecurityGroup'];
  readonly findAccessEntry: CloudApi['findAccessEntry'];
  readonly createAccessEntry: CloudApi['createAccessEntry'];
  readonly deleteAccessEntry: CloudApi['deleteAccessEntry'];
  constructor(options: {
    readonly call: WorldAwsCall;
    readonly receive: WorldReceive;
    readonly network: Network;
    /** The world's time. */
    readonly now: () => EpochMs;
    readonly onCall?: (call: SentCall) => void;
  }) {
    this.#calls = new CloudCalls(options);
    this.#receive = options.receive;
    this.#network = options.network;
    this.#now = options.now;
    this.deleteGroup = deleteGroupBy(this.#calls);
    const templates = new SimTemplates(this.#calls);
    this.describeLaunchTemplate = templates.describeLaunchTemplate.bind(templates);
    this.findLaunchTemplate = templates.findLaunchTemplate.bind(templates);
    this.createLaunchTemplate = templates.createLaunchTemplate.bind(templates);
    this.addLaunchTemplateVersion = templates.addLaunchTemplateVersion.bind(templates);
    this.deleteLaunchTemplate = templates.deleteLaunchTemplate.bind(templates);
    this.findInstanceProfile = templates.findInstanceProfile.bind(templates);
    this.ensureInstanceProfile = templates.ensureInstanceProfile.bind(templates);
    this.deleteInstanceProfile = templates.deleteInstanceProfile.bind(templates);
    const hooks = hookCalls(this.#calls);
    this.describeHooks = hooks.describeHooks;
    this.installHook = hooks.installHook;
    this.removeHook = hooks.removeHook;
    this.completeHook = hooks.completeHook;
    this.heartbeatHook = hooks.heartbeatHook;
    this.tagGroup = hooks.tagGroup;
    this.untagGroup = hooks.untagGroup;
    const access = accessCalls(this.#calls);
    this.hasKeyPair = access.hasKeyPair;
    this.findSecurityGroups = access.findSecurityGroups;
    this.createSecurityGroup = access.createSecurityGroup;
    this.allowIngress = access.allowIngress;
    this.deleteSecurityGroup = access.deleteSecurityGroup;
    this.findAccessEntry = access.findAccessEntry;
    this.createAccessEntry = access.createAccessEntry;
    this.deleteAccessEntry = access.deleteAccessEntry;
  }

  receiveMessages(
    queueUrl: string,
    options: Options & { readonly waitSeconds: number; readonly visibilitySeconds: number },
  ): Promise<readonly QueueMessage[]> {
    const { signal, waitSeconds, visibilitySeconds } = options;
    const fate = this.#network.faults.cloudCall('ReceiveMessage');
    if (fate.kind !== 'ok') return this.#calls.fail(fate, 'ReceiveMessage', signal);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      let stop = (): void => {};
      const abort = (): void => {
        stop();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#network.leg(() => {
        if (signal?.aborted) return;
        stop = this.#receive({ queueUrl, waitSeconds, visibilitySeconds }, (messages) =>
          this.#network.leg(() => {
            signal?.removeEventListener('abort', abort);
            this.#calls.remember(messages);
            resolve(messages);
          }),
        );
      });
    });
  }

  async deleteMessage(
    queueUrl: string,
    receiptHandle: string,
    options: Options = {},
  ): Promise<void> {
    const input = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle };
    await this.#calls.send('sqs', 'DeleteMessage', input, options);
  }

  async changeVisibility(
    queueUrl: string,
    receiptHandle: string,
    seconds: number,
    options: Options = {},
  ): Promise<void> {
    const input = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: seconds };
    await this.#calls.send('sqs', 'ChangeMessageVisibility', input, options);
  }

  async describeGroups(
    names?: readonly string[],
    options: Options = {},
  ): Promise<readonly ScalingGroup[]> {
    if (names?.length === 0) return [];
    const input = names === undefined ? {} : { AutoScalingGroupNames: names };
    return this.#calls.all(
      'autoscaling',
      'DescribeAutoScalingGroups',
      input,
      'AutoScalingGroups',
      options,
      toGroup,
    );
  }

  async terminateInGroup(
    instanceId: string,
    options: Options & { readonly decrementDesired: boolean },
  ): Promise<void> {
    const input = {
      InstanceId: instanceId,
      ShouldDecrementDesiredCapacity: options.decrementDesired,
    };
    await this.#calls.send('autoscaling', 'TerminateInstanceInAutoScalingGroup', input, options);
  }

  async describeInstances(
    instanceIds: readonly string[],
    options: Options = {},
  ): Promise<readonly CloudInstance[]> {
    if (instanceIds.length === 0) return [];
    // A filter answers with what exists; InstanceIds would refuse the whole call for one unknown
    // id.
    const input = { Filters: [{ Name: 'instance-id', Values: instanceIds }] };
    const reservations = await this.#calls.all(
      'ec2',
      'DescribeInstances',
      input,
      'Reservations',
      options,
      (reservation) => objects(reservation.Instances).map(toCloudInstance),
    );
    return reservations.flat();
  }

  /** Whole seconds, as a Date header has them. */
  async time(options: Options = {}): Promise<EpochMs> {
    await this.#calls.send('autoscaling', 'DescribeAutoScalingGroups', { MaxRecords: 1 }, options);
    return epochMs(Math.floor(this.#now() / 1000) * 1000);
  }

  async describeScheduledEvents(options: Options = {}): Promise<readonly ScheduledEvent[]> {
    const statuses = await this.#calls.all(
      'ec2',
      'DescribeInstanceStatus',
      scheduledEventsRequest(),
      'InstanceStatuses',
      options,
      toScheduledEvents,
    );
    return statuses.flat();
  }

  describeImpairedInstances(options: Options = {}): Promise<readonly ImpairedInstance[]> {
    return impairedInstances(this.#calls, options);
  }

  async rebootInstance(instanceId: string, options: Options = {}): Promise<void> {
    await this.#calls.send('ec2', 'RebootInstances', { InstanceIds: [instanceId] }, options);
  }

  async listStacks(options: Options = {}): Promise<readonly Stack[]> {
    const stacks = await this.#calls.all(
      'cloudformation',
      'DescribeStacks',
      {},
      'Stacks',
      options,
      (s) => s,
    );
    const found: Stack[] = [];
    for (const stack of stacks) {
      const input = { StackName: textOf(stack.StackName) };
      const output = await this.#calls.send('cloudformation', 'ListStackResources', input, options);
      const group = objects(output.StackResourceSummaries).find(
        (resource) => resource.ResourceType === 'AWS::AutoScaling::AutoScalingGroup',
      );
      const role = objects(stack.Outputs).find((one) =>
        nodeRoleOutputs.includes(textOf(one.OutputKey)),
      );
      found.push({
        name: textOf(stack.StackName),
        status: textOf(stack.StackStatus),
        createdAt: timeOf(stack.CreationTime),
        tags: tagsOf(stack.Tags),
        ...(group === undefined ? {} : { autoScalingGroupName: textOf(group.PhysicalResourceId) }),
        ...(role === undefined ? {} : { nodeRole: textOf(role.OutputValue) }),
      });
    }
    return found;
  }

  async createGroup(group: NewGroup, options: Options = {}): Promise<void> {
    await this.#calls.send(
      'autoscaling',
      'CreateAutoScalingGroup',
      createGroupRequest(group),
      options,
    );
  }

  async setProcesses(
    { name, processes, suspended }: Parameters<CloudApi['setProcesses']>[0],
    options: Options = {},
  ): Promise<void> {
    const input = { AutoScalingGroupName: name, ScalingProcesses: [...processes] };
    const operation = suspended ? 'SuspendProcesses' : 'ResumeProcesses';
    await this.#calls.send('autoscaling', operation, input, options);
  }

  async updateGroup(
    change: Parameters<CloudApi['updateGroup']>[0],
    options: Options = {},
  ): Promise<void> {
    await this.#calls.send(
      'autoscaling',
      'UpdateAutoScalingGroup',
      updateGroupRequest(change),
      options,
    );
  }

  async describeActivities(
    name: string,
    options: Options = {},
  ): Promise<readonly ScalingActivity[]> {
    const input = { AutoScalingGroupName: name, MaxRecords: newestActivities };
    const output = await this.#calls.send(
      'autoscaling',
      'DescribeScalingActivities',
      input,
      options,
    );
    return objects(output.Activities).map((activity) => ({
      id: textOf(activity.ActivityId),
      description: textOf(activity.Description),
      startedAt: timeOf(activity.StartTime),
      ...(activity.EndTime === undefined ? {} : { endedAt: timeOf(activity.EndTime) }),
      status: textOf(activity.StatusCode),
      message: textOf(activity.StatusMessage),
      cause: textOf(activity.Cause),
      ...activityZone(textOf(activity.Details)),
    }));
  }

  async describeSubnets(ids: readonly string[], options: Options = {}): Promise<readonly Subnet[]> {
    const input = { Filters: [{ Name: 'subnet-id', Values: ids }] };
    return this.#calls.all('ec2', 'DescribeSubnets', input, 'Subnets', options, (subnet) => ({
      id: textOf(subnet.SubnetId),
      availabilityZone: textOf(subnet.AvailabilityZone),
      vpcId: textOf(subnet.VpcId),
      freeAddresses: numberOf(subnet.AvailableIpAddressCount),
    }));
  }

  async describeInstanceTypes(
    names: readonly string[],
    options: Options = {},
  ): Promise<readonly InstanceTypeFacts[]> {
    const input = { Filters: [{ Name: 'instance-type', Values: names }] };
    return this.#calls.all(
      'ec2',
      'DescribeInstanceTypes',
      input,
      'InstanceTypes',
      options,
      toInstanceType,
    );
  }

  async describeImages(name: string, options: Options = {}): Promise<readonly Image[]> {
    const input = { Filters: [{ Name: 'name', Values: [name] }] };
    return this.#images(input, options);
  }

  async findImage(id: string, options: Options = {}): Promise<Image | undefined> {
    const input = { Filters: [{ Name: 'image-id', Values: [id] }] };
    return (await this.#images(input, options))[0];
  }

  #images(input: JsonObject, options: Options): Promise<readonly Image[]> {
    return this.#calls.all('ec2', 'DescribeImages', input, 'Images', options, (image) => ({
      id: textOf(image.ImageId),
      name: textOf(image.Name),
      description: textOf(image.Description),
    }));
  }

  async describeCluster(name: string, options: Options = {}): Promise<ClusterAccess | undefined> {
    const output = await this.#calls.maybe('eks', 'DescribeCluster', { name }, options);
    if (output === undefined) return undefined;
    const cluster = objectOr(output.cluster);
    const serviceCidr = textOf(objectOr(cluster.kubernetesNetworkConfig).serviceIpv4Cidr);
    const authenticationMode = textOf(objectOr(cluster.accessConfig).authenticationMode);
    const network = objectOr(cluster.resourcesVpcConfig);
    const securityGroupId = textOf(network.clusterSecurityGroupId);
    return {
      version: textOf(cluster.version),
      endpoint: textOf(cluster.endpoint),
      certificateAuthority: textOf(objectOr(cluster.certificateAuthority).data),
      ...(serviceCidr === '' ? {} : { serviceCidr }),
      ...(securityGroupId === '' ? {} : { securityGroupId }),
      ...(authenticationMode === '' ? {} : { authenticationMode }),
      network: toClusterNetwork(network),
    };
  }

  async consoleOutput(instanceId: string, options: Options = {}): Promise<string> {
    const input = { InstanceId: instanceId };
    const output = await this.#calls.send('ec2', 'GetConsoleOutput', input, options);
    return new TextDecoder().decode(
      Uint8Array.from(atob(textOf(output.Output)), (char) => char.charCodeAt(0)),
    );
  }
}

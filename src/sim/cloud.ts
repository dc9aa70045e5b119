// The CloudApi port over the world's AWS services in the same process: the same operations as the
// SDK adapter calls, in virtual time. Never reads the world's tables directly.
import { epochMs, formatKubeTime } from '../api/brand.ts';
import { isObject, type JsonObject, objectOr } from '../api/json.ts';
import {
  type CloudApi,
  CloudError,
  type CloudErrorCode,
  type CloudInstance,
  type ClusterAccess,
  cloudErrorCodeOf,
  createGroupRequest,
  createTemplateRequest,
  type HookCall,
  type Image,
  type InstanceTypeFacts,
  isAbsence,
  type LaunchTemplate,
  type LaunchTemplateFacts,
  type LifecycleHook,
  type NewGroup,
  newestActivities,
  type QueueMessage,
  type ScalingActivity,
  type ScalingGroup,
  type ScalingInstance,
  type Stack,
  type Subnet,
  updateGroupRequest,
} from '../ports/index.ts';
import { AwsError } from '../wire/index.ts';
import type { Network } from './network.ts';

/** One AWS call of the world: input and output named as in the service model. */
export type WorldAwsCall = (service: string, operation: string, input: JsonObject) => unknown;

/** Waits in world time until the queue has something, or `waitSeconds` have passed. */
export type WorldReceive = (
  request: {
    readonly queueUrl: string;
    readonly waitSeconds: number;
    readonly visibilitySeconds: number;
  },
  done: (messages: readonly QueueMessage[]) => void,
) => () => void;

/** One call as it left, for traces. `error` = what the caller was told, injected failures too. */
export interface SentCall {
  readonly service: string;
  readonly operation: string;
  readonly input: JsonObject;
  readonly error?: string;
  /** Of DeleteMessage: the body of the message. */
  readonly message?: string;
}

interface Options {
  readonly signal?: AbortSignal;
}

const objects = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
const timeOf = (value: unknown): string => formatKubeTime(epochMs(numberOf(value)));

const tagsOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(objects(value).map((tag) => [textOf(tag.Key), textOf(tag.Value)]));

const toInstance = (groupName: string, instance: JsonObject): ScalingInstance => ({
  instanceId: textOf(instance.InstanceId),
  autoScalingGroupName: groupName,
  availabilityZone: textOf(instance.AvailabilityZone),
  lifecycleState: textOf(instance.LifecycleState),
  instanceType: textOf(instance.InstanceType),
  protectedFromScaleIn: instance.ProtectedFromScaleIn === true,
  healthStatus: textOf(instance.HealthStatus),
  launchTemplateVersion: textOf(objectOr(instance.LaunchTemplate).Version),
});

const mixedOf = (group: JsonObject): JsonObject =>
  objectOr(objectOr(group.MixedInstancesPolicy).LaunchTemplate);

const templateOf = (group: JsonObject): ScalingGroup['launchTemplate'] => {
  const template = group.LaunchTemplate ?? mixedOf(group).LaunchTemplateSpecification;
  if (!isObject(template)) return undefined;
  const { LaunchTemplateId, LaunchTemplateName, Version } = template;
  return {
    id: textOf(LaunchTemplateId),
    name: textOf(LaunchTemplateName),
    version: textOf(Version),
  };
};

const toGroup = (group: JsonObject): ScalingGroup => {
  const name = textOf(group.AutoScalingGroupName);
  const launchTemplate = templateOf(group);
  return {
    name,
    minSize: numberOf(group.MinSize),
    maxSize: numberOf(group.MaxSize),
    desiredCapacity: numberOf(group.DesiredCapacity),
    createdAt: timeOf(group.CreatedTime),
    instances: objects(group.Instances).map((instance) => toInstance(name, instance)),
    tags: tagsOf(group.Tags),
    ...(launchTemplate === undefined ? {} : { launchTemplate }),
    ...(isObject(group.MixedInstancesPolicy)
      ? { instanceTypes: objects(mixedOf(group).Overrides).map((one) => textOf(one.InstanceType)) }
      : {}),
  };
};

const toHook = (hook: JsonObject): LifecycleHook => ({
  name: textOf(hook.LifecycleHookName),
  autoScalingGroupName: textOf(hook.AutoScalingGroupName),
  transition: textOf(hook.LifecycleTransition) as LifecycleHook['transition'],
  heartbeatTimeoutSeconds: numberOf(hook.HeartbeatTimeout),
  globalTimeoutSeconds: numberOf(hook.GlobalTimeout),
  defaultResult: hook.DefaultResult === 'CONTINUE' ? 'CONTINUE' : 'ABANDON',
});

const toCloudInstance = (instance: JsonObject): CloudInstance => ({
  instanceId: textOf(instance.InstanceId),
  state: isObject(instance.State) ? textOf(instance.State.Name) : '',
  privateDnsName: textOf(instance.PrivateDnsName),
  instanceType: textOf(instance.InstanceType),
  imageId: textOf(instance.ImageId),
  availabilityZone: isObject(instance.Placement) ? textOf(instance.Placement.AvailabilityZone) : '',
  launchTime: timeOf(instance.LaunchTime),
});

const toInstanceType = (type: JsonObject): InstanceTypeFacts => ({
  name: textOf(type.InstanceType),
  interfaces: numberOf(objectOr(type.NetworkInfo).MaximumNetworkInterfaces),
  addressesPerInterface: numberOf(objectOr(type.NetworkInfo).Ipv4AddressesPerInterface),
  architectures: textsOf(objectOr(type.ProcessorInfo).SupportedArchitectures),
});

/** As the SDK adapter would see it on the wire: an error without a status is a 400. */
const codeOf = ({ code, message, httpStatus = 400 }: AwsError): CloudErrorCode =>
  cloudErrorCodeOf({ codes: [code], message, httpStatus });

const hookInput = (call: HookCall): JsonObject => ({
  AutoScalingGroupName: call.autoScalingGroupName,
  LifecycleHookName: call.hookName,
  ...(call.token === undefined
    ? { InstanceId: call.instanceId }
    : { LifecycleActionToken: call.token, InstanceId: call.instanceId }),
});

export class SimCloudApi implements CloudApi {
  readonly #call: WorldAwsCall;
  readonly #receive: WorldReceive;
  readonly #network: Network;
  readonly #onCall: ((call: SentCall) => void) | undefined;
  /** Bodies of messages in hand, by receipt: only kept while somebody traces. */
  readonly #bodies = new Map<string, string>();
  constructor(options: {
    readonly call: WorldAwsCall;
    readonly receive: WorldReceive;
    readonly network: Network;
    readonly onCall?: (call: SentCall) => void;
  }) {
    this.#onCall = options.onCall;
    this.#call = options.call;
    this.#receive = options.receive;
    this.#network = options.network;
  }

  receiveMessages(
    queueUrl: string,
    options: Options & { readonly waitSeconds: number; readonly visibilitySeconds: number },
  ): Promise<readonly QueueMessage[]> {
    const { signal, waitSeconds, visibilitySeconds } = options;
    const fate = this.#network.faults.cloudCall('ReceiveMessage');
    if (fate.kind !== 'ok') return this.#fail(fate, 'ReceiveMessage', signal);
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
            this.#remember(messages);
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
    await this.#send('sqs', 'DeleteMessage', input, options);
  }

  async changeVisibility(
    queueUrl: string,
    receiptHandle: string,
    seconds: number,
    options: Options = {},
  ): Promise<void> {
    const input = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: seconds };
    await this.#send('sqs', 'ChangeMessageVisibility', input, options);
  }

  async describeGroups(
    names?: readonly string[],
    options: Options = {},
  ): Promise<readonly ScalingGroup[]> {
    if (names?.length === 0) return [];
    const input = names === undefined ? {} : { AutoScalingGroupNames: names };
    return this.#all(
      'autoscaling',
      'DescribeAutoScalingGroups',
      input,
      'AutoScalingGroups',
      options,
      toGroup,
    );
  }

  async describeHooks(name: string, options: Options = {}): Promise<readonly LifecycleHook[]> {
    const input = { AutoScalingGroupName: name };
    const output = await this.#send('autoscaling', 'DescribeLifecycleHooks', input, options);
    return objects(output.LifecycleHooks).map(toHook);
  }

  async completeHook(
    call: HookCall & { readonly result: 'CONTINUE' | 'ABANDON' },
    options: Options = {},
  ): Promise<void> {
    const input = { ...hookInput(call), LifecycleActionResult: call.result };
    await this.#send('autoscaling', 'CompleteLifecycleAction', input, options);
  }

  async heartbeatHook(call: HookCall, options: Options = {}): Promise<void> {
    await this.#send('autoscaling', 'RecordLifecycleActionHeartbeat', hookInput(call), options);
  }

  async terminateInGroup(
    instanceId: string,
    options: Options & { readonly decrementDesired: boolean },
  ): Promise<void> {
    const input = {
      InstanceId: instanceId,
      ShouldDecrementDesiredCapacity: options.decrementDesired,
    };
    await this.#send('autoscaling', 'TerminateInstanceInAutoScalingGroup', input, options);
  }

  async describeInstances(
    instanceIds: readonly string[],
    options: Options = {},
  ): Promise<readonly CloudInstance[]> {
    if (instanceIds.length === 0) return [];
    // A filter answers with what exists; InstanceIds would refuse the whole call for one unknown id.
    const input = { Filters: [{ Name: 'instance-id', Values: instanceIds }] };
    const reservations = await this.#all(
      'ec2',
      'DescribeInstances',
      input,
      'Reservations',
      options,
      (reservation) => objects(reservation.Instances).map(toCloudInstance),
    );
    return reservations.flat();
  }

  async describeLaunchTemplate(
    template: { readonly id: string; readonly version: string },
    options: Options = {},
  ): Promise<LaunchTemplateFacts | undefined> {
    const input = { LaunchTemplateId: template.id, Versions: [template.version] };
    const output = await this.#send('ec2', 'DescribeLaunchTemplateVersions', input, options);
    const data = objects(output.LaunchTemplateVersions)[0]?.LaunchTemplateData;
    if (!isObject(data)) return undefined;
    return {
      ...(typeof data.InstanceType === 'string' ? { instanceType: data.InstanceType } : {}),
      ...(typeof data.ImageId === 'string' ? { imageId: data.ImageId } : {}),
    };
  }

  async listStacks(options: Options = {}): Promise<readonly Stack[]> {
    const stacks = await this.#all(
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
      const output = await this.#send('cloudformation', 'ListStackResources', input, options);
      const group = objects(output.StackResourceSummaries).find(
        (resource) => resource.ResourceType === 'AWS::AutoScaling::AutoScalingGroup',
      );
      found.push({
        name: textOf(stack.StackName),
        status: textOf(stack.StackStatus),
        createdAt: timeOf(stack.CreationTime),
        tags: tagsOf(stack.Tags),
        ...(group === undefined ? {} : { autoScalingGroupName: textOf(group.PhysicalResourceId) }),
      });
    }
    return found;
  }

  async findLaunchTemplate(
    template: { readonly name?: string; readonly id?: string; readonly version: string },
    options: Options = {},
  ): Promise<LaunchTemplate | undefined> {
    const { id, name, version } = template;
    // A filter answers with what exists; a name that does not exist is an error.
    const filters = [
      ...(name === undefined ? [] : [{ Name: 'launch-template-name', Values: [name] }]),
    ];
    const [found] = await this.#all(
      'ec2',
      'DescribeLaunchTemplates',
      { Filters: filters },
      'LaunchTemplates',
      options,
      (one) => one,
    ).then((all) => all.filter((one) => id === undefined || one.LaunchTemplateId === id));
    if (found === undefined) return undefined;
    const input = { LaunchTemplateId: textOf(found.LaunchTemplateId), Versions: [version] };
    const output = await this.#maybe('ec2', 'DescribeLaunchTemplateVersions', input, options);
    const row = objects(output?.LaunchTemplateVersions)[0];
    if (row === undefined) return undefined;
    return {
      id: textOf(found.LaunchTemplateId),
      name: textOf(found.LaunchTemplateName),
      version: String(numberOf(row.VersionNumber)),
      tags: tagsOf(found.Tags),
      data: objectOr(row.LaunchTemplateData),
    };
  }

  async createLaunchTemplate(
    template: Pick<LaunchTemplate, 'name' | 'tags' | 'data'>,
    options: Options = {},
  ): Promise<void> {
    await this.#send('ec2', 'CreateLaunchTemplate', createTemplateRequest(template), options);
  }

  async addLaunchTemplateVersion(
    template: { readonly id: string; readonly source: string; readonly data: JsonObject },
    options: Options = {},
  ): Promise<string> {
    const { id: LaunchTemplateId, source: SourceVersion, data: LaunchTemplateData } = template;
    const input = { LaunchTemplateId, SourceVersion, LaunchTemplateData };
    const output = await this.#send('ec2', 'CreateLaunchTemplateVersion', input, options);
    return String(numberOf(objectOr(output.LaunchTemplateVersion).VersionNumber));
  }

  async deleteLaunchTemplate(name: string, options: Options = {}): Promise<boolean> {
    const input = { LaunchTemplateName: name };
    return (await this.#maybe('ec2', 'DeleteLaunchTemplate', input, options)) !== undefined;
  }

  async createGroup(group: NewGroup, options: Options = {}): Promise<void> {
    await this.#send('autoscaling', 'CreateAutoScalingGroup', createGroupRequest(group), options);
  }

  async updateGroup(
    change: Parameters<CloudApi['updateGroup']>[0],
    options: Options = {},
  ): Promise<void> {
    await this.#send('autoscaling', 'UpdateAutoScalingGroup', updateGroupRequest(change), options);
  }

  async deleteGroup(name: string, options: Options = {}): Promise<boolean> {
    const input = { AutoScalingGroupName: name };
    const answer = await this.#maybe('autoscaling', 'DeleteAutoScalingGroup', input, options);
    return answer !== undefined;
  }

  async describeActivities(
    name: string,
    options: Options = {},
  ): Promise<readonly ScalingActivity[]> {
    const input = { AutoScalingGroupName: name, MaxRecords: newestActivities };
    const output = await this.#send('autoscaling', 'DescribeScalingActivities', input, options);
    return objects(output.Activities).map((activity) => ({
      id: textOf(activity.ActivityId),
      startedAt: timeOf(activity.StartTime),
      status: textOf(activity.StatusCode),
      message: textOf(activity.StatusMessage),
    }));
  }

  async describeSubnets(ids: readonly string[], options: Options = {}): Promise<readonly Subnet[]> {
    const input = { Filters: [{ Name: 'subnet-id', Values: ids }] };
    return this.#all('ec2', 'DescribeSubnets', input, 'Subnets', options, (subnet) => ({
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
    return this.#all(
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
    return this.#all('ec2', 'DescribeImages', input, 'Images', options, (image) => ({
      id: textOf(image.ImageId),
      name: textOf(image.Name),
      description: textOf(image.Description),
    }));
  }

  async describeCluster(name: string, options: Options = {}): Promise<ClusterAccess | undefined> {
    const output = await this.#maybe('eks', 'DescribeCluster', { name }, options);
    if (output === undefined) return undefined;
    const cluster = objectOr(output.cluster);
    const serviceCidr = textOf(objectOr(cluster.kubernetesNetworkConfig).serviceIpv4Cidr);
    const securityGroupId = textOf(objectOr(cluster.resourcesVpcConfig).clusterSecurityGroupId);
    return {
      endpoint: textOf(cluster.endpoint),
      certificateAuthority: textOf(objectOr(cluster.certificateAuthority).data),
      ...(serviceCidr === '' ? {} : { serviceCidr }),
      ...(securityGroupId === '' ? {} : { securityGroupId }),
    };
  }

  async consoleOutput(instanceId: string, options: Options = {}): Promise<string> {
    const input = { InstanceId: instanceId };
    const output = await this.#send('ec2', 'GetConsoleOutput', input, options);
    return new TextDecoder().decode(
      Uint8Array.from(atob(textOf(output.Output)), (char) => char.charCodeAt(0)),
    );
  }

  /** Undefined where the thing named does not exist. */
  async #maybe(
    service: string,
    operation: string,
    input: JsonObject,
    options: Options,
  ): Promise<JsonObject | undefined> {
    try {
      return await this.#send(service, operation, input, options);
    } catch (error) {
      if (error instanceof CloudError && error.cause instanceof AwsError) {
        if (isAbsence(error.cause.code, error.cause.message)) return undefined;
      }
      throw error;
    }
  }

  /** Every page of a paged call. */
  async #all<T>(
    service: string,
    operation: string,
    input: JsonObject,
    member: string,
    options: Options,
    convert: (item: JsonObject) => T,
  ): Promise<readonly T[]> {
    const items: T[] = [];
    let token: string | undefined;
    do {
      const page = token === undefined ? input : { ...input, NextToken: token };
      const output = await this.#send(service, operation, page, options);
      items.push(...objects(output[member]).map(convert));
      token = typeof output.NextToken === 'string' ? output.NextToken : undefined;
    } while (token !== undefined);
    return items;
  }

  async #fail(
    fate: { readonly kind: 'refused'; readonly code: string } | { readonly kind: 'lost' },
    operation: string,
    signal: AbortSignal | undefined,
  ): Promise<never> {
    await this.#network.call(() => undefined, signal);
    const code = fate.kind === 'lost' ? 'Unreachable' : (fate.code as CloudErrorCode);
    throw new CloudError(code, `${operation}: injected`);
  }

  async #send(
    service: string,
    operation: string,
    input: JsonObject,
    { signal }: Options,
  ): Promise<JsonObject> {
    const { faults } = this.#network;
    const fate = faults.cloudCall(operation);
    const told = (error?: string): void => this.#tell({ service, operation, input }, error);
    if (fate.kind === 'refused') {
      told(fate.code);
      return this.#fail(fate, operation, signal);
    }
    try {
      const output = await this.#network.call(() => {
        const answer = this.#answer(() => this.#call(service, operation, input), told);
        if (!/^(?:Describe|List|Get|Receive)/.test(operation)) {
          faults.afterWrite({ verb: operation, resource: service });
        }
        return answer;
      }, signal);
      if (fate.kind === 'lost') throw new CloudError('Unreachable', `${operation}: answer lost`);
      return isObject(output) ? output : {};
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      throw new CloudError(codeOf(error), `${operation}: ${error.message}`, { cause: error });
    }
  }

  /** Told at the moment it takes effect, whether or not the answer arrives. */
  #answer(call: () => unknown, told: (error?: string) => void): unknown {
    try {
      const output = call();
      told();
      return output;
    } catch (error) {
      told(error instanceof AwsError ? error.code : String(error));
      throw error;
    }
  }

  #remember(messages: readonly QueueMessage[]): void {
    if (this.#onCall === undefined) return;
    for (const { receiptHandle, body } of messages) this.#bodies.set(receiptHandle, body);
  }

  #tell(call: Omit<SentCall, 'error' | 'message'>, error: string | undefined): void {
    if (this.#onCall === undefined) return;
    const receipt = call.operation === 'DeleteMessage' ? textOf(call.input.ReceiptHandle) : '';
    const message = this.#bodies.get(receipt);
    this.#onCall({
      ...call,
      ...(error === undefined ? {} : { error }),
      ...(message === undefined ? {} : { message }),
    });
    if (error === undefined) this.#bodies.delete(receipt);
  }
}

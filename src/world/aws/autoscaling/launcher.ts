// Starts one instance for a group: picks the zone, reads the launch template, asks EC2, writes the
// activity. Never decides how many.

import { isObject, type JsonObject, objectOr } from '../../../api/json.ts';
import { instanceTypes } from '../ec2/instance-types.ts';
import type { InstanceRow, Instances, LaunchRequest } from '../ec2/instances.ts';
import type { LaunchTemplates, TemplateVersionRow } from '../ec2/launch-templates.ts';
import type { Network, SubnetRow } from '../ec2/network.ts';
import { sentence } from '../scope.ts';
import { launchOrder } from './choose.ts';
import type { GroupRow, MemberRow } from './rows.ts';
import type { GroupStore } from './store.ts';

export interface LaunchParts {
  readonly instances: Instances;
  readonly network: Network;
  readonly templates: LaunchTemplates;
}

type Attempt =
  | { readonly kind: 'launched'; readonly member: MemberRow }
  | { readonly kind: 'failed' };

export class Launcher {
  readonly #store: GroupStore;
  readonly #parts: LaunchParts;

  constructor(store: GroupStore, parts: LaunchParts) {
    this.#store = store;
    this.#parts = parts;
  }

  /**
   * Tries the zones in order of balance. `settledIn` (a zone) makes the instance run at once and in
   * service, for a world that begins with it.
   */
  launch(group: GroupRow, cause: string, settledIn?: string): Attempt {
    const subnets = group.subnetIds.flatMap((id) => this.#parts.network.subnet(id) ?? []);
    const zones = this.#store.counted(group.name).map((member) => member.zone);
    const places = launchOrder(subnets, zones).filter(
      (place) => settledIn === undefined || place.zone === settledIn,
    );
    for (const place of places) {
      const subnet = this.#parts.network.subnet(place.subnetId);
      const isSettled = settledIn !== undefined;
      const member = subnet && this.#launchIn(group, subnet, { cause, isSettled });
      if (member !== undefined) return { kind: 'launched', member };
    }
    return { kind: 'failed' };
  }

  #launchIn(
    group: GroupRow,
    subnet: SubnetRow,
    why: { readonly cause: string; readonly isSettled: boolean },
  ): MemberRow | undefined {
    let version: TemplateVersionRow;
    try {
      version = this.#parts.templates.version(group.template);
    } catch (error) {
      this.#fail(group, subnet, why.cause, messageOf(error));
      return undefined;
    }
    const request = launchRequest(group, subnet, version);
    if (!instanceTypes.has(request.instanceType)) {
      const told = sentence(
        `Your requested instance type (${request.instanceType}) is not supported in your`,
        `requested Availability Zone (${subnet.zone}). Launching EC2 instance failed.`,
      );
      this.#fail(group, subnet, why.cause, told);
      return undefined;
    }
    const result = this.#parts.instances.launch({ ...request, isSettled: why.isSettled });
    if (result.kind === 'refused') {
      const market = request.capacityType === 'SPOT' ? 'Spot' : 'On-Demand';
      const told = sentence(
        `Could not launch ${market} Instances. ${result.code} - ${result.message}`,
        'Launching EC2 instance failed.',
      );
      this.#fail(group, subnet, why.cause, told);
      return undefined;
    }
    return this.#join(group, result.instance, { ...why, version: version.version });
  }

  #join(
    group: GroupRow,
    instance: InstanceRow,
    why: { readonly cause: string; readonly isSettled: boolean; readonly version: number },
  ): MemberRow {
    const { instanceId, zone, subnetId, instanceType, imageId } = instance;
    const activity = this.#store.beginActivity(group, {
      description: `Launching a new EC2 instance: ${instanceId}`,
      cause: why.cause,
      status: 'PreInService',
      subnetId,
      zone,
    });
    const member: MemberRow = {
      instanceId,
      group: group.name,
      state: why.isSettled ? 'InService' : 'Pending',
      health: 'Healthy',
      zone,
      subnetId,
      instanceType,
      imageId,
      template: { ...group.template, version: String(why.version) },
      isProtected: group.protectsNew,
      joinedAt: this.#store.scope.now(),
      activityId: activity.id,
    };
    this.#store.addMember(member);
    if (why.isSettled) this.#store.endActivity(activity.id, 'Successful');
    return member;
  }

  #fail(group: GroupRow, subnet: SubnetRow, cause: string, message: string): void {
    const activity = this.#store.beginActivity(group, {
      description: 'Launching a new EC2 instance',
      cause,
      status: 'InProgress',
      subnetId: subnet.subnetId,
      zone: subnet.zone,
    });
    this.#store.endActivity(activity.id, 'Failed', message);
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const stringOf = (data: JsonObject, name: string): string | undefined => {
  const value = data[name];
  return typeof value === 'string' ? value : undefined;
};

const objectsOf = (data: JsonObject, name: string): readonly JsonObject[] => {
  const value = data[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
};

const stringsOf = (data: JsonObject, name: string): readonly string[] => {
  const value = data[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
};

/** The default size of a root volume in EKS' and eksctl's templates. */
const defaultDiskGiB = 80;

const launchRequest = (
  group: GroupRow,
  subnet: SubnetRow,
  version: TemplateVersionRow,
): LaunchRequest => {
  const { data } = version;
  const network = objectsOf(data, 'NetworkInterfaces')[0] ?? {};
  const disk = objectsOf(data, 'BlockDeviceMappings').map((one) => objectOr(one.Ebs))[0];
  const profile = objectOr(data.IamInstanceProfile);
  const isSpot = objectOr(data.InstanceMarketOptions).MarketType === 'spot';
  const fromTemplate = objectsOf(data, 'TagSpecifications')
    .filter((one) => one.ResourceType === 'instance')
    .flatMap((one) => objectsOf(one, 'Tags'))
    .map((tag) => [String(tag.Key), String(tag.Value ?? '')] as const);
  const propagated = group.tags
    .filter((tag) => tag.propagate)
    .map((tag) => [tag.key, tag.value] as const);
  return {
    imageId: stringOf(data, 'ImageId') ?? '',
    instanceType: group.mixed?.instanceTypes[0] ?? stringOf(data, 'InstanceType') ?? '',
    subnet,
    capacityType: group.mixed?.capacityType ?? (isSpot ? 'SPOT' : 'ON_DEMAND'),
    keyName: stringOf(data, 'KeyName'),
    profileArn: stringOf(profile, 'Arn') ?? stringOf(profile, 'Name'),
    securityGroupIds: [...stringsOf(data, 'SecurityGroupIds'), ...stringsOf(network, 'Groups')],
    diskGiB: Number(disk?.VolumeSize ?? defaultDiskGiB),
    userData: stringOf(data, 'UserData'),
    group: group.name,
    tags: {
      ...Object.fromEntries([...fromTemplate, ...propagated]),
      'aws:autoscaling:groupName': group.name,
      'aws:ec2launchtemplate:id': version.templateId,
      'aws:ec2launchtemplate:version': String(version.version),
    },
  };
};

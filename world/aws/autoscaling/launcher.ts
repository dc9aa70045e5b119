// Launches one instance for a group: picks the zone, reads the launch template, calls EC2, writes
// the activity. Never decides how many.

import { isObject, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { InstanceRow } from '../ec2/instance-row.ts';
import { instanceTypes } from '../ec2/instance-types.ts';
import type { Instances, LaunchRequest } from '../ec2/instances.ts';
import type { LaunchTemplates, TemplateVersionRow } from '../ec2/launch-templates.ts';
import type { Network, SubnetRow } from '../ec2/network.ts';
import { sentence } from '../scope.ts';
import { launchOrder } from './choose.ts';
import { capacityOf, type GroupRow, type MemberRow } from './rows.ts';
import type { GroupStore } from './store.ts';

export interface LaunchParts {
  readonly instances: Instances;
  readonly network: Network;
  readonly templates: LaunchTemplates;
}

type Attempt =
  | { readonly kind: 'launched'; readonly member: MemberRow }
  | { readonly kind: 'failed' };

type LaunchKind = 'plain' | 'settled' | 'warm';

export interface LaunchHow {
  readonly kind?: LaunchKind;
  /** Launch in this zone only. */
  readonly zone?: string;
}

interface Why {
  readonly cause: string;
  readonly kind: LaunchKind;
}

export class Launcher {
  readonly #store: GroupStore;
  readonly #parts: LaunchParts;

  constructor(store: GroupStore, parts: LaunchParts) {
    this.#store = store;
    this.#parts = parts;
  }

  /**
   * Tries the zones in order of balance. `kind` 'settled' puts the instance in service immediately,
   * for a world that starts with it; 'warm' launches it into the warm pool.
   */
  launch(group: GroupRow, cause: string, how: LaunchHow = {}): Attempt {
    const subnets = group.subnetIds.flatMap((id) => this.#parts.network.subnet(id) ?? []);
    const beside = how.kind === 'warm' ? this.#store.warmed(group.name) : [];
    const zones = [...this.#store.counted(group.name), ...beside].map((member) => member.zone);
    const places = launchOrder(subnets, zones).filter(
      (place) => how.zone === undefined || place.zone === how.zone,
    );
    for (const place of places) {
      const subnet = this.#parts.network.subnet(place.subnetId);
      const why = { cause, kind: how.kind ?? 'plain' };
      const member = subnet && this.#launchIn(group, subnet, why);
      if (member !== undefined) return { kind: 'launched', member };
    }
    return { kind: 'failed' };
  }

  #launchIn(group: GroupRow, subnet: SubnetRow, why: Why): MemberRow | undefined {
    let version: TemplateVersionRow;
    try {
      version = this.#parts.templates.version(group.template);
    } catch (error) {
      this.#fail(group, subnet, why.cause, messageOf(error));
      return undefined;
    }
    const request = launchRequest(group, subnet, version);
    const capacityType = this.#capacityType(group, request.capacityType);
    const types = group.mixed?.instanceTypes ?? [];
    let told = '';
    for (const instanceType of types.length === 0 ? [request.instanceType] : types) {
      const result = this.#start({ ...request, instanceType, capacityType }, why.kind);
      if (typeof result !== 'string') {
        return this.#join(group, result, { ...why, version: version.version });
      }
      told = result;
    }
    this.#fail(group, subnet, why.cause, told);
    return undefined;
  }

  /** The instance, or EC2's error message. */
  #start(request: LaunchRequest, kind: LaunchKind): InstanceRow | string {
    if (!instanceTypes.has(request.instanceType)) {
      return sentence(
        `Your requested instance type (${request.instanceType}) is not supported in your`,
        `requested Availability Zone (${request.subnet.zone}). Launching EC2 instance failed.`,
      );
    }
    const isSettled = kind === 'settled';
    const isWarm = kind === 'warm';
    const result = this.#parts.instances.launch({ ...request, isSettled, isWarm });
    if (result.kind === 'launched') return result.instance;
    // Auto Scaling returns EC2's message for a request that can never succeed.
    if (result.code === 'InvalidAMIID.NotFound') {
      return `${result.message}. Launching EC2 instance failed.`;
    }
    const market = request.capacityType === 'SPOT' ? 'Spot' : 'On-Demand';
    return sentence(
      `Could not launch ${market} Instances. ${result.code} - ${result.message}`,
      'Launching EC2 instance failed.',
    );
  }

  /** On-demand up to the policy's base and percentage, else spot. */
  #capacityType(
    group: GroupRow,
    own: LaunchRequest['capacityType'],
  ): LaunchRequest['capacityType'] {
    const { name, mixed, desired } = group;
    if (mixed === undefined) return own;
    const { onDemandBase, onDemandAbove } = mixed;
    const above = Math.max(0, desired - onDemandBase);
    const wanted = onDemandBase + Math.ceil((above * onDemandAbove) / 100);
    const onDemand = this.#store
      .counted(name)
      .filter((one) => this.#parts.instances.get(one.instanceId)?.capacityType === 'ON_DEMAND');
    const have = capacityOf(group, onDemand);
    return have < wanted ? 'ON_DEMAND' : 'SPOT';
  }

  #join(
    group: GroupRow,
    instance: InstanceRow,
    why: Why & { readonly version: number },
  ): MemberRow {
    const { instanceId, zone, subnetId, instanceType, imageId } = instance;
    const isWarm = why.kind === 'warm';
    const activity = this.#store.beginActivity(group, {
      description: `Launching a new EC2 instance${isWarm ? ' into warm pool' : ''}: ${instanceId}`,
      cause: why.cause,
      status: 'PreInService',
      subnetId,
      zone,
    });
    const member: MemberRow = {
      instanceId,
      group: group.name,
      state: why.kind === 'settled' ? 'InService' : isWarm ? 'Warmed:Pending' : 'Pending',
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
    if (why.kind === 'settled') this.#store.endActivity(activity.id, 'Successful');
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
    instanceType: stringOf(data, 'InstanceType') ?? '',
    subnet,
    capacityType: isSpot ? 'SPOT' : 'ON_DEMAND',
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

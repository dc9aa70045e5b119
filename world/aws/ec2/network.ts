// VPCs with their subnets, and the holders of the addresses in them. Nodes and pods use the same
// subnet. Never decides the subnet of an instance.
import { ipv4Block, ipv4Number, ipv4Text } from '../../../src/api/addresses.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { Kernel, Table } from '../../kernel/index.ts';
import type { Tags } from '../filters.ts';
import { refuse, type Scope } from '../scope.ts';

export type VpcRow = {
  readonly vpcId: string;
  readonly cidr: string;
  readonly tags: Tags;
  /** True for the account's default VPC. */
  readonly isDefault?: boolean;
};

export type SubnetRow = {
  readonly subnetId: string;
  readonly vpcId: string;
  readonly cidr: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly isPublic: boolean;
  readonly tags: Tags;
};

export type SecurityGroupRow = {
  readonly groupId: string;
  readonly name: string;
  readonly description: string;
  readonly vpcId: string;
  readonly tags: Tags;
  /** In CloudFormation's form: IpProtocol, FromPort, ToPort, CidrIp, SourceSecurityGroupId. */
  readonly ingress?: readonly JsonObject[];
  readonly egress?: readonly JsonObject[];
};

export type AddressRow = {
  readonly subnetId: string;
  readonly address: string;
  readonly instanceId: string;
  readonly kind: 'node' | 'pod';
};

/** AWS reserves the first four addresses of a subnet and the last. */
const reservedAtStart = 4;
const reservedInAll = 5;
const component = 'aws.ec2.network';

/** EC2's error for the deletion of a resource in use. */
const dependencies = (kind: string, id: string) =>
  refuse('DependencyViolation', `The ${kind} '${id}' has dependencies and cannot be deleted.`);

export class Network {
  readonly #scope: Scope;
  readonly #vpcs: Table<VpcRow>;
  readonly #subnets: Table<SubnetRow>;
  readonly #groups: Table<SecurityGroupRow>;
  readonly #addresses: Table<AddressRow>;
  /** Derived from #addresses: addresses in use per subnet, and addresses of each instance. */
  readonly #taken = new Map<string, Set<number>>();
  readonly #held = new Map<string, Set<string>>();

  constructor(scope: Scope) {
    this.#scope = scope;
    const { tables }: Kernel = scope.kernel;
    this.#vpcs = tables.open<VpcRow>('aws/ec2/vpcs');
    this.#subnets = tables.open<SubnetRow>('aws/ec2/subnets');
    this.#groups = tables.open<SecurityGroupRow>('aws/ec2/security-groups');
    this.#addresses = tables.open<AddressRow>('aws/ec2/addresses');
    for (const [key, row] of this.#addresses.entries()) this.#index(key, row);
  }

  addVpc(
    cidr: string,
    tags: Tags,
    { vpcId = this.#scope.id(component, 'vpc'), isDefault = false } = {},
  ): VpcRow {
    const row = { vpcId, cidr, tags, ...(isDefault ? { isDefault } : {}) };
    this.#vpcs.put(row.vpcId, row);
    return row;
  }

  addSubnet(
    subnet: Omit<SubnetRow, 'subnetId'>,
    subnetId = this.#scope.id(component, 'subnet'),
  ): SubnetRow {
    const row = { subnetId, ...subnet };
    this.#subnets.put(row.subnetId, row);
    return row;
  }

  addSecurityGroup(
    group: Omit<SecurityGroupRow, 'groupId'>,
    groupId = this.#scope.id(component, 'sg'),
  ): SecurityGroupRow {
    const row = { groupId, ...group };
    this.#groups.put(row.groupId, row);
    return row;
  }

  vpcs(): readonly VpcRow[] {
    return [...this.#vpcs.values()];
  }
  subnets(): readonly SubnetRow[] {
    return [...this.#subnets.values()];
  }
  subnet(subnetId: string): SubnetRow | undefined {
    return this.#subnets.get(subnetId);
  }
  securityGroups(): readonly SecurityGroupRow[] {
    return [...this.#groups.values()];
  }

  changeRules(
    groupId: string,
    direction: 'ingress' | 'egress',
    change: (rules: readonly JsonObject[]) => readonly JsonObject[],
  ): void {
    const group = this.#groups.get(groupId);
    if (group === undefined) {
      throw refuse('InvalidGroup.NotFound', `The security group '${groupId}' does not exist`);
    }
    this.#groups.put(groupId, { ...group, [direction]: change(group[direction] ?? []) });
  }

  removeVpc(vpcId: string): void {
    const subnet = this.subnets().find((one) => one.vpcId === vpcId);
    const group = this.securityGroups().find(
      (one) => one.vpcId === vpcId && one.name !== 'default',
    );
    if (subnet !== undefined || group !== undefined) throw dependencies('vpc', vpcId);
    for (const one of this.securityGroups()) {
      if (one.vpcId === vpcId) this.#groups.delete(one.groupId);
    }
    this.#vpcs.delete(vpcId);
  }
  removeSubnet(subnetId: string): void {
    if ((this.#taken.get(subnetId)?.size ?? 0) > 0) throw dependencies('subnet', subnetId);
    this.#subnets.delete(subnetId);
  }
  removeSecurityGroup(groupId: string): void {
    this.#groups.delete(groupId);
  }

  /**
   * Changes the tags of a VPC, subnet or security group; returns false if `id` is another resource.
   */
  setTags(id: string, change: (before: Tags) => Tags): boolean {
    const vpc = this.#vpcs.get(id);
    if (vpc !== undefined) this.#vpcs.put(id, { ...vpc, tags: change(vpc.tags) });
    const subnet = this.#subnets.get(id);
    if (subnet !== undefined) this.#subnets.put(id, { ...subnet, tags: change(subnet.tags) });
    const group = this.#groups.get(id);
    if (group !== undefined) this.#groups.put(id, { ...group, tags: change(group.tags) });
    return vpc !== undefined || subnet !== undefined || group !== undefined;
  }

  /** Zones of the VPC, by name. */
  zones(): readonly { readonly zone: string; readonly zoneId: string }[] {
    const byZone = new Map(this.subnets().map(({ zone, zoneId }) => [zone, zoneId]));
    return [...byZone]
      .map(([zone, zoneId]) => ({ zone, zoneId }))
      .sort((a, b) => (a.zone < b.zone ? -1 : 1));
  }

  /** `eu-west-1a` -> `euw1-az1`; existing zones keep their ids. */
  zoneIdOf(zone: string): string {
    const known = this.zones().find((one) => one.zone === zone);
    if (known !== undefined) return known.zoneId;
    const [area = '', direction = '', rest = ''] = zone.split('-');
    const letter = zone.charCodeAt(zone.length - 1) - 96;
    return `${area}${direction.charAt(0)}${rest.slice(0, -1)}-az${letter}`;
  }

  /** Free addresses; 0 while the fault `no-addresses` covers the subnet. */
  available(subnetId: string): number {
    const subnet = this.#subnets.get(subnetId);
    if (subnet === undefined || this.#scope.faults.active('no-addresses', { subnet: subnetId })) {
      return 0;
    }
    const taken = this.#taken.get(subnetId)?.size ?? 0;
    return ipv4Block(subnet.cidr).size - reservedInAll - taken;
  }

  /** A random free address of the subnet, as EC2 assigns them; undefined if none is left. */
  allocate(holder: Omit<AddressRow, 'address'>): string | undefined {
    const subnet = this.#subnets.get(holder.subnetId);
    if (subnet === undefined || this.available(holder.subnetId) <= 0) return undefined;
    const { first, size } = ipv4Block(subnet.cidr);
    const usable = size - reservedInAll;
    const taken = this.#taken.get(holder.subnetId);
    let offset = this.#scope.kernel.random(component).below(usable);
    while (taken?.has(first + reservedAtStart + offset) === true) offset = (offset + 1) % usable;
    const address = ipv4Text(first + reservedAtStart + offset);
    const key = `${holder.subnetId}/${address}`;
    const row: AddressRow = { ...holder, address };
    this.#addresses.put(key, row);
    this.#index(key, row);
    return address;
  }

  /** No-op if `instanceId` does not hold the address. */
  release(instanceId: string, address: string): void {
    for (const key of this.#held.get(instanceId) ?? []) {
      const row = this.#addresses.get(key);
      if (row?.address === address) this.#drop(key, row);
    }
  }

  releaseAll(instanceId: string): void {
    for (const key of [...(this.#held.get(instanceId) ?? [])]) {
      const row = this.#addresses.get(key);
      if (row !== undefined) this.#drop(key, row);
    }
  }

  podAddresses(instanceId: string): number {
    let count = 0;
    for (const key of this.#held.get(instanceId) ?? []) {
      if (this.#addresses.get(key)?.kind === 'pod') count++;
    }
    return count;
  }

  /** All addresses of the instance, its primary one first. */
  addressesOf(instanceId: string): readonly string[] {
    return [...(this.#held.get(instanceId) ?? [])].map((key) => key.slice(key.indexOf('/') + 1));
  }

  #index(key: string, row: AddressRow): void {
    const taken = this.#taken.get(row.subnetId) ?? new Set();
    this.#taken.set(row.subnetId, taken.add(ipv4Number(row.address) ?? 0));
    const held = this.#held.get(row.instanceId) ?? new Set();
    this.#held.set(row.instanceId, held.add(key));
  }

  #drop(key: string, row: AddressRow): void {
    this.#addresses.delete(key);
    this.#taken.get(row.subnetId)?.delete(ipv4Number(row.address) ?? 0);
    const held = this.#held.get(row.instanceId);
    held?.delete(key);
    if (held?.size === 0) this.#held.delete(row.instanceId);
  }
}

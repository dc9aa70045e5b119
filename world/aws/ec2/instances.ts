// EC2 instances as a state machine: pending, running, stopping, stopped, shutting-down, terminated.
// Turns machines on and off at their host and calls listeners. Never decides to launch.

import { defined } from '../../../src/api/defined.ts';
import type { Machine } from '../../contracts.ts';
import type { Table, WorldEvent } from '../../kernel/index.ts';
import { hexString } from '../../kernel/index.ts';
import type { Tags } from '../filters.ts';
import { isoMillis, type Scope, sentence, spotNoticeMs, terminatedMemoryMs } from '../scope.ts';
import type { Images } from './images.ts';
import type { InstanceRow, InstanceState, StateReason } from './instance-row.ts';
import { type InstanceType, instanceTypes, maxPodsOf, podAddressesOf } from './instance-types.ts';
import type { Network, SubnetRow } from './network.ts';
import { type Bootstrap, bootstrapOf } from './user-data.ts';
import { VcpuQuota } from './vcpu-quota.ts';

/** EC2's numeric codes of the states. */
export const stateCodes: Readonly<Record<InstanceState, number>> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
};

const allowed: Readonly<Record<InstanceState, readonly InstanceState[]>> = {
  pending: ['running', 'shutting-down'],
  running: ['stopping', 'shutting-down'],
  stopping: ['stopped', 'shutting-down'],
  stopped: ['pending', 'shutting-down'],
  'shutting-down': ['terminated'],
  terminated: [],
};

const userShutdown: StateReason = {
  code: 'Client.UserInitiatedShutdown',
  message: 'Client.UserInitiatedShutdown: User initiated shutdown',
};
const spotTermination: StateReason = {
  code: 'Server.SpotInstanceTermination',
  message: 'Server.SpotInstanceTermination: Instance terminated by Spot service',
};
export const hardwareFailure: StateReason = {
  code: 'Server.InternalError',
  message: 'Server.InternalError: Internal server error',
};

export interface LaunchRequest {
  readonly imageId: string;
  readonly instanceType: string;
  readonly subnet: SubnetRow;
  readonly capacityType: 'ON_DEMAND' | 'SPOT';
  readonly keyName?: string | undefined;
  readonly profileArn?: string | undefined;
  readonly securityGroupIds: readonly string[];
  readonly diskGiB: number;
  readonly userData?: string | undefined;
  readonly tags: Tags;
  /** Auto Scaling group name, a possible target of faults. */
  readonly group?: string | undefined;
  /** Already running: for a world that starts with instances. */
  readonly isSettled?: boolean;
  /** For a warm pool. */
  readonly isWarm?: boolean;
}

export type LaunchResult =
  | { readonly kind: 'launched'; readonly instance: InstanceRow }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

export interface StateChange {
  readonly instance: InstanceRow;
  readonly from: InstanceState | undefined;
}

const component = 'aws.ec2';

export class Instances {
  readonly #scope: Scope;
  readonly #network: Network;
  readonly #images: Pick<Images, 'systemOf' | 'refusal'>;
  readonly #rows: Table<InstanceRow>;
  readonly quota: VcpuQuota;
  readonly #listeners: ((change: StateChange) => void)[] = [];

  constructor(scope: Scope, network: Network, images: Pick<Images, 'systemOf' | 'refusal'>) {
    this.#scope = scope;
    this.#network = network;
    this.#images = images;
    this.#rows = scope.kernel.tables.open<InstanceRow>('aws/ec2/instances');
    this.quota = new VcpuQuota(scope, () => this.#rows.values());
    scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
  }

  /** Called at each change of state, including the first, after the state is stored. */
  onStateChange(listener: (change: StateChange) => void): void {
    this.#listeners.push(listener);
  }

  get(instanceId: string): InstanceRow | undefined {
    return this.#rows.get(instanceId);
  }
  all(): IterableIterator<InstanceRow> {
    return this.#rows.values();
  }

  launch(request: LaunchRequest): LaunchResult {
    const { subnet, instanceType, group } = request;
    const { faults, kernel } = this.#scope;
    const place = {
      zone: subnet.zone,
      type: instanceType,
      ...defined({ group }),
    };
    // A template without an image is accepted: the machine's boot does not read the image.
    const noImage = this.#images.refusal(request.imageId);
    if (noImage !== undefined) return { kind: 'refused', ...noImage };
    if (faults.active('no-capacity', place)) {
      const message = this.#noCapacity(instanceType, subnet.zone, group);
      return { kind: 'refused', code: 'InsufficientInstanceCapacity', message };
    }
    const aboveQuota = this.quota.refusal(instanceType, request.capacityType);
    if (aboveQuota !== undefined) return { kind: 'refused', ...aboveQuota };
    const instanceId = this.#scope.id(component, 'i');
    const { subnetId, vpcId, zone } = subnet;
    const privateIp = this.#network.allocate({ subnetId, instanceId, kind: 'node' });
    if (privateIp === undefined) {
      return {
        kind: 'refused',
        code: 'InsufficientFreeAddressesInSubnet',
        message: sentence(
          `There are not enough free addresses in subnet '${subnetId}' to satisfy the`,
          'requested number of instances.',
        ),
      };
    }
    const random = kernel.random(component);
    const optional = {
      ...defined({
        keyName: request.keyName,
        profileArn: request.profileArn,
        userData: request.userData,
      }),
      ...(request.isWarm === true ? { isWarm: true } : {}),
    };
    const instance: InstanceRow = {
      instanceId,
      reservationId: this.#scope.id(component, 'r'),
      interfaceId: this.#scope.id(component, 'eni'),
      mac: `0a:${[0, 0, 0, 0, 0].map(() => hexString(random, 2)).join(':')}`,
      state: 'pending',
      transitionReason: '',
      launchedAt: this.#scope.now(),
      imageId: request.imageId,
      instanceType,
      capacityType: request.capacityType,
      zone,
      subnetId,
      vpcId,
      privateIp,
      privateDnsName: `ip-${privateIp.replaceAll('.', '-')}.${this.#scope.region}.compute.internal`,
      securityGroupIds: request.securityGroupIds,
      diskGiB: request.diskGiB,
      tags: request.tags,
      joins: !faults.active('never-join', place),
      ...optional,
    };
    this.#rows.put(instanceId, instance);
    this.#tell({ instance, from: undefined });
    if (request.isSettled === true) this.#run(instanceId);
    else this.#later('run', instanceId, this.#scope.timings.instancePendingMs);
    return { kind: 'launched', instance: this.#rows.get(instanceId) ?? instance };
  }

  /** No-op for an instance that is shutting down or terminated. */
  terminate(instanceId: string, reason: StateReason = userShutdown): void {
    const row = this.#rows.get(instanceId);
    if (row === undefined || row.state === 'shutting-down' || row.state === 'terminated') return;
    const wasOn = row.state === 'running' && row.isWarm !== true;
    this.#move(instanceId, 'shutting-down', reason);
    if (wasOn) this.#scope.host().powerOff(instanceId);
    this.#later('terminated', instanceId, this.#scope.timings.instanceShuttingDownMs);
  }

  stop(instanceId: string): void {
    if (this.#rows.get(instanceId)?.state !== 'running') return;
    this.#move(instanceId, 'stopping', userShutdown);
    if (this.#rows.get(instanceId)?.isWarm !== true) this.#scope.host().powerOff(instanceId);
    this.#later('stopped', instanceId, this.#scope.timings.instanceStoppingMs);
  }

  /** Leaves the warm pool: its machine may join. Returns true if it is running already. */
  unwarm(instanceId: string): boolean {
    const row = this.#rows.get(instanceId);
    if (row === undefined) return false;
    const { isWarm: _, ...plain } = row;
    this.#rows.put(instanceId, plain);
    if (row.state !== 'running') return false;
    this.#scope.host().powerOn(this.#machine(plain));
    return true;
  }

  start(instanceId: string): void {
    if (this.#rows.get(instanceId)?.state !== 'stopped') return;
    this.#move(instanceId, 'pending');
    this.#later('run', instanceId, this.#scope.timings.instancePendingMs);
  }

  reboot(instanceId: string): void {
    if (this.#rows.get(instanceId)?.state === 'running') this.#scope.host().reboot(instanceId);
  }

  /** Ends a spot instance two minutes after its notice; the caller sends the notice. */
  scheduleReclaim(instanceId: string): void {
    this.#later('reclaim', instanceId, [spotNoticeMs, spotNoticeMs]);
  }

  setTags(instanceId: string, tags: Tags): boolean {
    const row = this.#rows.get(instanceId);
    if (row === undefined) return false;
    this.#rows.put(instanceId, { ...row, tags });
    return true;
  }

  typeOf(instance: InstanceRow): InstanceType | undefined {
    return instanceTypes.get(instance.instanceType);
  }

  /** A pod address from the instance's subnet, within the limit of its network interfaces. */
  allocatePodAddress(instanceId: string): string | undefined {
    const row = this.#rows.get(instanceId);
    const type = row === undefined ? undefined : this.typeOf(row);
    if (row === undefined || type === undefined || row.state === 'terminated') return undefined;
    if (this.#network.podAddresses(instanceId) >= podAddressesOf(type)) return undefined;
    return this.#network.allocate({ subnetId: row.subnetId, instanceId, kind: 'pod' });
  }

  #noCapacity(instanceType: string, zone: string, group: string | undefined): string {
    const others = this.#network
      .zones()
      .map((one) => one.zone)
      .filter((one) => one !== zone)
      .filter(
        (one) =>
          !this.#scope.faults.active('no-capacity', {
            zone: one,
            type: instanceType,
            ...defined({ group }),
          }),
      );
    const elsewhere =
      others.length === 0
        ? ''
        : sentence(
            ` You can currently get ${instanceType} capacity by not specifying an`,
            `Availability Zone in your request or choosing ${others.join(', ')}.`,
          );
    return sentence(
      `We currently do not have sufficient ${instanceType} capacity in the Availability`,
      `Zone you requested (${zone}). Our system will be working on provisioning`,
      `additional capacity.${elsewhere}`,
    );
  }

  #later(kind: string, instanceId: string, span: readonly [number, number]): void {
    this.#scope.kernel.schedule({
      afterMicros: this.#scope.delay(component, span),
      actor: component,
      kind,
      args: { instanceId },
    });
  }

  #handle(event: WorldEvent): void {
    const instanceId = String(event.args.instanceId);
    const state = this.#rows.get(instanceId)?.state;
    switch (event.kind) {
      case 'run':
        if (state === 'pending') this.#run(instanceId);
        return;
      case 'stopped':
        if (state === 'stopping') this.#move(instanceId, 'stopped');
        return;
      case 'terminated':
        if (state !== 'shutting-down') return;
        this.#network.releaseAll(instanceId);
        this.#move(instanceId, 'terminated');
        this.#later('forget', instanceId, [terminatedMemoryMs, terminatedMemoryMs]);
        return;
      case 'reclaim':
        this.terminate(instanceId, spotTermination);
        return;
      case 'forget':
        this.#rows.delete(instanceId);
        return;
      default:
        throw new Error(`${component}: unknown event ${event.kind}`);
    }
  }

  #run(instanceId: string): void {
    this.#move(instanceId, 'running');
    const row = this.#rows.get(instanceId);
    if (row !== undefined && row.isWarm !== true) {
      this.#scope.host().powerOn(this.#machine(row));
    }
  }

  /** The bootstrap that its user data describes, with the facts of the instance. */
  bootstrapOf(row: InstanceRow): Bootstrap {
    return bootstrapOf(row, this.#images.systemOf(row.imageId), this.#scope.region);
  }

  #machine(row: InstanceRow): Machine {
    const type = instanceTypes.get(row.instanceType);
    const bootstrap = this.bootstrapOf(row);
    return {
      instanceId: row.instanceId,
      instanceType: row.instanceType,
      imageId: row.imageId,
      region: this.#scope.region,
      zone: row.zone,
      subnetId: row.subnetId,
      privateIp: row.privateIp,
      privateDnsName: row.privateDnsName,
      capacityType: row.capacityType,
      cpus: type?.cpus ?? 2,
      memoryMiB: type?.memoryMiB ?? 4096,
      maxPods: bootstrap.maxPods ?? (type === undefined ? 110 : maxPodsOf(type)),
      nodeLabels: bootstrap.labels,
      nodeTaints: bootstrap.taints,
      joins: row.joins && bootstrap.joins,
      ...defined({ bootstrapFault: bootstrap.fault }),
    };
  }

  #move(instanceId: string, to: InstanceState, reason?: StateReason): void {
    const row = this.#rows.get(instanceId);
    if (row === undefined) return;
    if (!allowed[row.state].includes(to)) {
      throw new Error(`instance ${instanceId} cannot go from ${row.state} to ${to}`);
    }
    const next: InstanceRow = {
      ...row,
      state: to,
      ...(to === 'pending' ? { launchedAt: this.#scope.now() } : {}),
      ...(reason === undefined
        ? {}
        : { stateReason: reason, transitionReason: this.#transitionReason(reason) }),
    };
    this.#rows.put(instanceId, next);
    this.#tell({ instance: next, from: row.state });
  }

  #transitionReason(reason: StateReason): string {
    if (reason !== userShutdown) return reason.code;
    const time = isoMillis(this.#scope.now()).slice(0, 19).replace('T', ' ');
    return `User initiated (${time} GMT)`;
  }

  #tell(change: StateChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

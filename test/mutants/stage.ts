// A small cluster with the real controllers in virtual time, for situations that random lives
// rarely reach. A story defines the actions of operators, cloud and network; the oracles check its
// trace.

import { certificateGrants } from '../../src/api/controller-rights.ts';
import { defined } from '../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../../src/api/nodegroup.ts';
import type { Violation } from '../../src/api/trace.ts';
import { aRequest } from '../../src/formats/index.ts';
import type { Log } from '../../src/ports/index.ts';
import type { Settle } from '../../src/sim/driver.ts';
import { Driver } from '../../src/sim/driver.ts';
import { ControllerProcess } from '../../src/sim/lives/process.ts';
import { type NetworkFaults, noFaults } from '../../src/sim/ports/network.ts';
import { TraceRecorder } from '../../src/sim/trace/recorder.ts';
import { checkTrace } from '../../world/check/index.ts';
import type { Result } from '../../world/contracts.ts';
import {
  createWorld,
  nodeManagerAgent,
  nodeManagerUser,
  seedCluster,
  type World,
} from '../../world/index.ts';
import { microsPerSecond } from '../../world/kernel/index.ts';

export interface StageOptions {
  readonly settle: Settle;
  readonly compat: 'eks' | 'native';
  /** Two processes that lead in turn; default: one, without a lease. */
  readonly twoLeaders?: boolean;
  /** The group's initial state; default: two nodes in one zone. */
  readonly group?: GroupOptions;
}

export interface GroupOptions {
  readonly nodes: number;
  readonly zones: readonly ('a' | 'b' | 'c')[];
}

const smallGroup: GroupOptions = { nodes: 2, zones: ['a'] };

/** 2022-09-25T13:00:00Z, the day of the articles. */
const startAt = 1_664_110_800 * microsPerSecond;
const groupName = 'g1';
/** Six days old at the start; the group starts one release behind. */
const newestRelease = '1.32.9-20220919';
const slowStop = { 'world.drover.dev/stop-seconds': '20' };
const silence: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silence,
};

const gr = {
  deployments: { group: 'apps', resource: 'deployments' },
  nodes: { group: '', resource: 'nodes' },
  pods: { group: '', resource: 'pods' },
  requests: { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' },
  budgets: { group: 'policy', resource: 'poddisruptionbudgets' },
  disruptions: { group: 'drover.dev', resource: 'nodedisruptions' },
  groups: { group: 'drover.dev', resource: 'nodegroups' },
  updates: { group: 'drover.dev', resource: 'nodegroupupdates' },
} as const;

export class Stage {
  readonly world: World;
  /** Network faults of Drover's process; set by the story. */
  faults: Partial<NetworkFaults> = {};
  readonly #options: StageOptions;
  readonly #recorder: TraceRecorder;
  readonly #driver: Driver;
  readonly #processes: readonly ControllerProcess[];
  #standsStill: ((operation: string) => number) | undefined;
  readonly #autoScalingGroupName: string;
  readonly #managedGroups = new Set<string>();
  #failure: unknown;

  private constructor(options: StageOptions) {
    this.#options = options;
    const recorder: TraceRecorder = new TraceRecorder(() => this.world.kernel.now());
    this.#recorder = recorder;
    this.world = createWorld({
      seed: 1,
      startAt,
      events: false,
      leases: 'implied',
      approvesKubelets: false,
      onWrite: (record) => recorder.request(record),
    });
    this.#driver = new Driver(this.world.kernel, options.settle);
    recorder.attach(this.world);
    this.world.kube.onChange(gr.groups, ({ object }) => {
      this.#managedGroups.add(autoScalingGroupNameOf(object as unknown as NodeGroup));
    });
    const { nodes: desired, zones } = options.group ?? smallGroup;
    const group = { name: groupName, isManaged: true, min: 0, max: 6, desired, zones };
    const facts = seedCluster(this.world, {
      clusterName: 'story',
      kubernetesVersion: '1.32.9',
      groups: [{ ...group, instanceType: 'm5.large', releasesBehind: 1 }],
      addons: false,
      workload: false,
    });
    this.#grantCertificates();
    this.#autoScalingGroupName = facts.managed[0]?.spec.autoScalingGroupName ?? '';
    const queueUrl = this.world.aws.queueUrl(facts.noticeQueueName) ?? '';
    const names = options.twoLeaders === true ? ['r1', 'r2'] : ['r1'];
    this.#processes = names.map((name) => this.#createProcess(name, queueUrl));
  }

  #createProcess(name: string, queueUrl: string): ControllerProcess {
    const process = new ControllerProcess({
      world: this.world,
      identity: { user: nodeManagerUser, userAgent: nodeManagerAgent },
      compat: this.#options.compat,
      approveCertificates: true,
      name,
      leaderElect: this.#options.twoLeaders === true,
      queueUrl,
      faults: {
        kubeCall: (call) => (this.faults.kubeCall ?? noFaults.kubeCall)(call),
        cloudCall: (operation) => {
          const seconds = this.#standsStill?.(operation) ?? 0;
          if (seconds > 0) process.pause(seconds);
          return (this.faults.cloudCall ?? noFaults.cloudCall)(operation);
        },
        watchFrame: (resource) => (this.faults.watchFrame ?? noFaults.watchFrame)(resource),
        watchExpired: (resource) => (this.faults.watchExpired ?? noFaults.watchExpired)(resource),
        afterWrite: (call) => (this.faults.afterWrite ?? noFaults.afterWrite)(call),
      },
      log: silence,
      onCloudCall: (call) => this.#recorder.call({ userAgent: nodeManagerAgent, ...call }),
      onFailure: (error) => {
        this.#failure ??= error;
      },
    });
    return process;
  }

  /** Starts the controllers; resolves once all nodes of the group are Ready. */
  static async begin(options: StageOptions): Promise<Stage> {
    const stage = new Stage(options);
    for (const process of stage.#processes) process.start();
    const { nodes } = options.group ?? smallGroup;
    await stage.until(() => stage.nodes().length === nodes);
    await stage.advance(60);
    return stage;
  }

  advance(seconds: number): Promise<void> {
    return this.#driver.advance(seconds);
  }

  /** Throws if the condition does not hold within the limit. */
  async until(holds: () => boolean, limitSeconds = 600): Promise<void> {
    if (await this.#driver.until(holds, { limitSeconds })) return;
    throw new Error(`not within ${limitSeconds} s: ${holds.toString()}`);
  }

  /** The oracles' violations up to this point. */
  end(settled: boolean): readonly Violation[] {
    for (const process of this.#processes) process.kill();
    if (this.#failure !== undefined) throw this.#failure;
    const trace = this.#recorder.finish({
      ownAgents: [nodeManagerAgent],
      managedGroups: [...this.#managedGroups],
      compat: this.#options.compat,
      settled,
      endedAt: this.world.kernel.now(),
    });
    return checkTrace(trace).violations;
  }

  // ---- actions of operators and of the network ----

  /** Delays watch frames of this kind from now on. */
  delay(resource: string, seconds: number): void {
    const lagMicros = seconds * microsPerSecond;
    this.faults = {
      ...this.faults,
      watchFrame: (of) => ({ lagMicros: of === resource ? lagMicros : 0, breaks: false }),
    };
    this.#recorder.fault('F1-stale-watch', 'fired');
  }

  /** Kills the process after its next write of this kind and restarts it `seconds` later. */
  dieAfterWriteOf(resource: string, seconds: number): void {
    this.faults = {
      ...this.faults,
      afterWrite: (call) => {
        if (call.resource !== resource) return;
        this.faults = {};
        this.#recorder.fault('F3-crash-after-write', 'fired');
        for (const process of this.#processes) process.restartAfter(seconds);
      },
    };
  }

  /**
   * The leader stalls just before its next call of this kind; after `seconds` it sends the call and
   * continues.
   */
  standStillBefore(operation: string, seconds: number): void {
    this.#standsStill = (asked) => {
      if (asked !== operation) return 0;
      this.#standsStill = undefined;
      this.#recorder.fault('F6-leader-paused', 'fired');
      return seconds;
    };
  }

  aws(operation: string, input: JsonObject): void {
    const { aws } = this.world;
    aws.call('autoscaling', operation, input, { userAgent: 'aws-cli' });
  }
  ofGroup(input: JsonObject): JsonObject {
    return { AutoScalingGroupName: this.#autoScalingGroupName, ...input };
  }
  terminate(node: string): void {
    const InstanceId = this.instanceOf(node);
    const more = { ShouldDecrementDesiredCapacity: true };
    this.aws('TerminateInstanceInAutoScalingGroup', { InstanceId, ...more });
  }
  /** Records the cause that another replica would record for the node's termination hook. */
  recordHook(node: string): void {
    const instanceId = this.instanceOf(node);
    const AutoScalingGroupName = this.#autoScalingGroupName;
    const now = this.timeIn(0);
    const cause = {
      kind: 'LifecycleHook',
      id: `hook/${AutoScalingGroupName}/Terminate-LC-Hook/polled`,
      receivedAt: now,
      onDeadline: 'force',
      followUp: 'Release',
      confirmation: { state: 'Confirmed', at: now, reason: 'Auto Scaling: Terminating:Wait' },
      hook: {
        autoScalingGroupName: AutoScalingGroupName,
        name: 'Terminate-LC-Hook',
        startedAt: now,
        heartbeatTimeoutSeconds: 300,
        globalTimeoutSeconds: 30_000,
      },
    };
    this.#patchCauses(instanceId, [...(this.#causesOf(instanceId) ?? []), cause]);
  }
  /**
   * The articles' platform approves kubelet certificates itself; here the controller has the right.
   */
  #grantCertificates(): void {
    const apiGroup = 'rbac.authorization.k8s.io';
    const subject = { apiGroup, kind: 'User', name: nodeManagerUser.username };
    for (const object of certificateGrants('certificates', subject)) {
      const kind = String(object.kind);
      const type = { group: apiGroup, resource: `${kind.toLowerCase()}s` };
      this.#must(this.#user().create(type, undefined, object));
    }
  }
  /** A kubelet requests its serving certificate; `as` is the actual requester. */
  askForCertificate(
    name: string,
    wanted: { readonly node: string; readonly address: string; readonly as?: string },
  ): void {
    const { node, address, as: user = `system:node:${node}` } = wanted;
    const commonName = `system:node:${node}`;
    const request = aRequest({ commonName, dnsNames: [node], ipAddresses: [address] });
    const groups = ['system:nodes', 'system:authenticated', 'system:masters'];
    const client = this.world.kube.as({ user: { username: user, groups }, userAgent: 'kubelet' });
    const spec = {
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
      request: btoa(request),
    };
    const kind = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' };
    this.#must(client.create(gr.requests, undefined, { ...kind, metadata: { name }, spec }));
  }
  isApproved(name: string): boolean {
    const { conditions } = objectOr(this.world.kube.read(gr.requests, { name })?.status);
    return Array.isArray(conditions) && objectOr(conditions[0]).type === 'Approved';
  }
  addressOf(node: string): string {
    const answer = this.world.aws.call('ec2', 'DescribeInstances', {
      InstanceIds: [this.instanceOf(node)],
    });
    return /"PrivateIpAddress":"([\d.]+)"/.exec(JSON.stringify(answer))?.[1] ?? '';
  }
  /** Terminates the instance through EC2, without a drain. */
  endInstance(node: string): void {
    const { aws } = this.world;
    aws.call('ec2', 'TerminateInstances', { InstanceIds: [this.instanceOf(node)] });
  }
  /** A pod without an owner that stops slowly, bound to the node without the scheduler. */
  pod(name: string, node: string, app = name): void {
    this.#must(
      this.#user().create(gr.pods, 'default', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default', labels: { app }, annotations: slowStop },
        spec: { nodeName: node, containers: [{ name: 'app', image: 'example/app:1' }] },
      }),
    );
  }
  /** A budget over the pods of one label that never allows an eviction. */
  closedBudget(name: string): void {
    this.budget(name, { maxUnavailable: 0 });
  }
  budget(name: string, bounds: JsonObject): void {
    this.#must(
      this.#user().create(gr.budgets, 'default', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name, namespace: 'default' },
        spec: { ...bounds, selector: { matchLabels: { app: name } } },
      }),
    );
  }
  /** Evicts the pod as `kubectl drain` does. */
  evict(pod: string): void {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
    this.#must(this.#user().create({ group: '', resource: 'pods/eviction' }, 'default', body));
  }
  /** EC2 schedules a retirement of the node's instance. */
  schedule(node: string): void {
    this.world.aws.scheduleEvent(this.instanceOf(node), 'instance-retirement');
  }
  /** EC2 cancels its scheduled events, and the message about it is lost. */
  callOffUnheard(): void {
    this.world.faults.inject('message-loss', {});
    this.world.aws.cancelEvents();
    this.world.faults.clear('message-loss');
  }
  /** Creates an IAM role that aws-auth does not authorize; returns its ARN. */
  createRole(RoleName: string): string {
    const AssumeRolePolicyDocument = '{"Version":"2012-10-17","Statement":[]}';
    const made = this.world.aws.call('iam', 'CreateRole', { RoleName, AssumeRolePolicyDocument });
    return String(objectOr(objectOr(made).Role).Arn);
  }
  /** Creates another group of one node; Drover must create all its resources. */
  createGroup(name: string, nodeRole?: string): void {
    const known = objectOr(this.world.kube.read(gr.groups, { name: groupName })?.spec);
    const { autoScalingGroupName: _, ...spec } = known;
    this.#must(
      this.#user().create(gr.groups, undefined, {
        apiVersion: 'drover.dev/v1alpha1',
        kind: 'NodeGroup',
        metadata: { name },
        spec: {
          ...spec,
          ...defined({ nodeRole }),
          scaling: { minSize: 0, maxSize: 2, desired: 1 },
        },
      }),
    );
  }
  /** Patches a group's spec as `kubectl patch` does; by default that of the initial group. */
  changeGroup(spec: JsonObject, name: string = groupName): void {
    const patch = { type: 'merge', body: { spec } } as const;
    this.#must(this.#user().patch(gr.groups, { name }, patch));
  }
  /** Requests the newest release as `kubectl patch` does. */
  updateGroup(updateConfig: JsonObject): void {
    this.changeGroup({ releaseVersion: newestRelease, updateConfig });
  }
  /** The status of the requested version update. */
  updateStatus(): JsonObject {
    const [update] = this.world.kube.readAll(gr.updates);
    return objectOr(update?.status);
  }
  /** Creates a Deployment with 0 replicas, which is therefore Available. */
  deployment(name: string): void {
    const labels = { app: name };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name, image: 'example/app' }] },
    };
    const body = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    };
    this.#must(this.#user().create(gr.deployments, 'default', body));
  }
  /** A user sets the scale-down-disabled annotation on a node. */
  keep(node: string): void {
    const annotations = { 'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true' };
    const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
    this.#must(this.#user().patch(gr.nodes, { name: node }, patch));
  }
  deleteGroup(name: string): void {
    this.#must(this.#user().delete(gr.groups, { name }));
  }
  dropBudget(name: string): void {
    this.#must(this.#user().delete(gr.budgets, { namespace: 'default', name }));
  }
  cordon(node: string): void {
    const patch = { type: 'merge', body: { spec: { unschedulable: true } } } as const;
    this.#must(this.#user().patch(gr.nodes, { name: node }, patch));
  }
  taint(node: string, key: string): void {
    const taints = [...this.#taintsOf(node), { key, effect: 'NoSchedule' }];
    const patch = { type: 'merge', body: { spec: { taints } } } as const;
    this.#must(this.#user().patch(gr.nodes, { name: node }, patch));
  }
  /**
   * Records a drain as `drover drain` does; with `seconds`, it deletes pods by force after that
   * time.
   */
  drain(node: string, seconds?: number): void {
    const receivedAt = this.timeIn(0);
    const deadline = seconds === undefined ? {} : { deadline: this.timeIn(seconds) };
    const cause = {
      kind: 'Manual',
      id: `manual/${receivedAt}`,
      receivedAt,
      onDeadline: seconds === undefined ? 'fail' : 'force',
      followUp: 'Release',
      requestedBy: 'somebody',
      ...deadline,
    };
    this.#record(node, cause);
  }
  /**
   * Sets the cause of an update on this node. No such update object exists, so the cause names no
   * group, which would withdraw it.
   */
  update(node: string, more: JsonObject): void {
    const cause = {
      kind: 'Update',
      id: 'update/u',
      receivedAt: this.timeIn(0),
      onDeadline: 'fail',
      followUp: 'Replace',
      cooldownSeconds: 60,
      ...more,
    };
    this.#record(node, cause, {});
  }
  deleteNode(node: string): void {
    this.#must(this.#user().delete(gr.nodes, { name: node }));
  }
  /** Withdraws the causes as `drover undrain` does. */
  undrain(node: string): void {
    this.withdraw(this.instanceOf(node));
  }
  /** Withdraws every cause, by instance, since its node may not exist. */
  withdraw(instanceId: string): void {
    const cancelledAt = this.timeIn(0);
    const causes = (this.#causesOf(instanceId) ?? []).map((cause) => ({ ...cause, cancelledAt }));
    this.#patchCauses(instanceId, causes);
  }

  // ---- the state of the world ----

  /** The time in `seconds`, in the format of causes. */
  timeIn(seconds: number): string {
    const now = Math.floor(this.world.kernel.now() / 1000);
    return new Date(now + seconds * 1000).toISOString();
  }
  /** Names of the nodes that are Ready. */
  nodes(): readonly string[] {
    return [...this.world.kube.readAll(gr.nodes)]
      .filter((node) => JSON.stringify(node.status).includes('"KubeletReady"'))
      .map((node) => node.metadata.name);
  }
  instanceOf(node: string): string {
    return this.world.aws.instanceIdOfNode(node) ?? '';
  }
  phaseOf(node: string): string {
    return String(this.#disruptionOf(node)?.phase ?? '');
  }
  /** Number of the node's disruption episodes, including the current one. */
  episodeOf(node: string): number {
    return Number(this.#disruptionOf(node)?.episode ?? 0);
  }
  #disruptionOf(node: string): JsonObject | undefined {
    const one = this.world.kube.read(gr.disruptions, { name: this.instanceOf(node) });
    return one?.status as JsonObject | undefined;
  }

  #taintsOf(node: string): readonly JsonObject[] {
    const spec = this.world.kube.read(gr.nodes, { name: node })?.spec as JsonObject | undefined;
    return (spec?.taints as readonly JsonObject[] | undefined) ?? [];
  }
  #causesOf(instanceId: string): readonly JsonObject[] | undefined {
    const one = this.world.kube.read(gr.disruptions, { name: instanceId });
    return (one?.spec as JsonObject | undefined)?.causes as readonly JsonObject[] | undefined;
  }
  /** Records this cause; it replaces the one with the same id. */
  #record(node: string, cause: JsonObject, of: JsonObject = { nodeGroup: groupName }): void {
    const instanceId = this.instanceOf(node);
    const known = this.#causesOf(instanceId);
    if (known !== undefined) {
      const others = known.filter(({ id }) => id !== cause.id);
      this.#patchCauses(instanceId, [...others, cause]);
      return;
    }
    this.#must(
      this.#user().create(gr.disruptions, undefined, {
        apiVersion: 'drover.dev/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name: instanceId },
        spec: { instanceId, nodeName: node, ...of, causes: [cause] },
      }),
    );
  }
  #patchCauses(name: string, causes: readonly JsonObject[]): void {
    const patch = { type: 'merge', body: { spec: { causes } } } as const;
    this.#must(this.#user().patch(gr.disruptions, { name }, patch));
  }
  #user() {
    return this.world.kube.as({
      user: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      userAgent: 'kubectl/v1.32.4',
    });
  }
  #must(result: Result): void {
    if (result.kind === 'error') throw new Error(result.status.message);
  }
}

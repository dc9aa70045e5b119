// A small demo cluster in virtual time with the control plane as one process that can be killed at
// any write, and the EKS face, for sequence tests of node groups.

import { expect } from 'vitest';
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { type KubeObject, resourceTypes } from '../../src/api/kube.ts';
import type { NodeGroup } from '../../src/api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../src/api/nodegroup-update.ts';
import { type AwsCallContext, AwsError, type AwsHandlers } from '../../src/aws-wire/index.ts';
import type { ControlPlaneDeps } from '../../src/controllers/control-plane.ts';
import { createEksFace } from '../../src/eks-face/index.ts';
import type { Http, Journal } from '../../src/ports/index.ts';
import { Driver } from '../../src/sim/driver.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { ControllerProcess } from '../../src/sim/lives/process.ts';
import { type NetworkFaults, noFaults, type Write } from '../../src/sim/ports/network.ts';
import { TraceRecorder } from '../../src/sim/trace/recorder.ts';
import { cliUser, type DemoFacts } from '../../world/aws/index.ts';
import { type CheckReport, checkTrace } from '../../world/check/index.ts';
import type { Result, WorldClient } from '../../world/contracts.ts';
import {
  createWorld,
  nodeManagerAgent,
  nodeManagerUser,
  seedCluster,
  type World,
  worldAccount,
  worldRegion,
} from '../../world/index.ts';
import { microsPerMs, microsPerSecond } from '../../world/kernel/index.ts';
import { CollectingLog, testStart } from '../builders/runtime.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const identity = { user: nodeManagerUser, userAgent: nodeManagerAgent };
const type = resourceTypes.nodegroups;
const awsAuth = { namespace: 'kube-system', name: 'aws-auth' } as const;
type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

type Kind = Parameters<WorldClient['create']>[0];

export interface GroupLifeOptions {
  /** Whether kubelets and others write Events: most stories read none. */
  readonly hasEvents?: boolean;
  readonly seed?: number;
  /** Called after each write of the controllers. */
  readonly afterWrite?: (write: Write) => void;
  readonly compat?: 'eks' | 'native';
  /** Answers HTTP health probes. */
  readonly http?: Http;
  readonly notifications?: ControlPlaneDeps['notifications'];
  /** Called for each request to the API server with its audit event. */
  readonly audit?: (event: JsonObject) => void;
  /** Receives the controllers' journal entries. */
  readonly journal?: Journal;
  /** Two processes that lead alternately; default: one, without a lease. */
  readonly twoLeaders?: boolean;
}

export class GroupLife {
  readonly world: World;
  readonly driver: Driver;
  readonly log = new CollectingLog();
  readonly calls: {
    readonly service: string;
    readonly operation: string;
    readonly input: JsonObject;
  }[] = [];
  readonly facts: DemoFacts;
  faults: Partial<NetworkFaults> = {};
  /** Called before each cloud call is sent: its process first pauses for this many seconds. */
  standsStill: ((operation: string) => number) | undefined;
  readonly #options: GroupLifeOptions;
  readonly #recorder: TraceRecorder;
  readonly #processes: readonly ControllerProcess[];
  readonly #face: AwsHandlers;
  readonly #ports: ReturnType<typeof createInProcessPorts>;
  #failure: unknown;
  #requests = 0;

  private constructor(options: GroupLifeOptions) {
    this.#options = options;
    const recorder: TraceRecorder = new TraceRecorder(() => this.world.kernel.now());
    this.#recorder = recorder;
    this.world = createWorld({
      seed: options.seed ?? 1,
      startAt: testStart * microsPerMs,
      events: options.hasEvents === true,
      leases: 'implied',
      onWrite: (record) => recorder.request(record),
      ...defined({ audit: options.audit }),
    });
    recorder.attach(this.world);
    this.facts = seedCluster(this.world, {
      clusterName: 'c',
      kubernetesVersion: '1.32.9',
      groups: [
        { name: 'base', isManaged: true, min: 0, max: 3, desired: 1, instanceType: 'm5.large' },
      ],
      addons: false,
      workload: false,
    });
    this.driver = new Driver(this.world.kernel, settle);
    const names = options.twoLeaders === true ? ['r1', 'r2'] : ['r1'];
    this.#processes = names.map((name) => this.#createProcess(name));
    this.#ports = createInProcessPorts(this.world, { component: 'people', identity });
    this.#face = createEksFace({
      kube: this.#ports.kube,
      cloud: this.#ports.cloud,
      world: this.world.aws.handlers.eks ?? {},
    });
  }

  static async begin(options: GroupLifeOptions = {}): Promise<GroupLife> {
    const life = new GroupLife(options);
    for (const process of life.#processes) process.start();
    await life.driver.advance(60);
    return life;
  }

  #createProcess(name: string): ControllerProcess {
    const { afterWrite } = this.#options;
    const faults: NetworkFaults = {
      ...noFaults,
      kubeCall: (call) => (this.faults.kubeCall ?? noFaults.kubeCall)(call),
      cloudCall: (operation) => {
        const seconds = this.standsStill?.(operation) ?? 0;
        if (seconds > 0) this.#recorder.fault('F6-leader-paused', 'fired');
        if (seconds > 0) process.pause(seconds);
        return (this.faults.cloudCall ?? noFaults.cloudCall)(operation);
      },
      watchFrame: (resource) => (this.faults.watchFrame ?? noFaults.watchFrame)(resource),
      watchExpired: (resource) => (this.faults.watchExpired ?? noFaults.watchExpired)(resource),
      afterWrite: (call) => {
        this.faults.afterWrite?.(call);
        afterWrite?.(call);
      },
    };
    const process = new ControllerProcess({
      world: this.world,
      name,
      leaderElect: this.#options.twoLeaders === true,
      identity,
      compat: this.#options.compat ?? 'eks',
      queueUrl: this.world.aws.queueUrl(this.facts.noticeQueueName),
      faults,
      ...defined({ http: this.#options.http, notifications: this.#options.notifications }),
      log: this.log,
      ...defined({ journal: this.#options.journal }),
      onCloudCall: (call) => {
        this.#recorder.call({ userAgent: nodeManagerAgent, ...call });
        const { service, operation, input } = call;
        this.calls.push({ service, operation, input });
      },
      onFailure: (error) => {
        this.#failure ??= error;
      },
    });
    return process;
  }

  killFor(seconds: number): void {
    for (const process of this.#processes) process.restartAfter(seconds);
  }

  /** Kills the leading process for good. */
  killLeader(): void {
    this.#processes.find((process) => process.isWorking)?.retire();
  }

  // ---- actions of users ----

  get user(): WorldClient {
    return this.world.kube.as({
      user: { username: 'somebody', groups: ['system:masters'] },
      userAgent: 'kubectl',
    });
  }

  async eks(operation: string, input: JsonObject): Promise<JsonObject> {
    const handler = this.#face.eks?.[operation];
    if (handler === undefined) throw new Error(`the face has no ${operation}`);
    const ctx: AwsCallContext = {
      region: worldRegion,
      requestId: `r-${++this.#requests}`,
      principal: cliUser(worldAccount),
      accessKeyId: 'AKIA',
      userAgent: 'aws-cli',
      sourceIp: '127.0.0.1',
      service: 'eks',
      operation,
    };
    const answer = Promise.resolve(handler(input, ctx));
    // The face's own calls take world time.
    let done = false;
    const finish = (): void => {
      done = true;
    };
    answer.then(finish, finish);
    for (let i = 0; i < 100 && !done; i++) await this.driver.advance(0.01);
    return objectOr(await answer);
  }

  /** `Code: message` of a refusal. */
  async refused(operation: string, input: JsonObject): Promise<string> {
    try {
      await this.eks(operation, input);
    } catch (error) {
      if (error instanceof AwsError) return `${error.code}: ${error.message}`;
      throw error;
    }
    throw new Error(`${operation} was not refused`);
  }

  request(more: JsonObject = {}): JsonObject {
    const base = this.facts.managed[0]?.spec;
    return {
      clusterName: 'c',
      nodegroupName: 'ng',
      subnets: [...(base?.subnets ?? [])],
      nodeRole: base?.nodeRole ?? '',
      instanceTypes: ['m5.large'],
      scalingConfig: { minSize: 0, maxSize: 4, desiredSize: 2 },
      ...more,
    };
  }

  create(more: JsonObject = {}): Promise<JsonObject> {
    return this.eks('CreateNodegroup', this.request(more));
  }

  updateConfig(more: JsonObject): Promise<JsonObject> {
    return this.eks('UpdateNodegroupConfig', { clusterName: 'c', nodegroupName: 'ng', ...more });
  }

  /** As DescribeNodegroup shows it. */
  async shown(): Promise<JsonObject> {
    const named = { clusterName: 'c', nodegroupName: 'ng' };
    return objectOr((await this.eks('DescribeNodegroup', named)).nodegroup);
  }

  delete(): Promise<JsonObject> {
    return this.eks('DeleteNodegroup', { clusterName: 'c', nodegroupName: 'ng' });
  }

  patch(body: JsonObject, name = 'ng'): Result {
    return this.user.patch(type, { name }, { type: 'merge', body });
  }

  /** The answer to `kubectl create -f` of a NodeGroup; throws the API's refusal. */
  createGroup(body: JsonObject): JsonObject {
    const made = this.user.create(type, undefined, body);
    if (made.kind === 'error') throw new Error(JSON.stringify(made));
    return objectOr(JSON.parse(JSON.stringify(made.object)));
  }

  make(kind: Kind, namespace: string | undefined, body: JsonObject): void {
    const made = this.user.create(kind, namespace, body);
    if (made.kind === 'error') throw new Error(JSON.stringify(made));
  }
  unmake(kind: Kind, namespace: string, name: string): void {
    this.user.delete(kind, { namespace, name });
  }

  /** A web app of `replicas` on the group's nodes with a budget that allows `unavailable`. */
  deploy(replicas: number, unavailable: number, group = 'ng', annotations?: JsonObject): void {
    this.deployOn({ 'eks.amazonaws.com/nodegroup': group }, replicas, unavailable, annotations);
  }

  /** The same on nodes with these labels. */
  deployOn(
    nodeSelector: JsonObject,
    replicas: number,
    unavailable: number,
    annotations?: JsonObject,
  ): void {
    const labels = { app: 'web' };
    const selector = { matchLabels: labels };
    const meta = { name: 'web', namespace: 'default' };
    const spec = {
      nodeSelector,
      containers: [{ name: 'web', image: 'web:1' }],
    };
    this.make({ group: 'apps', resource: 'deployments' }, 'default', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: meta,
      spec: {
        replicas,
        selector,
        template: { metadata: { labels, ...defined({ annotations }) }, spec },
      },
    });
    this.make({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: meta,
      spec: { maxUnavailable: unavailable, selector },
    });
  }

  annotate(node: string, annotations: JsonObject): void {
    const body = { metadata: { annotations } };
    this.user.patch(resourceTypes.nodes, { name: node }, { type: 'merge', body });
  }

  patchUpdate(name: string, body: JsonObject): Result {
    return this.user.patch(resourceTypes.nodegroupupdates, { name }, { type: 'merge', body });
  }

  /** A version update with force, as UpdateNodegroupVersion creates it. */
  forceUpdate(releaseVersion: string): void {
    this.#ask(releaseVersion, 'forced', true);
  }

  /** An update without force, possibly to the current version. */
  askFor(releaseVersion: string): void {
    this.#ask(releaseVersion, 'asked', false);
  }

  #ask(releaseVersion: string, name: string, force: boolean): void {
    const made = this.user.create(resourceTypes.nodegroupupdates, undefined, {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroupUpdate',
      metadata: { name: `${name}-${++this.#requests}` },
      spec: {
        nodeGroup: 'ng',
        type: 'VersionUpdate',
        params: [{ type: 'ReleaseVersion', value: releaseVersion }],
        change: { releaseVersion },
        ...(force ? { force } : {}),
      },
    });
    if (made.kind === 'error') throw new Error(JSON.stringify(made));
  }

  runningPods(app: string): number {
    return [...this.world.kube.readAll(resourceTypes.pods)].filter(
      ({ metadata, status }) =>
        metadata.labels?.app === app &&
        metadata.deletionTimestamp === undefined &&
        objectOr(status).phase === 'Running',
    ).length;
  }

  fromOutside(operation: string, input: JsonObject): void {
    this.world.aws.call('autoscaling', operation, input, { userAgent: 'aws-cli' });
  }

  /** Creates an IAM role that is not authorized yet. Returns its ARN, with a path. */
  createRole(RoleName: string): string {
    const AssumeRolePolicyDocument = '{"Version":"2012-10-17","Statement":[]}';
    const input = { RoleName, Path: '/team/', AssumeRolePolicyDocument };
    return String(objectOr(objectOr(this.world.aws.call('iam', 'CreateRole', input)).Role).Arn);
  }
  /** Like `kubectl edit` of aws-auth. */
  putMapRoles(mapRoles: string): void {
    const body = { data: { mapRoles } };
    this.user.patch(resourceTypes.configmaps, awsAuth, { type: 'merge', body });
  }

  // ---- state ----

  awsAuth(): ConfigMap | undefined {
    return this.world.kube.read(resourceTypes.configmaps, awsAuth) as ConfigMap | undefined;
  }
  mapRoles(): string {
    return this.awsAuth()?.data?.mapRoles ?? '';
  }

  group(name = 'ng'): NodeGroup | undefined {
    return this.world.kube.read(type, { name }) as unknown as NodeGroup | undefined;
  }
  updates(): readonly NodeGroupUpdate[] {
    const all = this.world.kube.readAll(resourceTypes.nodegroupupdates);
    return [...all] as unknown as NodeGroupUpdate[];
  }
  state(name = 'ng'): string | undefined {
    return this.group(name)?.status?.state;
  }
  nodes(name = 'ng'): readonly JsonObject[] {
    return [...this.world.kube.readAll(resourceTypes.nodes)].filter(
      ({ metadata }) => metadata.labels?.['eks.amazonaws.com/nodegroup'] === name,
    );
  }
  /** Auto Scaling groups of this node group, by tags. */
  autoScalingGroups(name = 'ng'): readonly JsonObject[] {
    const answer = this.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {});
    const { AutoScalingGroups } = objectOr(answer);
    return (AutoScalingGroups as readonly JsonObject[]).filter((one) =>
      JSON.stringify(one.Tags).includes(`"Key":"eks:nodegroup-name","Value":"${name}"`),
    );
  }
  templates(): readonly string[] {
    const answer = this.world.aws.call('ec2', 'DescribeLaunchTemplates', {});
    const { LaunchTemplates } = objectOr(answer);
    return (LaunchTemplates as readonly JsonObject[]).map((one) => String(one.LaunchTemplateName));
  }
  profiles(): readonly JsonObject[] {
    const answer = this.world.aws.call('iam', 'ListInstanceProfiles', {});
    return objectOr(answer).InstanceProfiles as readonly JsonObject[];
  }
  called(operation: string): number {
    return this.calls.filter((call) => call.operation === operation).length;
  }

  async until(what: string, holds: () => boolean, limitSeconds = 600): Promise<void> {
    const came = await this.driver.until(holds, { limitSeconds });
    if (this.#failure !== undefined) throw this.#failure;
    if (came) return;
    const state = JSON.stringify(
      { spec: this.group()?.spec, status: this.group()?.status },
      null,
      1,
    );
    const warnings = this.log.lines.slice(-5).map((line) => JSON.stringify(line));
    throw new Error(`not within ${limitSeconds} s: ${what}\n${state}\n${warnings.join('\n')}`);
  }

  isActive(size: number, name = 'ng'): boolean {
    const { status } = this.group(name) ?? {};
    if (status === undefined || status.scaleIn !== undefined) return false;
    return status.state === 'ACTIVE' && status.desired === size && status.ready === size;
  }

  /** Asserts that nothing of the group is left. */
  expectNothingLeft(name = 'ng', uid = ''): void {
    expect(this.group(name)).toBeUndefined();
    expect(this.autoScalingGroups(name)).toEqual([]);
    expect(this.templates().filter((one) => uid !== '' && one.includes(uid))).toEqual([]);
    expect(JSON.stringify(this.profiles())).not.toContain(`eks-${uid || 'none'}`);
    expect(this.nodes(name)).toEqual([]);
    expect(this.updates().filter(({ spec }) => spec.nodeGroup === name)).toEqual([]);
  }

  check(): CheckReport {
    const managed = new Set(this.facts.managed.map(({ spec }) => spec.autoScalingGroupName));
    for (const { input, operation } of this.calls) {
      if (operation === 'CreateAutoScalingGroup') managed.add(String(input.AutoScalingGroupName));
    }
    return checkTrace(
      this.#recorder.finish({
        ownAgents: [nodeManagerAgent],
        managedGroups: [...managed],
        compat: this.#options.compat ?? 'eks',
        settled: true,
        endedAt: this.world.kernel.now(),
      }),
    );
  }

  async end(): Promise<void> {
    expect(this.#failure).toBeUndefined();
    for (const process of this.#processes) process.kill();
    await this.driver.advance(1);
  }

  get seconds(): number {
    return this.world.kernel.now() / microsPerSecond - testStart / 1000;
  }
}

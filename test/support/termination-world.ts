// The real controllers over a demo world in virtual time, for sequence tests: started, killed,
// restarted, and observed through the world's audit log. No process, no socket, no real time.
import { expect } from 'vitest';
import type { DisruptionCause, NodeDisruption } from '../../src/api/disruption.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { PodDisruptionBudget } from '../../src/api/kube.ts';
import { createConfirmationController } from '../../src/controllers/confirmation/index.ts';
import {
  createDisruptionController,
  type DisruptionDeps,
} from '../../src/controllers/disruption/index.ts';
import {
  createDisruptionInformer,
  createNodeGroupInformer,
  createNodeInformer,
} from '../../src/controllers/informers.ts';
import { createIntakeController } from '../../src/controllers/intake/index.ts';
import { createLifecycleController } from '../../src/controllers/lifecycle/index.ts';
import { createZoneShiftController } from '../../src/controllers/zone-shift/index.ts';
import { Driver } from '../../src/sim/driver.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { remainingSkew } from '../../src/sim/lives/fleet.ts';
import { type NetworkFaults, noFaults } from '../../src/sim/ports/network.ts';
import { TraceRecorder } from '../../src/sim/trace/recorder.ts';
import { finalFacts } from '../../world/check/index.ts';
import type { Result } from '../../world/contracts.ts';
import {
  createWorld,
  nodeManagerAgent,
  nodeManagerUser,
  seedCluster,
  type World,
} from '../../world/index.ts';
import { microsPerMs, microsPerSecond } from '../../world/kernel/index.ts';
import { CollectingJournal, CollectingLog, testStart } from '../builders/runtime.ts';
import { type Exempt, judge, noUpdates } from './judge.ts';
import type { FinalFacts } from './story-trace.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const identity = { user: nodeManagerUser, userAgent: nodeManagerAgent };
const gr = {
  nodes: { group: '', resource: 'nodes' },
  pods: { group: '', resource: 'pods' },
  deployments: { group: 'apps', resource: 'deployments' },
  budgets: { group: 'policy', resource: 'poddisruptionbudgets' },
  disruptions: { group: 'drover.dev', resource: 'nodedisruptions' },
  nodegroups: { group: 'drover.dev', resource: 'nodegroups' },
  webhooks: {
    group: 'admissionregistration.k8s.io',
    resource: 'validatingwebhookconfigurations',
  },
} as const;

/** One answered request of Drover's controllers. */
export interface Audited {
  readonly seconds: number;
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name: string;
  readonly code: number;
  readonly body?: JsonObject;
}

const auditedOf = (event: JsonObject, seconds: number): Audited => {
  const ref = event.objectRef as JsonObject;
  const status = event.responseStatus as JsonObject;
  return {
    seconds,
    verb: String(event.verb),
    resource: String(ref.resource),
    ...(ref.subresource === undefined ? {} : { subresource: String(ref.subresource) }),
    name: String(ref.name ?? ''),
    code: Number(status.code),
    ...(event.requestObject === undefined ? {} : { body: event.requestObject as JsonObject }),
  };
};

/** How the oracles judge a life at its end. */
export interface Verdict {
  /** Everything that was started has ended. */
  readonly settled?: boolean;
  readonly exempt?: Exempt;
}

/**
 * Features that few lives have, with reasons. Oracles about them still check a life that has one.
 */
const usual: Exempt = {
  'desired-within-bounds': 'no controller of node groups runs here',
  'aws-auth-loses-no-entry': 'no node group brings a role of its own',
  'certificates-name-their-instance':
    'no kubelet asks for a certificate, or the platform approves it',
  'nothing-left-after-delete': 'no node group is deleted',
  'unconfirmed-notices-move-nothing': 'the cloud denies no notice',
  'blockers-are-named': 'no pod is held by its budget for fifteen minutes',
  'held-nodes-keep-their-pods': 'no update holds a node',
  'quarantined-instances-end-in-time': 'no repair quarantines an instance',
  'updates-keep-their-times': 'nothing is forced, nothing fails, no instance is ours to terminate',
  ...noUpdates,
};
const unsettled: Exempt = { 'everything-ends': 'the story ends while something is still open' };

type Tuning = Pick<DisruptionDeps, 'compat'> & Partial<Pick<DisruptionDeps, 'limits' | 'surge'>>;

export interface LifeOptions {
  readonly seed?: number;
  readonly tuning?: Partial<Tuning>;
  /** How far the first process's clock is ahead of the world's. */
  readonly clockSkewMs?: number;
}

export class TerminationLife {
  readonly log = new CollectingLog();
  readonly journal = new CollectingJournal();
  readonly audited: Audited[] = [];
  readonly world: World;
  readonly driver: Driver;
  /** The node of demo-ng. */
  node = '';
  instanceId = '';
  faults: Partial<NetworkFaults> = {};
  #tuning: Tuning;
  readonly #queueUrl: string;
  readonly #managedGroups: readonly string[];
  readonly #recorder = new TraceRecorder(() => this.world.kernel.now());
  #generation = 0;
  #clockSkew = 0;
  #kill = (): void => undefined;
  #failure: unknown;

  private constructor(options: LifeOptions) {
    this.#tuning = { compat: 'eks', ...options.tuning };
    this.world = createWorld({
      seed: options.seed ?? 1,
      startAt: testStart * microsPerMs,
      onWrite: (record) => this.#recorder.request(record),
      audit: (event) => {
        if (event.userAgent === nodeManagerAgent) {
          this.audited.push(auditedOf(event, this.seconds));
        }
      },
    });
    this.#recorder.attach(this.world);
    const facts = seedCluster(this.world, {
      clusterName: 'c',
      kubernetesVersion: '1.32.9',
      addons: true,
      workload: true,
    });
    this.#queueUrl = this.world.aws.queueUrl(facts.noticeQueueName) ?? '';
    this.#managedGroups = facts.managed.map(({ spec }) => spec.autoScalingGroupName);
    this.driver = new Driver(this.world.kernel, settle);
  }

  /** A demo cluster with Ready nodes and running controllers. */
  static async begin(options: LifeOptions = {}): Promise<TerminationLife> {
    const life = new TerminationLife(options);
    if (options.tuning?.limits?.holdLastReplicas === true) life.#grantReplicaSets();
    life.start(options.clockSkewMs);
    await life.driver.advance(90);
    life.node = life.nodesOf('demo-ng')[0] ?? '';
    life.instanceId = life.world.aws.instanceIdOfNode(life.node) ?? '';
    life.audited.length = 0;
    return life;
  }

  get seconds(): number {
    return this.world.kernel.now() / microsPerSecond - testStart / 1000;
  }

  start(clockSkewMs = 0): void {
    this.#generation++;
    this.#clockSkew = Math.max(this.#clockSkew, remainingSkew(clockSkewMs));
    const component = `test.${this.#generation}`;
    const ports = createInProcessPorts(this.world, {
      component,
      identity,
      clockSkewMs,
      legMicros: 500,
      faults: this.#recordedFaults(),
      onCloudCall: (call) => this.#recorder.call({ userAgent: nodeManagerAgent, ...call }),
    });
    const stop = new AbortController();
    this.#kill = () => {
      ports.network.cut();
      stop.abort(new Error('killed'));
    };
    const { signal } = stop;
    const base = (purpose: string) => ({
      ...ports,
      random: ports.random(purpose),
      log: this.log,
      journal: this.journal,
    });
    const informers = {
      nodes: createNodeInformer(base('nodes')),
      nodeGroups: createNodeGroupInformer(base('nodeGroups')),
      disruptions: createDisruptionInformer(base('disruptions')),
    };
    const deps = (purpose: string) => ({ ...base(purpose), ...informers });
    Promise.all([
      ...Object.values(informers).map((informer) => informer.run(signal)),
      createIntakeController({ ...deps('intake'), queueUrl: this.#queueUrl }).run(signal),
      createConfirmationController(deps('confirmation')).run(signal),
      createLifecycleController(deps('lifecycle')).run(signal),
      createZoneShiftController(deps('zone-shift')).run(signal),
      createDisruptionController({ ...deps('disruption'), ...this.#tuning }).run(signal),
    ]).catch((error: unknown) => {
      if (!signal.aborted) this.#failure = error;
    });
  }
  /** For the next process. */
  tune(tuning: Partial<Tuning>): void {
    this.#tuning = { ...this.#tuning, ...tuning };
  }
  kill(): void {
    this.#recorder.fault('F3-crash-after-write', 'fired');
    this.#kill();
  }

  /** The active faults; records each fault that fires for the oracles. */
  #recordedFaults(): NetworkFaults {
    const fired = (fault: string): void => this.#recorder.fault(fault, 'fired');
    return {
      kubeCall: (call) => {
        const outcome = (this.faults.kubeCall ?? noFaults.kubeCall)(call);
        if (outcome.kind === 'refused') fired('F5-api-error');
        if (outcome.kind === 'lost') fired('F4-answer-lost');
        return outcome;
      },
      cloudCall: (operation) => (this.faults.cloudCall ?? noFaults.cloudCall)(operation),
      watchFrame: (resource) => {
        const frame = (this.faults.watchFrame ?? noFaults.watchFrame)(resource);
        if (frame.breaks) fired('F2-broken-watch');
        if (frame.lagMicros > 0) fired('F1-stale-watch');
        return frame;
      },
      watchExpired: (resource) => {
        const isExpired = (this.faults.watchExpired ?? noFaults.watchExpired)(resource);
        if (isExpired) fired('F5-watch-expired');
        return isExpired;
      },
      afterWrite: (call) => (this.faults.afterWrite ?? noFaults.afterWrite)(call),
    };
  }

  /** The option reads ReplicaSets, which none of Drover's roles allows. */
  #grantReplicaSets(): void {
    const group = 'rbac.authorization.k8s.io';
    const metadata = { name: 'replicasets' };
    const rules = [{ apiGroups: ['apps'], resources: ['replicasets'], verbs: ['list', 'watch'] }];
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: metadata.name };
    const subjects = [{ apiGroup: group, kind: 'User', name: nodeManagerUser.username }];
    const make = (resource: string, object: JsonObject): void =>
      this.#must(this.#client().create({ group, resource }, undefined, object));
    const apiVersion = `${group}/v1`;
    make('clusterroles', { apiVersion, kind: 'ClusterRole', metadata, rules });
    make('clusterrolebindings', {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef,
      subjects,
    });
  }

  // ---- actions of users ----

  #client() {
    return this.world.kube.as({
      user: { username: 'somebody', groups: ['system:masters'] },
      userAgent: 'kubectl',
    });
  }
  #must(result: Result): void {
    if (result.kind === 'error') throw new Error(result.status.message);
  }
  terminate(): void {
    this.world.aws.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
      InstanceId: this.instanceId,
      ShouldDecrementDesiredCapacity: true,
    });
  }
  budget(name: string, spec: JsonObject, labels: JsonObject = { app: 'web' }): void {
    this.#must(
      this.#client().create(gr.budgets, 'default', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name, namespace: 'default' },
        spec: { selector: { matchLabels: labels }, ...spec },
      }),
    );
  }
  /** Any object of namespace default. */
  create(group: string, resource: string, object: JsonObject): void {
    this.#must(this.#client().create({ group, resource }, 'default', object));
  }
  /** A pod that is bound to the node from its start; no owner recreates it. */
  pod(name: string, metadata: JsonObject = {}, spec: JsonObject = {}): void {
    const containers = [{ name: 'main', image: 'nginx' }];
    this.create('', 'pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, ...metadata },
      spec: { nodeName: this.node, containers, ...spec },
    });
  }
  /** A Deployment `web` in namespace default; its replicas fit on every node. */
  deploy(replicas: number, more: JsonObject = {}): void {
    const labels = { app: 'web' };
    const containers = [{ name: 'web', image: 'nginx' }];
    this.#must(
      this.#client().create(gr.deployments, 'default', {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'default' },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers, ...more } },
        },
      }),
    );
  }
  /** A validating webhook that denies every eviction in namespace default with these words. */
  denyEvictions(name: string, denial: { readonly code: number; readonly message: string }): void {
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'] };
    const selected = { matchLabels: { 'kubernetes.io/metadata.name': 'default' } };
    this.#must(
      this.#client().create(gr.webhooks, undefined, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: {
          name: 'movers',
          annotations: { 'world.drover.dev/denies': JSON.stringify({ [name]: denial }) },
        },
        webhooks: [
          {
            name,
            clientConfig: { url: 'https://127.0.0.1:9443/evictions' },
            rules: [{ ...rule, resources: ['pods/eviction'] }],
            namespaceSelector: selected,
            sideEffects: 'NoneOnDryRun',
            admissionReviewVersions: ['v1'],
          },
        ],
      }),
    );
  }
  /** Moves a pod as an operator does: deletes it, so that its controller creates another one. */
  movePodIfThere(name: string): void {
    const pod = { namespace: 'default', name };
    if (this.world.kube.read(gr.pods, pod) === undefined) return;
    this.#must(this.#client().delete(gr.pods, pod));
  }
  cordon(name: string, unschedulable: boolean): void {
    const patch = { type: 'merge', body: { spec: { unschedulable } } } as const;
    this.#must(this.#client().patch(gr.nodes, { name }, patch));
  }
  /** Deletes the Node object; a kubelet registers again only after a restart. */
  deleteNode(name: string): void {
    this.#must(this.#client().delete(gr.nodes, { name }));
  }
  /** Adds a terminate hook to demo-ng's group, or changes its heartbeat timeout. */
  hookTimeout(seconds: number, name = 'Terminate-LC-Hook'): void {
    this.world.aws.call('autoscaling', 'PutLifecycleHook', {
      AutoScalingGroupName: this.#managedGroups.find((name) => name.startsWith('eks-demo-ng')),
      LifecycleHookName: name,
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      HeartbeatTimeout: seconds,
      DefaultResult: 'CONTINUE',
    });
  }
  /** Completes a terminate hook of demo-ng's group, like another client. */
  completeHook(name = 'Terminate-LC-Hook'): void {
    this.world.aws.call('autoscaling', 'CompleteLifecycleAction', {
      AutoScalingGroupName: this.#managedGroups.find((name) => name.startsWith('eks-demo-ng')),
      LifecycleHookName: name,
      InstanceId: this.instanceId,
      LifecycleActionResult: 'CONTINUE',
    });
  }
  /** A termination message with an invented token, from a sender with access to the queue. */
  forgedHookNotice(token: string): void {
    const notice = {
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      LifecycleHookName: 'Terminate-LC-Hook',
      AutoScalingGroupName: this.#managedGroups.find((name) => name.startsWith('eks-demo-ng')),
      EC2InstanceId: this.instanceId,
      LifecycleActionToken: token,
    };
    const MessageBody = JSON.stringify(notice);
    this.world.aws.call('sqs', 'SendMessage', { QueueUrl: this.#queueUrl, MessageBody });
  }
  reboot(instanceId = this.instanceId): void {
    this.world.aws.call('ec2', 'RebootInstances', { InstanceIds: [instanceId] });
  }
  drainPolicy(drain: JsonObject): void {
    const patch = { type: 'merge', body: { spec: { drain } } } as const;
    this.#must(this.#client().patch(gr.nodegroups, { name: 'demo-ng' }, patch));
  }
  /** Adds a cause like the command line; creates the object if it does not exist. */
  cause(cause: DisruptionCause, of = { node: this.node, instanceId: this.instanceId }): void {
    const known = this.disruption(of.instanceId);
    const json = JSON.parse(JSON.stringify(cause)) as JsonObject;
    const client = this.#client();
    if (known === undefined) {
      const spec = { instanceId: of.instanceId, nodeName: of.node, causes: [json] };
      this.#must(
        client.create(gr.disruptions, undefined, {
          apiVersion: 'drover.dev/v1alpha1',
          kind: 'NodeDisruption',
          metadata: { name: of.instanceId },
          spec,
        }),
      );
      return;
    }
    const others = known.spec.causes.filter(({ id }) => id !== cause.id);
    const causes = JSON.parse(JSON.stringify([...others, cause])) as readonly JsonObject[];
    const patch = { type: 'merge', body: { spec: { causes } } } as const;
    this.#must(client.patch(gr.disruptions, { name: of.instanceId }, patch));
  }

  // ---- state ----

  nodesOf(group: string): readonly string[] {
    return [...this.world.kube.readAll(gr.nodes)]
      .filter((node) => node.metadata.labels?.['eks.amazonaws.com/nodegroup'] === group)
      .map((node) => node.metadata.name);
  }
  allNodes(): readonly string[] {
    return [...this.world.kube.readAll(gr.nodes)].map((node) => node.metadata.name);
  }
  nodeObject(name = this.node): JsonObject | undefined {
    return this.world.kube.read(gr.nodes, { name });
  }
  disruption(name = this.instanceId): (JsonObject & NodeDisruption) | undefined {
    return this.world.kube.read(gr.disruptions, { name }) as
      | (JsonObject & NodeDisruption)
      | undefined;
  }
  budgetObject(name: string): (JsonObject & PodDisruptionBudget) | undefined {
    return this.world.kube.read(gr.budgets, { namespace: 'default', name }) as
      | (JsonObject & PodDisruptionBudget)
      | undefined;
  }
  podsOn(name = this.node, prefix = ''): readonly string[] {
    return [...this.world.kube.podsOnNode(name)]
      .map((pod) => pod.metadata.name)
      .filter((pod) => pod.startsWith(prefix));
  }
  /** State of the instance in its Auto Scaling group; undefined once it has left the group. */
  instanceState(): string | undefined {
    const rows = this.world.kernel.tables.open<JsonObject>('aws/autoscaling/instances');
    const row = new Map([...rows.entries()]).get(this.instanceId);
    return row === undefined ? undefined : String(row.state);
  }
  writes(resource: string, subresource?: string): readonly Audited[] {
    return this.audited.filter(
      (each) =>
        each.resource === resource &&
        (subresource === undefined || each.subresource === subresource) &&
        !['get', 'list', 'watch'].includes(each.verb),
    );
  }

  // ---- end ----

  async until(holds: () => boolean, limitSeconds = 120): Promise<void> {
    const came = await this.driver.until(holds, { limitSeconds });
    if (!came) {
      const state = JSON.stringify(this.disruption()?.status, null, 1);
      throw new Error(`not within ${limitSeconds} s: ${holds.toString()}\n${state}`);
    }
  }
  ended(limitSeconds?: number): Promise<void> {
    return this.until(() => this.disruption()?.status?.phase === 'Ended', limitSeconds);
  }
  /** Asserts that there are no unexpected failures and no violations, then stops everything. */
  async end(verdict: Verdict = {}): Promise<FinalFacts> {
    expect(this.#failure).toBeUndefined();
    expect(this.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    this.#kill();
    await this.driver.advance(1);
    const trace = this.#recorder.finish({
      ownAgents: [nodeManagerAgent],
      managedGroups: this.#managedGroups,
      compat: this.#tuning.compat,
      clockSkew: this.#clockSkew,
      settled: verdict.settled === true,
      endedAt: this.world.kernel.now(),
    });
    judge(trace, { ...usual, ...(verdict.settled === true ? {} : unsettled), ...verdict.exempt });
    return finalFacts(trace);
  }
}

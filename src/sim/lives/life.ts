// One seeded life of a cluster: it is built, used and disturbed by faults; the faults end,
// everything must settle, and the oracles check the trace. The same seed gives the same trace hash
// on every machine.

import { checkTrace } from '../../../world/check/index.ts';
import type { WorldClient } from '../../../world/contracts.ts';
import { createWorld, nodeManagerAgent, seedCluster, type World } from '../../../world/index.ts';
import { microsPerSecond, Tables } from '../../../world/kernel/index.ts';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import { autoScalingGroupNameOf, forceAnnotation, type NodeGroup } from '../../api/nodegroup.ts';
import type { Trace, Violation } from '../../api/trace.ts';
import type { Http, Log } from '../../ports/index.ts';
import { Driver, type Settle } from '../driver.ts';
import { drawReply, SimulatedEndpoint } from '../ports/endpoint.ts';
import { drawRates, type FaultRates, noRates } from '../ports/fault-plan.ts';
import { traceHash } from '../trace/hash.ts';
import { TraceRecorder } from '../trace/recorder.ts';
import type { ActionContext } from './action.ts';
import { act, healthMessageLost, setUpGroup } from './actions.ts';
import { drainPolicies, jobOf, withDrainPolicies } from './drain-policies.ts';
import { Fleet } from './fleet.ts';
import { actOnHealth, drawRepair, endIllness } from './health-actions.ts';
import { askForCertificates } from './kubelet-certificates.ts';
import { Meetings, type Met } from './meetings.ts';
import { NodeHealth } from './node-health.ts';
import {
  appsAreReady,
  awaitsRepair,
  groupsAreFull,
  isQuiet,
  openWork,
  readyNodes,
  resources,
} from './open-work.ts';
import { openGates } from './pacing-actions.ts';
import {
  appNamespace,
  budgetsOf,
  deploymentOf,
  drawScenario,
  drawSize,
  type Scenario,
  withSpotGroups,
} from './scenario.ts';
import { resumeSequences } from './sequence-actions.ts';
import { prepareWorks } from './update-config.ts';
import { endPauses } from './version-actions.ts';

export interface LifeOptions {
  readonly seed: number;
  readonly settle: Settle;
  readonly compat?: 'eks' | 'native';
  /** Maximum number of nodes; drawn if absent. */
  readonly maxNodes?: number;
  /** Length of the phase with faults, world seconds; drawn if absent. */
  readonly chaosSeconds?: number;
  /** Percentage of lives whose groups repair their nodes; default 0. */
  readonly repairsPercent?: number;
  /** Developer's log of the controllers; silent by default. */
  readonly log?: Log;
}

export interface LifeResult {
  readonly seed: number;
  /** Hash of the trace; computed on demand, because it costs a few milliseconds. */
  readonly hash: () => string;
  readonly violations: readonly Violation[];
  /** Per oracle, the number of things it checked. */
  readonly checked: Readonly<Record<string, number>>;
  /** By `oracle: exemption`, the number of breaches that it excused. */
  readonly exempted: Readonly<Record<string, number>>;
  readonly met: Met;
  readonly steps: number;
  readonly worldSeconds: number;
  readonly settled: boolean;
  readonly trace: Trace;
}

/** 2022-09-25T13:00:00Z, the date of the articles. */
const startAt = 1_664_110_800 * microsPerSecond;
const bootLimitSeconds = 120;
/**
 * Time for a full surplus, drained one by one, each until its hook's last heartbeat (200 min), and
 * then for an update that waits.
 */
const healLimitSeconds = 60 * 3600;
/**
 * Time for two replicas without faults before one continues alone: long enough for conflicts to
 * show.
 */
const replicasLimitSeconds = 120;
/** Auto Scaling rebalances zones one instance at a time. */
const maxRounds = 6;
/**
 * The controller polls EC2's list of events every minute: time for several polls, despite refusals
 * and restarts.
 */
const untoldMicros = 180 * microsPerSecond;
/** Long enough for every controller to reconcile everything once more. */
const restSeconds = 90;
/** Boot of a node, start of a pod, and the backoff of both. */
const recoverLimitSeconds = 600;
const silence: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silence,
};

/** The longest wait of a life's groups, its drain and its replacement. */
const repairLimitSeconds = 40 * 60;

const gr = {
  namespaces: { group: '', resource: 'namespaces' },
  budgets: { group: 'policy', resource: 'poddisruptionbudgets' },
} as const;

class Life {
  readonly #options: LifeOptions;
  readonly #world: World;
  readonly #recorder: TraceRecorder;
  readonly #driver: Driver;
  readonly #scenario: Scenario;
  readonly #chaosSeconds: number;
  readonly #meetings: Meetings;
  /** Undefined if no group repairs its nodes. */
  readonly #health: NodeHealth | undefined;
  #fleet: Fleet | undefined;
  readonly #managedGroups = new Set<string>();
  /** Before this time, the controller may not know about an event whose message was lost. */
  #untoldUntil = 0;
  #isHealing = false;
  #failure: unknown;

  constructor(options: LifeOptions) {
    this.#options = options;
    const recorder: TraceRecorder = new TraceRecorder(() => this.#world.kernel.now());
    this.#recorder = recorder;
    this.#world = createWorld({
      seed: options.seed,
      startAt,
      events: false,
      leases: 'implied',
      tables: new Tables({ saved: false }),
      managers: false,
      accountVolumes: false,
      onWrite: (record) => recorder.request(record),
      trail: false,
      approvesKubelets: false,
    });
    const random = this.#world.kernel.random('life.scenario');
    const { maxNodes, chaosSeconds } = drawSize(this.#world.kernel.random('life.size'));
    this.#chaosSeconds = options.chaosSeconds ?? chaosSeconds;
    const { kernel } = this.#world;
    const drawn = drawScenario(random, { maxNodes: options.maxNodes ?? maxNodes });
    this.#scenario = withDrainPolicies(
      withSpotGroups(drawn, kernel.random('life.spot-groups')),
      kernel.random(drainPolicies),
    );
    this.#driver = new Driver(this.#world.kernel, options.settle);
    const healthRandom = this.#world.kernel.random('life.health');
    const repairs = 100 * healthRandom.next() < (options.repairsPercent ?? 0);
    this.#health = repairs ? new NodeHealth(this.#world, healthRandom) : undefined;
    recorder.attach(this.#world);
    this.#world.kube.onChange(resources.groups, ({ object }) => {
      this.#managedGroups.add(autoScalingGroupNameOf(object as unknown as NodeGroup));
    });
    this.#meetings = new Meetings(this.#world, () => [
      ...this.#world.faults.list().map(({ kind }) => kind),
      ...((this.#fleet?.clockSkew ?? 0) > 0 ? ['F11-clock-skew'] : []),
      ...(this.#world.kernel.now() < this.#untoldUntil ? [healthMessageLost] : []),
    ]);
  }

  async run(): Promise<LifeResult> {
    await this.#build();
    await this.#chaos();
    const settled = await this.#heal();
    this.#fleet?.kill();
    if (this.#failure !== undefined) throw this.#failure;
    const { kernel } = this.#world;
    const trace = this.#recorder.finish({
      ownAgents: [nodeManagerAgent],
      managedGroups: [...this.#managedGroups],
      compat: this.#options.compat ?? 'eks',
      clockSkew: this.#fleet?.clockSkew ?? 0,
      settled,
      endedAt: kernel.now(),
    });
    const { violations, checked, exempted } = checkTrace(trace);
    const unsettled: Violation[] = settled
      ? []
      : [
          {
            oracle: 'everything-ends',
            at: kernel.now(),
            subject: 'life',
            message: openWork(this.#world),
          },
        ];
    return {
      seed: this.#options.seed,
      hash: () => traceHash(trace),
      violations: [...violations, ...unsettled],
      checked,
      exempted,
      met: this.#meetings,
      steps: kernel.steps,
      worldSeconds: (kernel.now() - startAt) / microsPerSecond,
      settled,
      trace,
    };
  }

  async #build(): Promise<void> {
    const world = this.#world;
    const facts = seedCluster(world, {
      clusterName: 'life',
      kubernetesVersion: '1.32.9',
      groups: this.#scenario.groups,
      addons: this.#scenario.addons,
      workload: false,
    });
    const user = this.#user();
    for (const { name, spec } of facts.managed) {
      const { autoScalingGroupName } = spec;
      const settings = this.#scenario.settings[name] ?? {};
      setUpGroup({ world, user }, { name, autoScalingGroupName }, settings);
    }
    this.#setUpRepairs(facts.managed.map(({ name }) => name));
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: appNamespace } };
    must(user.create(gr.namespaces, undefined, namespace));
    if (this.#scenario.updates) prepareWorks(user);
    for (const app of this.#scenario.apps) {
      must(user.create(resources.deployments, appNamespace, deploymentOf(app)));
      for (const budget of budgetsOf(app)) must(user.create(gr.budgets, appNamespace, budget));
    }
    for (const seconds of this.#scenario.jobs) {
      must(user.create({ group: 'batch', resource: 'jobs' }, appNamespace, jobOf(seconds)));
    }
    this.#fleet = new Fleet({
      world,
      compat: this.#options.compat ?? 'eks',
      approveCertificates: askForCertificates(world, user),
      queueUrl: world.aws.queueUrl(facts.noticeQueueName),
      http: this.#endpoint(),
      log: this.#options.log ?? silence,
      onFault: (kind) => this.#fired(kind),
      onCloudCall: (call) => this.#recorder.call({ userAgent: nodeManagerAgent, ...call }),
      onFailure: (error) => {
        this.#failure ??= error;
      },
      onDown: (isDown) => this.#recorder.fault('process-down', isDown ? 'on' : 'off'),
    });
    this.#fleet.start();
    const wanted = this.#scenario.groups.reduce((sum, group) => sum + group.desired, 0);
    await this.#driver.until(() => readyNodes(this.#world) >= wanted, {
      limitSeconds: bootLimitSeconds,
    });
    await this.#driver.advance(30);
  }

  async #chaos(): Promise<void> {
    const { kernel } = this.#world;
    const random = kernel.random('life.actions');
    this.#setRates(drawRates(kernel.random('life.rates')));
    const context = {
      world: this.#world,
      random,
      spotRandom: kernel.random('life.spot-notices'),
      updates: this.#scenario.updates,
      user: this.#user(),
      onFault: (fault: string, what: 'on' | 'off') => {
        this.#recorder.fault(fault, what);
        if (what === 'on') this.#fired(fault);
        if (fault === healthMessageLost) this.#untoldUntil = kernel.now() + untoldMicros;
      },
      onCall: (operation: string, input: JsonObject, error?: string) =>
        this.#recorder.call({
          service: 'autoscaling',
          operation,
          userAgent: 'aws-cli',
          input,
          ...defined({ error }),
        }),
      onWarning: (kind: string) => this.#recorder.fault(kind, 'fired'),
    };
    const end = kernel.now() + this.#chaosSeconds * microsPerSecond;
    while (kernel.now() < end && this.#failure === undefined) {
      act(context);
      this.#fallIll(context);
      await this.#driver.advance(2 + random.next() * 60);
    }
  }

  #setUpRepairs(groups: readonly string[]): void {
    if (this.#health === undefined) return;
    const random = this.#world.kernel.random('life.repairs');
    for (const name of groups) {
      const body = { spec: drawRepair(random) };
      must(this.#user().patch(resources.groups, { name }, { type: 'merge', body }));
    }
  }

  #fallIll(context: ActionContext): void {
    const health = this.#health;
    if (health === undefined) return;
    health.renew();
    actOnHealth({ ...context, health, random: this.#world.kernel.random('life.illness') });
  }

  /** Answers webhooks; always succeeds once the faults are over. */
  #endpoint(): Http {
    const random = this.#world.kernel.random('life.endpoint');
    const endpoint = new SimulatedEndpoint(() =>
      this.#isHealing ? { status: 200 } : drawReply(random),
    );
    endpoint.runIn(this.#world);
    return endpoint;
  }

  #setRates(rates: FaultRates): void {
    if (this.#fleet !== undefined) this.#fleet.rates = rates;
  }

  /** Switches the faults off; all work must then end. Resolves to false if it does not. */
  async #heal(): Promise<boolean> {
    this.#setRates(noRates);
    this.#isHealing = true;
    for (const fault of this.#world.faults.list()) this.#recorder.fault(fault.kind, 'off');
    this.#world.faults.clear();
    forceDeletes(this.#world, this.#user());
    openGates(this.#world, this.#user());
    const health = this.#health;
    if (health !== undefined) endIllness({ world: this.#world, user: this.#user(), health });
    const repairedBy = this.#world.kernel.now() + repairLimitSeconds * microsPerSecond;
    const resumed = new Set<string>();
    await this.#driver.advance(20);
    this.#fleet?.start();
    const isOver = (): boolean => {
      endPauses(this.#world, this.#user(), resumed);
      resumeSequences(this.#world, this.#user());
      health?.renew();
      if (this.#failure !== undefined) return true;
      const isLate = this.#world.kernel.now() > repairedBy;
      const waits = !isLate && health?.ill.some((node) => awaitsRepair(this.#world, node));
      return waits !== true && isQuiet(this.#world);
    };
    await this.#driver.until(isOver, { limitSeconds: replicasLimitSeconds, everySeconds: 15 });
    this.#fleet?.becomeOne();
    let ended = false;
    // Pods and nodes that recovered may trigger Auto Scaling again: healing ends after a round in
    // which nothing new begins.
    for (let round = 0; round < maxRounds; round += 1) {
      const limitSeconds = healLimitSeconds;
      ended = await this.#driver.until(isOver, { limitSeconds, everySeconds: 15 });
      // Evicted pods start elsewhere if there is room, and groups reach their size again.
      await this.#driver.until(() => appsAreReady(this.#world) && groupsAreFull(this.#world), {
        limitSeconds: recoverLimitSeconds,
        everySeconds: 15,
      });
      await this.#driver.advance(restSeconds);
      if (!ended || (isOver() && groupsAreFull(this.#world))) break;
    }
    return ended;
  }

  #fired(kind: string): void {
    this.#meetings.fired(kind);
    if (kind.startsWith('F')) this.#recorder.fault(kind, 'fired');
  }

  #user(): WorldClient {
    return this.#world.kube.as({
      user: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      userAgent: 'kubectl/v1.32.4',
    });
  }
}

/** The owner of a deleted group that budgets block forever finally forces its deletion. */
const forceDeletes = ({ kube }: World, user: WorldClient): void => {
  for (const { metadata } of kube.readAll(resources.groups)) {
    if (metadata.deletionTimestamp === undefined) continue;
    const body = { metadata: { annotations: { [forceAnnotation]: 'true' } } };
    user.patch(resources.groups, { name: metadata.name }, { type: 'merge', body });
  }
};

const must = (result: { readonly kind: string }): void => {
  if (result.kind === 'error')
    throw new Error(`the scenario is refused: ${JSON.stringify(result)}`);
};

export const runLife = (options: LifeOptions): Promise<LifeResult> => new Life(options).run();

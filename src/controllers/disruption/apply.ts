// Runs the steps of one disruption's plan, in order. A step with a failed precondition ends the
// pass silently; a refusal by a server ends it with an error. Calls to the cloud about hooks are
// exempt: they never delay anything else.

import type { CloudInstance } from '../../api/cloud.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { type Node, type Pod, resourceTypes } from '../../api/kube.ts';
import type { Plan, Step } from '../../api/plan.ts';
import { CloudError, KubeError } from '../../ports/index.ts';
import { mergePatchBetween, NotLeader } from '../../runtime/index.ts';
import { withdrawCause } from '../causes.ts';
import { isInService, nodeOfInstance } from '../informers.ts';
import type { DisruptionDeps } from './deps.ts';
import { terminateDetached } from './detached.ts';
import { eventOf, journalStatus, journalStep } from './events.ts';
import { callCloud, type Heartbeats, type HookStep, serveHook } from './hooks.ts';
import { trimPod } from './informers.ts';
import type { Recollection } from './recollection.ts';

export interface Pass {
  readonly disruption: NodeDisruption;
  readonly node: Node | undefined;
  readonly recollection: Recollection;
  readonly signal: AbortSignal;
}

/** `learned`: a new fact for the next decision, which no watch reports. */
export interface Applied {
  readonly learned: boolean;
}

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;
/** `stop`: the state has changed, so the pass ends and the next one observes again. */
type Outcome = 'done' | 'learned' | 'stop';

/** EC2's states of an instance whose kubelet has stopped or soon will. */
const deadStates: ReadonlySet<string> = new Set([
  'shutting-down',
  'terminated',
  'stopping',
  'stopped',
]);

export class Applier {
  readonly #deps: DisruptionDeps;
  readonly #heartbeats: Heartbeats;
  readonly #tell: (event: ReturnType<typeof eventOf>) => void;

  constructor(
    deps: DisruptionDeps,
    heartbeats: Heartbeats,
    tell: (event: ReturnType<typeof eventOf>) => void,
  ) {
    this.#deps = deps;
    this.#heartbeats = heartbeats;
    this.#tell = tell;
  }

  async run(plan: Plan, pass: Pass): Promise<Applied> {
    let learned = false;
    let unanswered: CloudError | undefined;
    for (const step of plan.steps) {
      pass.signal.throwIfAborted();
      try {
        const outcome = await this.#step(step, pass);
        if (outcome === 'learned') learned = true;
        if (outcome === 'stop') break;
      } catch (error) {
        if (error instanceof NotLeader) break;
        // No other step depends on the cloud's answer, so the remaining steps run first.
        if (step.kind !== 'Confirm' || !(error instanceof CloudError)) throw error;
        unanswered = error;
      }
    }
    if (unanswered !== undefined) throw unanswered;
    return { learned };
  }

  #step(step: Step, pass: Pass): Promise<Outcome> {
    switch (step.kind) {
      case 'WriteStatus':
        return this.#writeStatus(step, pass);
      case 'PatchNode':
        return this.#patchNode(step, pass);
      case 'HeartbeatHook':
      case 'CompleteHook':
        return this.#hook(step, pass);
      case 'TerminateInstance':
        return this.#terminate(step, pass);
      case 'DetachInstance':
        return this.#detach(step, pass);
      case 'RebootInstance':
        return this.#reboot(step, pass);
      case 'Confirm':
        return this.#confirm(step, pass);
      case 'WithdrawCause':
        return this.#withdraw(step, pass);
      case 'DeleteDisruption':
        return this.#delete(step, pass);
    }
  }

  async #writeStatus(step: StepOf<'WriteStatus'>, pass: Pass): Promise<Outcome> {
    const { kube, disruptions, journal, clock } = this.#deps;
    const { disruption, recollection, signal } = pass;
    const cached = disruptions.get(step.disruption)?.metadata.resourceVersion;
    if (cached !== step.resourceVersion) return 'stop';
    const status = mergePatchBetween(disruption.status, step.status);
    if (status === undefined) return 'done';
    const body = { metadata: { resourceVersion: step.resourceVersion }, status };
    const written = await kube.patch<NodeDisruption>(
      resourceTypes.nodedisruptions,
      { name: step.disruption },
      { type: 'merge', body, subresource: 'status' },
      { signal },
    );
    if (written.kind === 'gone') return 'stop';
    recollection.disruptionVersion = written.object.metadata.resourceVersion;
    journalStatus(journal, disruption, step.status);
    this.#tell(eventOf(disruption, step.status, clock.now()));
    return 'done';
  }

  async #patchNode(step: StepOf<'PatchNode'>, pass: Pass): Promise<Outcome> {
    const { kube, nodes, journal } = this.#deps;
    // The patches of eks mode carry no precondition, so the node's identity is checked here.
    if (nodes.get(step.node)?.metadata.uid !== step.uid) return 'stop';
    pass.recollection.unsureOf = step.node;
    const patched = await kube.patch<Node>(
      resourceTypes.nodes,
      { name: step.node },
      { type: step.patch, body: step.body },
      { signal: pass.signal },
    );
    delete pass.recollection.unsureOf;
    if (patched.kind === 'gone') return 'stop';
    pass.recollection.nodeVersion = patched.object.metadata.resourceVersion;
    journalStep(journal, pass.disruption.metadata.name, step);
    return 'done';
  }

  /**
   * After a failed patch the controller waits until the watch shows the node's current state.
   * Otherwise it could find nothing to undo although the patch was applied.
   */
  async readBack(recollection: Recollection, signal: AbortSignal): Promise<void> {
    const { unsureOf: name } = recollection;
    if (name === undefined) return;
    const found = await this.#deps.kube.get<Node>(resourceTypes.nodes, { name }, { signal });
    if (found.kind === 'found') {
      recollection.nodeVersion = found.object.metadata.resourceVersion;
    }
    delete recollection.unsureOf;
  }

  /**
   * Heartbeats run beside the pass: a cloud that does not answer must not delay cordoning or forced
   * deletions.
   */
  async #hook(step: HookStep, pass: Pass): Promise<Outcome> {
    if (step.kind === 'HeartbeatHook') {
      this.#heartbeats.send(step, pass);
      return 'done';
    }
    await serveHook(this.#deps, step, pass);
    return 'learned';
  }

  async #terminate(step: StepOf<'TerminateInstance'>, pass: Pass): Promise<Outcome> {
    const { kube, cloud, clock, journal, log } = this.#deps;
    const { memory } = pass.recollection;
    const at = clock.now();
    const { instanceId, decrementDesired, isDetached } = step;
    const { signal } = pass;
    try {
      if (cloud === undefined) throw new CloudError('Unsupported', 'no cloud is configured');
      if (isDetached === true) {
        await terminateDetached({ kube, cloud }, pass.disruption, { instanceId, signal });
      } else await cloud.terminateInGroup(instanceId, { decrementDesired, signal });
      memory.terminate = { at, done: true, failures: 0 };
      journalStep(journal, pass.disruption.metadata.name, step);
    } catch (error) {
      pass.signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      // A repeated call after a crash is refused, because the instance is not in its group any
      // more. A refusal can have other reasons, so the instance's state in EC2 decides.
      const refused = error.code === 'InvalidRequest';
      const done = refused && (await this.#isKnownGone(instanceId, pass.signal));
      const failures = (memory.terminate?.failures ?? 0) + 1;
      memory.terminate = { at, done, failures, message: error.message };
      log.warn('instance not terminated', { instanceId, code: error.code });
    }
    return 'learned';
  }

  async #detach(step: StepOf<'DetachInstance'>, pass: Pass): Promise<Outcome> {
    const { cloud, clock, journal, log } = this.#deps;
    const { memory } = pass.recollection;
    const at = clock.now();
    const { instanceId, autoScalingGroupName } = step;
    try {
      if (cloud === undefined) throw new CloudError('Unsupported', 'no cloud is configured');
      await cloud.detachFromGroup(instanceId, { autoScalingGroupName, signal: pass.signal });
      memory.detach = { at, done: true, failures: 0 };
      journalStep(journal, pass.disruption.metadata.name, step);
    } catch (error) {
      pass.signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      // A repeat after a crash is refused, because the instance is not in its group.
      const refused = error.code === 'InvalidRequest';
      const done = refused && !(await this.#isMember(step, pass.signal));
      const failures = (memory.detach?.failures ?? 0) + 1;
      memory.detach = { at, done, failures, message: error.message };
      log.warn('instance not detached', { instanceId, code: error.code });
    }
    return 'learned';
  }

  /** True where the cloud does not answer: the next try asks again. */
  async #isMember(step: StepOf<'DetachInstance'>, signal: AbortSignal): Promise<boolean> {
    const { instanceId, autoScalingGroupName: name } = step;
    try {
      const groups = await callCloud(this.#deps, signal, (cloud, inner) =>
        cloud.describeGroups([name], { signal: inner }),
      );
      return groups.some(({ instances }) => instances.some((one) => one.instanceId === instanceId));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      return true;
    }
  }

  async #reboot(step: StepOf<'RebootInstance'>, pass: Pass): Promise<Outcome> {
    const { cloud, clock, journal, log } = this.#deps;
    const { memory } = pass.recollection;
    const at = clock.now();
    const { instanceId } = step;
    try {
      if (cloud === undefined) throw new CloudError('Unsupported', 'no cloud is configured');
      await cloud.rebootInstance(instanceId, { signal: pass.signal });
      memory.reboot = { at, done: true, failures: 0 };
      journalStep(journal, pass.disruption.metadata.name, step);
    } catch (error) {
      pass.signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      // An instance that was terminated meanwhile cannot be rebooted.
      const refused = error.code === 'InvalidRequest';
      const done = refused && (await this.#isKnownGone(instanceId, pass.signal));
      const failures = (memory.reboot?.failures ?? 0) + 1;
      memory.reboot = { at, done, failures, message: error.message };
      log.warn('instance not rebooted', { instanceId, code: error.code });
    }
    return 'learned';
  }

  async #confirm(step: StepOf<'Confirm'>, pass: Pass): Promise<Outcome> {
    const { kube, clock } = this.#deps;
    const { signal, recollection } = pass;
    const { memory } = recollection;
    const at = clock.now();
    if (step.what === 'nodeEmpty') {
      const fieldSelector = `spec.nodeName=${step.subject}`;
      const { items } = await kube.list<Pod>(resourceTypes.pods, { fieldSelector, signal });
      memory.listed = { at, pods: items.map(trimPod) };
    } else if (step.what === 'noNode') {
      const { items } = await kube.list<Node>(resourceTypes.nodes, { signal });
      memory.nodeListed = { at, found: items.some((node) => isNodeOf(node, pass.disruption)) };
    } else if (step.what === 'replacement') {
      memory.replacement = { at, ...(await this.#replacement(step, signal)) };
    } else if (step.what === 'leaving') {
      memory.leaving = { at, found: await this.#isLeaving(step, signal) };
    } else {
      const instance = await this.#instance(step.subject, signal);
      const nodeName = instance?.privateDnsName ?? '';
      const gone = this.#deps.cloud !== undefined && isGone(instance);
      const isStopped = gone && instance?.state.startsWith('stop') === true;
      memory.instance = { at, gone, isStopped, ...(nodeName === '' ? {} : { nodeName }) };
    }
    return 'learned';
  }

  /** False where the cloud does not answer: the next try asks again. */
  async #isKnownGone(instanceId: string, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#instanceIsGone(instanceId, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      return false;
    }
  }

  async #instanceIsGone(instanceId: string, signal: AbortSignal): Promise<boolean> {
    return this.#deps.cloud !== undefined && isGone(await this.#instance(instanceId, signal));
  }

  /**
   * The instance as EC2 describes it; undefined where EC2 does not know it, or no cloud is
   * configured.
   */
  async #instance(instanceId: string, signal: AbortSignal): Promise<CloudInstance | undefined> {
    if (this.#deps.cloud === undefined) return undefined;
    const found = await callCloud(this.#deps, signal, (cloud, inner) =>
      cloud.describeInstances([instanceId], { signal: inner }),
    );
    return found.find((each) => each.instanceId === instanceId);
  }

  /**
   * Whether the instance is terminating, waits in a terminate hook, or is gone. Looks in its Auto
   * Scaling group, or in all where the group is unknown.
   */
  async #isLeaving(step: StepOf<'Confirm'>, signal: AbortSignal): Promise<boolean> {
    const { autoScalingGroupName: name, subject } = step;
    if (this.#deps.cloud === undefined) return false;
    const names = name === undefined ? undefined : [name];
    const groups = await callCloud(this.#deps, signal, (cloud, inner) =>
      cloud.describeGroups(names, { signal: inner }),
    );
    const found = groups
      .flatMap(({ instances }) => instances)
      .find(({ instanceId }) => instanceId === subject);
    if (found !== undefined) return found.lifecycleState.startsWith('Terminat');
    return this.#instanceIsGone(subject, signal);
  }

  /**
   * Whether the group has capacity beside this instance: the other members in service whose nodes
   * are Ready.
   */
  async #replacement(step: StepOf<'Confirm'>, signal: AbortSignal) {
    const { cloud, nodes } = this.#deps;
    const none = { rebalances: false, serving: 0, desired: 0 };
    const { autoScalingGroupName: name } = step;
    if (cloud === undefined || name === undefined) return none;
    const [group] = await callCloud(this.#deps, signal, (api, inner) =>
      api.describeGroups([name], { signal: inner }),
    );
    if (group === undefined) return none;
    const serving = group.instances.filter(({ instanceId, lifecycleState }) => {
      const node = nodeOfInstance(nodes, instanceId);
      const isOther = instanceId !== step.subject && lifecycleState === 'InService';
      return isOther && node !== undefined && isInService(node);
    });
    return {
      rebalances: group.capacityRebalance === true,
      serving: serving.length,
      desired: group.desiredCapacity,
    };
  }

  async #withdraw({ causeId }: StepOf<'WithdrawCause'>, pass: Pass): Promise<Outcome> {
    const { name } = pass.disruption.metadata;
    await withdrawCause(this.#deps, { name, causeId }, pass.signal);
    journalStep(this.#deps.journal, name, { kind: 'WithdrawCause', disruption: name, causeId });
    // The watch shows the cause as withdrawn; the next pass decides then.
    return 'stop';
  }

  async #delete(step: StepOf<'DeleteDisruption'>, pass: Pass): Promise<Outcome> {
    const { kube, journal } = this.#deps;
    const { uid, resourceVersion, disruption: name } = step;
    const type = resourceTypes.nodedisruptions;
    try {
      await kube.delete(type, { name }, { uid, resourceVersion, signal: pass.signal });
    } catch (error) {
      // A cause was written meanwhile: the next pass sees it.
      if (error instanceof KubeError && isStale(error)) return 'stop';
      throw error;
    }
    journalStep(journal, name, step);
    return 'done';
  }
}

const isGone = (instance: CloudInstance | undefined): boolean =>
  instance === undefined || deadStates.has(instance.state);

const isStale = ({ code }: KubeError): boolean =>
  code === 'Conflict' || code === 'PreconditionFailed';

/** Whether this is the node that a disruption is about: by instance, else by name and uid. */
export const isNodeOf = (node: Node, disruption: NodeDisruption): boolean => {
  const { instanceId, nodeName } = disruption.spec;
  const { providerID } = node.spec;
  if (instanceId !== undefined && providerID !== undefined) {
    return providerID.endsWith(`/${instanceId}`);
  }
  if (node.metadata.name !== nodeName) return false;
  const uid = uidInName(disruption.metadata.name) ?? disruption.status?.node?.uid;
  // Without an instance the node's uid is its identity; another node of that name is not it.
  return instanceId !== undefined || uid === undefined || uid === node.metadata.uid;
};

/** The name of a disruption without an instance is `node-<uid>`. */
const uidInName = (name: string): string | undefined =>
  name.startsWith('node-') ? name.slice('node-'.length) : undefined;

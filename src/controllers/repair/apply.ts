// Runs the steps of a repair plan in order. Intent comes before effect: a NodeRepair is Repairing
// before its cause is recorded. Stale steps are left to the next pass. Decides nothing.
import { defined } from '../../api/defined.ts';
import { resourceTypes } from '../../api/kube.ts';
import { bundleAnnotation } from '../../api/log-bundle.ts';
import { newRepair } from '../../api/new-repair.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { RepairPlan, RepairStep } from '../../core/repair/index.ts';
import { KubeError } from '../../ports/index.ts';
import { describeError, mergePatchBetween } from '../../runtime/index.ts';
import { recordCause, withdrawCause } from '../causes.ts';
import type { RepairDeps } from './deps.ts';
import { bundleEventOf, eventOf, journalRepair } from './events.ts';

type StepOf<Kind extends RepairStep['kind']> = Extract<RepairStep, { readonly kind: Kind }>;
const type = resourceTypes.noderepairs;

export class Applier {
  readonly #deps: RepairDeps;

  constructor(deps: RepairDeps) {
    this.#deps = deps;
  }

  /** Throws KubeError. */
  async run(plan: RepairPlan, group: NodeGroup, signal: AbortSignal): Promise<void> {
    for (const step of plan.steps) {
      signal.throwIfAborted();
      await this.#step(step, group, signal);
    }
  }

  /** Deletes the repairs of a deleted group. */
  async forget(repairs: readonly NodeRepair[], signal: AbortSignal): Promise<void> {
    for (const { metadata } of repairs) {
      const { name, uid } = metadata;
      await this.#delete({ kind: 'DeleteRepair', name, uid }, signal);
    }
  }

  #step(step: RepairStep, group: NodeGroup, signal: AbortSignal): Promise<void> {
    switch (step.kind) {
      case 'OpenRepair':
        return this.#open(step, group, signal);
      case 'WriteRepair':
        return this.#write(step, signal);
      case 'RecordCause':
        return this.#record(step, group, signal);
      case 'AskForBundle':
        return this.#askForBundle(step, signal);
      case 'WithdrawCause':
        return this.#withdraw(step, signal);
      case 'DeleteRepair':
        return this.#delete(step, signal);
    }
  }

  async #open(step: StepOf<'OpenRepair'>, group: NodeGroup, signal: AbortSignal): Promise<void> {
    const { kube, journal, repairs } = this.#deps;
    const { name, spec } = step;
    const object = newRepair({ name, owner: group.metadata, spec });
    try {
      const made = await kube.create(type, object, { signal });
      journal.record({
        type: 'repair:opened',
        subject: name,
        facts: { group: spec.nodeGroup, condition: spec.condition, reason: spec.reason },
      });
      await repairs.observedAtLeast(made.metadata.resourceVersion, signal);
    } catch (error) {
      // An earlier process created it: the watch will show it.
      if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
    }
  }

  async #write(step: StepOf<'WriteRepair'>, signal: AbortSignal): Promise<void> {
    const { kube, repairs, journal, clock } = this.#deps;
    const before = repairs.get(step.name);
    if (before?.metadata.resourceVersion !== step.resourceVersion) return;
    const status = mergePatchBetween(before.status, step.status);
    if (status === undefined) return;
    const body = { metadata: { resourceVersion: step.resourceVersion }, status };
    const patch = { type: 'merge', body, subresource: 'status' } as const;
    try {
      const written = await kube.patch(type, { name: step.name }, patch, { signal });
      if (written.kind === 'gone') return;
      journalRepair(journal, before, step.status);
      await this.#tell(eventOf(before, step.status, clock.now()), signal);
      await this.#tell(bundleEventOf(before, step.status, clock.now()), signal);
      await repairs.observedAtLeast(written.object.metadata.resourceVersion, signal);
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'Conflict') throw error;
    }
  }

  async #record(step: StepOf<'RecordCause'>, group: NodeGroup, signal: AbortSignal) {
    const { instanceId, nodeName, cause } = step;
    const subject = {
      name: instanceId,
      instanceId,
      nodeGroup: group.metadata.name,
      ...defined({ nodeName }),
    };
    const written = await recordCause(this.#deps, { subject, cause, untilSeen: true }, signal);
    if (written === 'refused') {
      const facts = { instance: instanceId, cause: cause.id };
      this.#deps.log.error('a cause has no place among those in force', facts);
      return;
    }
    if (written === 'recorded') return;
    const facts = { cause: cause.id, followUp: cause.followUp };
    this.#deps.journal.record({ type: 'repair:recorded', subject: instanceId, facts });
  }

  /** If the node no longer exists, or its name belongs to another node, the next pass decides. */
  async #askForBundle(step: StepOf<'AskForBundle'>, signal: AbortSignal): Promise<void> {
    const { nodeName: name, uid, request } = step;
    const body = { metadata: { uid, annotations: { [bundleAnnotation]: request } } };
    const { kube, nodes } = this.#deps;
    try {
      const patch = { type: 'merge', body } as const;
      const written = await kube.patch(resourceTypes.nodes, { name }, patch, { signal });
      if (written.kind === 'gone') return;
      await nodes.observedAtLeast(written.object.metadata.resourceVersion, signal);
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'Conflict') throw error;
    }
  }

  async #withdraw(step: StepOf<'WithdrawCause'>, signal: AbortSignal): Promise<void> {
    const { disruption: name, causeId } = step;
    await withdrawCause(this.#deps, { name, causeId }, signal);
    const facts = { cause: causeId };
    this.#deps.journal.record({ type: 'repair:withdrawn', subject: name, facts });
  }

  async #delete({ name, uid }: StepOf<'DeleteRepair'>, signal: AbortSignal): Promise<void> {
    await this.#deps.kube.delete(type, { name }, { uid, signal });
  }

  /** A failed event write delays nothing. */
  async #tell(event: ReturnType<typeof eventOf>, signal: AbortSignal): Promise<void> {
    if (event === undefined) return;
    try {
      const { kube } = this.#deps;
      await kube.create(resourceTypes.events, event, { namespace: 'default', signal });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 'AlreadyExists') return;
      this.#deps.log.warn('event not written', { error: describeError(error) });
    }
  }
}

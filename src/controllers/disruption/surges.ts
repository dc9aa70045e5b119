// Runs the swaps of core/drain/surge.ts: watches the Deployments that ask for one, finds their pods
// on draining nodes, and patches pods and Deployments. Deployments that a HorizontalPodAutoscaler
// scales are left to evictions. Evicts nothing.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import { type Deployment, type KubeObject, resourceTypes } from '../../api/kube.ts';
import { type SurgeStep, surgeLabel } from '../../api/surge.ts';
import {
  type Doomed,
  type Drain,
  decideSurge,
  deploymentsOf,
  isOfDeployment,
  keyOfObject,
  maySwap,
  type NotYet,
  restoreSteps,
  surgeBlocker,
  surgeOf,
} from '../../core/drain/index.ts';
import { Informer, type PassResult, WorkQueue } from '../../runtime/index.ts';
import { slim } from '../informers.ts';
import type { DisruptionDeps } from './deps.ts';
import { swappedPods } from './open-surges.ts';
import { writeStep } from './surge-writes.ts';

/** After a start, drains list their pods first: a swap that they need must not be undone. */
const orphansAfterMs = 60_000;
/** After the scale-back, the ReplicaSet deletes the doomed pods within this time. */
const deletedWithinMs = 10_000;
const lookAgainMs = 1_000;
/**
 * Work-queue key of the search for pods on which an earlier process left a deletion cost; never the
 * name of a Deployment.
 */
const leftPods = '';

interface Autoscaler extends KubeObject {
  readonly spec: { readonly scaleTargetRef: { readonly kind: string; readonly name: string } };
}

export class Surges {
  readonly #deps: DisruptionDeps;
  readonly #again: () => void;
  readonly #informer: Informer<Deployment>;
  readonly #queue: WorkQueue<string>;
  readonly #startedAt: EpochMs;
  readonly #doomed = new Map<string, readonly Doomed[]>();
  readonly #messages = new Map<string, string>();
  /** When each Deployment was scaled back; its pods on draining nodes are deleted shortly after. */
  readonly #swappedAt = new Map<string, EpochMs>();
  /** Whether an autoscaler scales it; asked once per swap. */
  readonly #autoscaled = new Map<string, boolean>();
  /**
   * Deployments whose pods may have a deletion cost set by Drover, even if they have lost the
   * label.
   */
  readonly #swapping = new Set<string>();

  constructor(deps: DisruptionDeps, again: () => void) {
    this.#deps = deps;
    this.#again = again;
    const { kube, clock, random, log } = deps;
    this.#startedAt = clock.now();
    this.#queue = new WorkQueue({ ...deps, name: 'surge', concurrency: 4 });
    this.#informer = new Informer<Deployment>({
      kube,
      clock,
      random,
      log,
      type: resourceTypes.deployments,
      labelSelector: `${surgeLabel}=true`,
      project: ({ apiVersion, kind, metadata, spec, status }) => ({
        apiVersion,
        kind,
        metadata: slim(metadata),
        spec: { selector: spec.selector, ...defined({ replicas: spec.replicas }) },
        ...defined({ status }),
      }),
    });
    this.#informer.onChange(({ object }) => {
      this.#queue.add(keyOfObject(object));
      this.#again();
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#queue.add(leftPods);
    await Promise.all([
      this.#informer.run(signal),
      this.#queue.run(
        (key, inner) => (key === leftPods ? this.#findLeft(inner) : this.#pass(key, inner)),
        signal,
      ),
    ]);
  }

  /** What pods wait for by their uid, for one allocation. */
  waits(drains: readonly Drain[], now: EpochMs): ReadonlyMap<string, NotYet> {
    const waits = new Map<string, NotYet>();
    const deployments = this.#informer.list();
    const before = new Set(this.#doomed.keys());
    for (const deployment of deployments) {
      const key = keyOfObject(deployment);
      const doomed = this.#doomedOf(deployment, drains, now);
      if (doomed.length === 0) continue;
      before.delete(key);
      const known = this.#doomed
        .get(key)
        ?.map(({ pod }) => pod.metadata.uid)
        .join();
      this.#doomed.set(key, doomed);
      if (known !== doomed.map(({ pod }) => pod.metadata.uid).join()) this.#queue.add(key);
      if (this.#autoscaled.get(key) === true) continue;
      const message = this.#messages.get(key) ?? 'is about to be scaled up';
      for (const one of doomed) {
        waits.set(one.pod.metadata.uid, surgeBlocker(one, deployment, message));
      }
    }
    for (const key of before) {
      this.#doomed.delete(key);
      this.#autoscaled.delete(key);
      this.#queue.add(key);
    }
    return waits;
  }

  #doomedOf(deployment: Deployment, drains: readonly Drain[], now: EpochMs): readonly Doomed[] {
    return drains.flatMap(({ pods, mayEvict, surgeUntil: until = epochMs(0) }) =>
      !mayEvict || now >= until
        ? []
        : pods
            .filter(({ pod }) => maySwap(pod) && isOfDeployment(pod, deployment))
            .map(({ pod }) => ({ pod, until })),
    );
  }

  /** One list for all Deployments, once drains have had the time to list their pods. */
  async #findLeft(signal: AbortSignal): Promise<PassResult | undefined> {
    const at = epochMs(this.#startedAt + orphansAfterMs);
    if (this.#deps.clock.now() < at) return { nextAt: at };
    for (const metadata of deploymentsOf(
      await swappedPods(this.#deps.kube, undefined, { signal }),
    )) {
      const key = keyOfObject({ metadata });
      this.#swapping.add(key);
      this.#queue.add(key);
    }
    return undefined;
  }

  async #deploymentOf(key: string, signal: AbortSignal): Promise<Deployment | undefined> {
    const [namespace = '', name = ''] = key.split('/');
    const known = this.#informer.get({ namespace, name });
    if (known !== undefined || !this.#swapping.has(key)) return known;
    const type = resourceTypes.deployments;
    const found = await this.#deps.kube.get<Deployment>(type, { namespace, name }, { signal });
    if (found.kind === 'found') return found.object;
    this.#swapping.delete(key);
    return undefined;
  }

  /** False: some deletion cost remains, because the write was refused by a changed pod. */
  async #restore(deployment: Deployment, signal: AbortSignal): Promise<boolean> {
    const key = keyOfObject(deployment);
    const { namespace } = deployment.metadata;
    const marked = await swappedPods(this.#deps.kube, namespace, { signal });
    const pods = marked.filter((pod) => isOfDeployment(pod, deployment));
    let isRestored = true;
    for (const step of restoreSteps(pods)) {
      isRestored = (await this.#apply(key, deployment, step, signal)) && isRestored;
    }
    return isRestored;
  }

  async #pass(key: string, signal: AbortSignal): Promise<PassResult | undefined> {
    const { clock } = this.#deps;
    const deployment = await this.#deploymentOf(key, signal);
    if (deployment === undefined) return undefined;
    const now = clock.now();
    const doomed = this.#doomed.get(key) ?? [];
    const isOpen = surgeOf(deployment) !== undefined;
    const orphansAt = epochMs(this.#startedAt + orphansAfterMs);
    const quietUntil = (this.#swappedAt.get(key) ?? 0) + deletedWithinMs;
    if (doomed.length === 0) {
      if (!isOpen && !this.#swapping.has(key)) return undefined;
      const endsAt = epochMs(isOpen ? orphansAt : Math.max(orphansAt, quietUntil));
      if (now < endsAt) return { nextAt: endsAt };
      // Resets the deletion costs before the scale-back, since these pods are to stay.
      if (!(await this.#restore(deployment, signal))) {
        return { nextAt: epochMs(clock.now() + lookAgainMs) };
      }
      if (!isOpen) {
        this.#swapping.delete(key);
        return undefined;
      }
    }
    if (!isOpen && now < quietUntil) return { nextAt: epochMs(quietUntil) };
    if (!isOpen && (await this.#isAutoscaled(deployment, signal))) return undefined;
    const { steps, message } = decideSurge(deployment, doomed, now);
    this.#messages.set(key, message);
    for (const step of steps) await this.#apply(key, deployment, step, signal);
    this.#again();
    const until = Math.min(...doomed.map((one) => one.until), now + lookAgainMs);
    return { nextAt: epochMs(until) };
  }

  async #isAutoscaled({ metadata }: Deployment, signal: AbortSignal): Promise<boolean> {
    const { namespace, name } = metadata;
    const key = keyOfObject({ metadata });
    const known = this.#autoscaled.get(key);
    if (known !== undefined) return known;
    const { items } = await this.#deps.kube.list<Autoscaler>(
      resourceTypes.horizontalpodautoscalers,
      { ...defined({ namespace }), signal },
    );
    const found = items.some(
      ({ spec: { scaleTargetRef: target } }) =>
        target.kind === 'Deployment' && target.name === name,
    );
    this.#autoscaled.set(key, found);
    if (found) this.#again();
    return found;
  }

  async #apply(
    key: string,
    deployment: Deployment,
    step: SurgeStep,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (step.kind === 'cost') this.#swapping.add(key);
    const isWritten = await writeStep(this.#deps, deployment, step, signal);
    if (isWritten && step.kind === 'lower') this.#swappedAt.set(key, this.#deps.clock.now());
    return isWritten;
  }
}

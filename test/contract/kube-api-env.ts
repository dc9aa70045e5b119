// Shared parts of the Kubernetes contract's cases: fresh namespaces, a node and pods whose kubelet
// is the case itself, and waiting until a condition holds.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';
import {
  type KubeObject,
  type Pod,
  type PodDisruptionBudget,
  type ResourceType,
  resourceTypes,
} from '../../src/api/kube.ts';
import { type KubeApi, KubeError, type KubeErrorCode } from '../../src/ports/index.ts';
import type { RawKube } from '../support/kube-raw.ts';

export interface ContractEnv {
  readonly api: KubeApi;
  /** Any request, as an administrator or by impersonation. */
  readonly raw: RawKube;
  readonly smallPages: KubeApi;
  /** A new namespace that is ready for pods. */
  namespace(): Promise<string>;
  /** A unique name. */
  unique(prefix: string): string;
  /** A bound pod in the requested state; `pending` is bound but not started. */
  pod(
    namespace: string,
    name: string,
    state?: 'ready' | 'unready' | 'pending',
    more?: { readonly app?: string; readonly finalizers?: readonly string[] },
  ): Promise<Pod>;
  /**
   * A budget over the pods with app=a, once the disruption controller has counted the `healthy`
   * ones.
   */
  budget(options: {
    readonly namespace: string;
    readonly name: string;
    readonly minAvailable: number;
    /** The number of all pods that the controller must have counted. */
    readonly expected?: number;
    readonly healthy: number;
    readonly policy?: 'IfHealthyBudget' | 'AlwaysAllow';
  }): Promise<PodDisruptionBudget>;
}

export interface ContractCase {
  readonly name: string;
  /** The case takes more than a minute. */
  readonly slow?: boolean;
  readonly run: (env: ContractEnv) => Promise<void>;
}

const waitMs = 15_000;
const { namespaces, nodes, pods, poddisruptionbudgets } = resourceTypes;

/** Repeats `ask` until it returns a value; on a timeout, `what` may describe the last answer. */
export const eventually = async <T>(
  what: string | (() => string),
  ask: () => Promise<T | undefined>,
): Promise<T> => {
  const until = performance.now() + waitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > until)
      assert.fail(`${typeof what === 'string' ? what : what()}: not within ${waitMs} ms`);
    await sleep(20);
  }
};

/** The call must fail with this code; returns its error. */
export const fails = async (code: KubeErrorCode, call: Promise<unknown>): Promise<KubeError> => {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    assert.equal(error.code, code, error.message);
    return error;
  }
  return assert.fail(`should have failed with ${code}`);
};

/** Returns the object, which must exist. */
export const get = async <T extends KubeObject>(
  { api }: Pick<ContractEnv, 'api'>,
  type: ResourceType,
  name: { readonly namespace?: string; readonly name: string },
): Promise<T> => {
  const found = await api.get<T>(type, name);
  return found.kind === 'found'
    ? found.object
    : assert.fail(`${type.resource} ${name.name} is gone`);
};

export const isGone = async (
  { api }: Pick<ContractEnv, 'api'>,
  type: ResourceType,
  name: { readonly namespace?: string; readonly name: string },
): Promise<boolean> => (await api.get(type, name)).kind === 'gone';

const podStatus = (ready: boolean): JsonObject => ({
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
});

/** A server with service accounts refuses pods until a new namespace has its default account. */
const unlessAccountMissing = (error: unknown): undefined => {
  const passing = error instanceof KubeError && error.code === 'Forbidden';
  if (!passing || !/service account/.test(error.message)) throw error;
};

const nodeName = 'contract-n1';

const podObject = (
  name: string,
  more: { readonly app?: string; readonly finalizers?: readonly string[] },
): JsonObject => ({
  metadata: {
    name,
    labels: { app: more.app ?? 'a' },
    ...defined({ finalizers: more.finalizers }),
  },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 30,
    containers: [{ name: 'c', image: 'example/image:1' }],
  },
});

export const contractEnv = (server: {
  readonly api: KubeApi;
  readonly smallPages: KubeApi;
  readonly raw: RawKube;
}): ContractEnv => {
  const { api, smallPages, raw } = server;
  const unique = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;
  let node: Promise<unknown> | undefined;
  const withNode = (): Promise<unknown> => {
    node ??= api.create(nodes, { metadata: { name: nodeName } }).catch((error: unknown) => {
      if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
    });
    return node;
  };
  return {
    api,
    raw,
    smallPages,
    unique,
    namespace: async () => {
      const name = unique('contract');
      await api.create(namespaces, { metadata: { name } });
      return name;
    },
    pod: async (namespace, name, state = 'ready', more = {}) => {
      await withNode();
      const created = await eventually(`pod ${name}`, () =>
        api.create<Pod>(pods, podObject(name, more), { namespace }).catch(unlessAccountMissing),
      );
      if (state === 'pending') return created;
      const body = podStatus(state === 'ready');
      const patch = { type: 'strategic', body, subresource: 'status' } as const;
      const patched = await api.patch<Pod>(pods, { namespace, name }, patch);
      return patched.kind === 'found' ? patched.object : assert.fail(`pod ${name} is gone`);
    },
    budget: async ({ namespace, name, minAvailable, expected, healthy, policy }) => {
      const spec = {
        minAvailable,
        selector: { matchLabels: { app: 'a' } },
        ...defined({ unhealthyPodEvictionPolicy: policy }),
      };
      await api.create(poddisruptionbudgets, { metadata: { name }, spec }, { namespace });
      return eventually(`status of budget ${name}`, async () => {
        const budget = await get<PodDisruptionBudget>({ api }, poddisruptionbudgets, {
          namespace,
          name,
        });
        const { observedGeneration, expectedPods, currentHealthy } = budget.status ?? {};
        const complete = expected === undefined || expectedPods === expected;
        const counted = complete && currentHealthy === healthy;
        return observedGeneration === 1 && counted ? budget : undefined;
      });
    },
  };
};

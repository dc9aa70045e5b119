// What Drover requires of a Kubernetes API server, as cases that run against a real one and against
// the embedded world over HTTPS. Expectations were measured on a real server: if the world differs,
// the world is wrong. Each case uses its own namespaces and does not disturb others.
import assert from 'node:assert/strict';
import type { KubeApi } from '../../src/ports/index.ts';
import type { RawKube } from '../support/kube-raw.ts';
import { accessCases } from './kube-api-access.ts';
import { admissionCases } from './kube-api-admission.ts';
import { adoptionCases } from './kube-api-adoption.ts';
import { agentCases } from './kube-api-agent.ts';
import { applyCases } from './kube-api-apply.ts';
import { bodyCases } from './kube-api-bodies.ts';
import { denialCases } from './kube-api-denials.ts';
import { endpointCases } from './kube-api-endpoints.ts';
import { type ContractCase, type ContractEnv, contractEnv } from './kube-api-env.ts';
import { evictionCases } from './kube-api-evictions.ts';
import { limitCases } from './kube-api-limits.ts';
import { nodeCases } from './kube-api-nodes.ts';
import { objectCases } from './kube-api-objects.ts';
import { patchCases } from './kube-api-patches.ts';
import { rbacCases } from './kube-api-rbac.ts';
import { schedulingCases } from './kube-api-scheduling.ts';
import { tableCases } from './kube-api-tables.ts';
import { watchCases } from './kube-api-watches.ts';
import { webhookCases } from './kube-api-webhooks.ts';
import { workloadCases } from './kube-api-workloads.ts';

export const kubeApiCases: readonly ContractCase[] = [
  ...objectCases,
  ...patchCases,
  ...watchCases,
  ...evictionCases,
  ...applyCases,
  ...admissionCases,
  ...webhookCases,
  ...denialCases,
  ...workloadCases,
  ...adoptionCases,
  ...bodyCases,
  ...endpointCases,
  ...schedulingCases,
  ...rbacCases,
  ...nodeCases,
  ...accessCases,
  ...agentCases,
  ...limitCases,
  ...tableCases,
];

export type ContractTarget =
  | {
      readonly available: true;
      readonly api: KubeApi;
      readonly raw: RawKube;
      /** The same server through a client that lists in pages of three. */
      readonly smallPages: KubeApi;
      /**
       * Cases that are known to fail, with the reason. They run nevertheless and must fail, so an
       * outdated entry is an error.
       */
      readonly differs?: Readonly<Record<string, string>>;
      /** Also run cases that take more than a minute. */
      readonly slow?: boolean;
      readonly stop: () => Promise<void>;
    }
  | { readonly available: false; readonly reason: string };

/** The API that vitest and node:test share. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: (test: { skip(note?: string): void }) => Promise<void>) => void;
  readonly before: (body: () => Promise<void>) => void;
  readonly after: (body: () => Promise<void>) => void;
}

/** Registers every case. If the server is not available, each case is skipped with the reason. */
export const kubeApiContract = (
  { describe, it, before, after }: TestRunner,
  name: string,
  makeApi: () => Promise<ContractTarget>,
): void => {
  describe(`${name} keeps the contract of a Kubernetes API:`, () => {
    let target: ContractTarget = { available: false, reason: 'not started' };
    let env: ContractEnv | undefined;
    before(async () => {
      target = await makeApi();
      if (target.available) env = contractEnv(target);
    });
    it('names only cases of the contract as differences', async () => {
      const names = new Set(kubeApiCases.map((each) => each.name));
      const listed = target.available ? Object.keys(target.differs ?? {}) : [];
      assert.deepEqual(
        listed.filter((each) => !names.has(each)),
        [],
      );
    });
    after(async () => {
      if (target.available) await target.stop();
    });
    for (const { name: what, slow, run } of kubeApiCases) {
      it(what, async (test) => {
        if (!target.available) return test.skip(`not run: ${target.reason}`);
        if (slow === true && target.slow !== true) return test.skip('not run: takes a minute');
        if (env === undefined) return;
        const differs = target.differs?.[what];
        if (differs === undefined) return run(env);
        await assert.rejects(run(env), Error, 'holds by now: take it off the list of differences');
        test.skip(`known difference: ${differs}`);
      });
    }
  });
};

// Each finding of a plan about the account, the namespace, the control plane or other actors comes
// true once it is waived. Code, pods and minute are the same. Once its cause is fixed, the plan
// does not report it. This file has the checks of the group's environment.
import { describe, expect, it } from 'vitest';
import { planOf, settle } from '../../bench/support/calibration.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { ownGroup } from '../../src/cli/plan/group.ts';
import { changeWanted, requestUpdate } from '../../src/cli/update/request.ts';
import type { UpdatePlan } from '../../src/core/update/plan/index.ts';
import { runRollout } from '../../src/sim/rollout/run.ts';
import { rolloutGroup, rolloutVersion } from '../../src/sim/rollout/workload.ts';
import {
  app,
  expectNear,
  loseZone,
  make,
  metadataOf,
  must,
  nodesOf,
  odd,
  type Prepare,
  playMended,
  playRow,
  type Row,
  type Scene,
  type Story,
  subnetsOf,
} from '../support/plan-stories.ts';

/**
 * No new node joined, no old node was touched, and the update failed at the time limit for joining.
 */
const nothingNew = ({ outcome }: Story): void => {
  expect(outcome.status).toBe('Failed');
  expect(outcome.evicted).toEqual([]);
  expect(outcome.launches).toBe(0);
};

/** Minutes from the first launch until the update fails. */
const joinMinutes = 15;

const refusedAt =
  (code: string) =>
  (story: Story): void => {
    nothingNew(story);
    const { found, outcome } = story;
    expect(found.consequence.text).toContain(code);
    expect(outcome.codes).toContain(code);
    const ended = outcome.phases.find(({ phase }) => phase === 'Restoring')?.seconds;
    expectNear((found.consequence.minute ?? 0) + joinMinutes, ended);
  };

const withoutAddresses: Prepare = (world) => {
  for (const { SubnetId } of subnetsOf(world)) {
    world.faults.inject('no-addresses', { subnet: SubnetId });
  }
};

const atQuota: Prepare = (world) => {
  world.faults.inject('vcpu-quota', {});
};
const name = 'Running On-Demand Standard instances';
const code = 'L-1216C47A';
const quotaOf = (limit: number) => [{ name, code, unit: 'vCPU' as const, limit, used: 6 }];

const namespaced = (resource: string, kind: string, spec: JsonObject) => ({
  resource: { group: '', resource },
  object: { apiVersion: 'v1', kind, metadata: { name: 'limit', namespace: 'default' }, spec },
});

/** A quota that allows `more` pods in addition to the existing ones. */
const quota =
  (more: number): Prepare =>
  (world, user) => {
    const pods = [...world.kube.readAll({ group: '', resource: 'pods' }, 'default')].length;
    const hard = { pods: String(pods + more) };
    make(user, namespaced('resourcequotas', 'ResourceQuota', { hard }));
  };

const limits =
  (cpu: string): Prepare =>
  (_, user) =>
    make(
      user,
      namespaced('limitranges', 'LimitRange', { limits: [{ type: 'Container', max: { cpu } }] }),
    );

/** Its pods were evicted at the reported minute, and no replacement became Ready. */
const neverComesBack = ({ found, outcome, seen }: Story): void => {
  const { pod, node, minute } = found.consequence;
  const one = outcome.evicted.find((each) => each.pod === pod);
  expect(one?.node).toBe(node);
  expectNear(minute, one?.seconds);
  expect(seen('web')).toMatchObject({ readyAtEnd: 0 });
};

const apart = (of: string): JsonObject => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: of } } },
      ],
    },
  },
});

const slowly = { 'world.drover.dev/ready-seconds': '20' };

/**
 * The server of a webhook that every pod creation needs: one replica, or two on different nodes.
 */
const guards = (replicas: number) => [
  odd(apart('guard'), { name: 'guard', replicas, annotations: slowly }),
  {
    resource: { group: '', resource: 'services' },
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'guard', namespace: 'default' },
      spec: { selector: { app: 'guard' }, ports: [{ port: 443 }] },
    },
  },
];

const webhook: Prepare = (_, user) => {
  const resource = 'validatingwebhookconfigurations';
  must(
    user.create({ group: 'admissionregistration.k8s.io', resource }, undefined, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'guard' },
      webhooks: [
        {
          name: 'check.example.com',
          failurePolicy: 'Fail',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'default', name: 'guard' } },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
          ],
        },
      ],
    }),
  );
};

const refusals: string[] = [];
/** Creates a pod while no server answers the webhook. */
const tryPod: Scene['look'] = (world) => {
  const slices = { group: 'discovery.k8s.io', resource: 'endpointslices' };
  const isServed = [...world.kube.readAll(slices, 'default')].some((slice) =>
    JSON.stringify(slice.endpoints ?? []).includes('"ready":true'),
  );
  if (isServed) return;
  const user = world.kube.as({
    user: { username: 'somebody', groups: ['system:masters'] },
    userAgent: 'kubectl',
  });
  const made = user.create({ group: '', resource: 'pods' }, 'default', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'probe', namespace: 'default' },
    spec: { containers: [{ name: 'app', image: 'app:1' }] },
  });
  if (made.kind === 'error') refusals.push(made.status.message);
};

const dns = (replicas: number) =>
  odd(apart('dns'), {
    name: 'dns',
    replicas,
    labels: { app: 'dns', 'k8s-app': 'kube-dns' },
    annotations: slowly,
  });

const cordon: Prepare = (world, user) => {
  const { name: cordoned } = metadataOf(nodesOf(world)[0]);
  const body = { spec: { unschedulable: true } };
  must(user.patch({ group: '', resource: 'nodes' }, { name: cordoned }, { type: 'merge', body }));
};

const job = (backoffLimit: number) =>
  odd(
    { restartPolicy: 'Never' },
    {
      kind: 'Job',
      spec: { backoffLimit },
      annotations: { 'world.drover.dev/run-seconds': '36000' },
    },
  );

const rows: readonly Row[] = [
  {
    check: 'subnet-addresses',
    severity: 'blocker',
    object: /^subnet-/,
    scene: { prepare: withoutAddresses },
    happens: refusedAt('InsufficientFreeAddresses'),
    mended: {},
  },
  {
    check: 'new-node-capacity',
    severity: 'warning',
    object: /^ng$/,
    scene: { strategy: 'MINIMAL' },
    happens: ({ outcome, seen }) => {
      expect(outcome.status).toBe('Successful');
      expect(seen('web').pending).toBeGreaterThan(30);
    },
    mended: { strategy: 'SURGE' },
  },
  {
    check: 'account-quota',
    severity: 'blocker',
    object: /^Running On-Demand/,
    scene: { prepare: atQuota, wish: { accountQuotas: quotaOf(6) } },
    happens: (story) => {
      nothingNew(story);
      expect(story.outcome.message).toContain('vCPU limit of 6');
    },
    mended: { wish: { accountQuotas: quotaOf(64) } },
  },
  {
    check: 'account-quota',
    severity: 'blocker',
    object: /^Running On-Demand/,
    scene: { prepare: atQuota, wish: { accountQuotas: quotaOf(6) } },
    happens: nothingNew,
    // The reported remedy: the vCPUs that an old node frees are enough for the next one.
    mended: { prepare: atQuota, strategy: 'MINIMAL', wish: { accountQuotas: quotaOf(6) } },
  },
  {
    check: 'namespace-quota',
    severity: 'blocker',
    object: /^default\/limit$/,
    scene: { prepare: quota(-4) },
    happens: neverComesBack,
    mended: { prepare: quota(20) },
  },
  {
    check: 'namespace-quota',
    severity: 'blocker',
    object: /^default\/limit$/,
    scene: { prepare: limits('10m') },
    happens: neverComesBack,
    mended: { prepare: limits('2') },
  },
  {
    check: 'webhook-on-old-nodes',
    severity: 'blocker',
    object: /^check.example.com$/,
    scene: { objects: guards(1), prepare: webhook, look: tryPod },
    happens: ({ found, outcome, seen }) => {
      const gone = outcome.evicted.find(({ pod }) => pod.startsWith('default/guard-'));
      expect(gone?.node).toBe(found.consequence.node);
      expectNear(found.consequence.minute, gone?.seconds);
      expect(seen('guard').gap).toBeGreaterThan(0);
      expect(refusals[0]).toMatch(/failed calling webhook.*no endpoints available/);
    },
    mended: { objects: guards(2), prepare: webhook },
  },
  {
    check: 'control-group',
    severity: 'blocker',
    object: /^default\/dns$/,
    scene: { objects: [dns(1)] },
    happens: ({ found, outcome, seen }) => {
      const gone = outcome.evicted.find(({ pod }) => pod === found.consequence.pod);
      expect(gone?.node).toBe(found.consequence.node);
      expectNear(found.consequence.minute, gone?.seconds);
      expect(seen('dns')).toMatchObject({ readyAtEnd: 1 });
      expect(seen('dns').gap).toBeGreaterThan(0);
    },
    mended: { objects: [dns(2)] },
  },
  {
    check: 'other-actor',
    severity: 'warning',
    object: /^ip-/,
    scene: { prepare: cordon },
    happens: ({ found, outcome, world }) => {
      expect(outcome.status).toBe('Successful');
      const names = nodesOf(world).map((node) => metadataOf(node).name);
      expect(names).not.toContain(found.consequence.node);
    },
    mended: {},
  },
  {
    check: 'target-configuration',
    severity: 'blocker',
    object: /^ng$/,
    scene: { nodes: 6, zones: ['a', 'b'], prepare: loseZone },
    happens: (story) => {
      expect(story.outcome.codes).toEqual(['NodeCreationFailure']);
      expect(story.outcome.evicted).toEqual([]);
      const ended = story.outcome.phases.find(({ phase }) => phase === 'Restoring')?.seconds;
      expectNear(story.found.consequence.minute, ended);
    },
    mended: { nodes: 6, zones: ['a', 'b'] },
  },
  {
    check: 'timing',
    severity: 'warning',
    object: /^default\/odd$/,
    scene: { objects: [job(0)] },
    happens: ({ found, outcome, world }) => {
      const gone = outcome.evicted.find(({ pod }) => pod === found.consequence.pod);
      expectNear(found.consequence.minute, gone?.seconds);
      const [one] = [...world.kube.readAll({ group: 'batch', resource: 'jobs' })];
      expect(one?.status).toMatchObject({ failed: 1 });
    },
    mended: { objects: [job(6)] },
  },
];

describe('what a plan predicts of what is around the nodes', () => {
  it.each(rows)('$check, a $severity, happens as it was told', playRow);

  it.each(rows)('$check: fixed, a $severity is not told and does not happen', playMended);
});

/** Plans an update and requests it as `drover update nodegroup` does, waived or not. */
const ask = async (wish: { readonly version?: string; readonly releaseVersion?: string }) => {
  let plan: UpdatePlan | undefined;
  let refusal = '';
  await runRollout({
    cluster: { name: 'small', nodes: 2, zones: ['a'], maxUnavailable: 1, apps: [app()] },
    strategy: 'DEFAULT',
    seed: 1,
    settle,
    before: async (sources) => {
      plan = await planOf(sources, 'DEFAULT', { ...wish, waivers: [] });
      const { group } = await ownGroup(sources.kube, rolloutGroup, undefined);
      const asked = { version: undefined, releaseVersion: undefined, templateVersion: undefined };
      const around = { group, clusterVersion: rolloutVersion };
      await changeWanted(sources.cloud, around, { ...asked, ...wish }).catch((error: Error) => {
        refusal = error.message;
      });
      return 'enough';
    },
  });
  const told = plan?.findings.filter(({ severity }) => severity === 'blocker') ?? [];
  return { told: told.map(({ check }) => check), consequence: told[0]?.consequence, refusal };
};

describe('what a plan says will be refused', () => {
  it('version-skew: a version newer than the control plane is', async () => {
    const { told, consequence, refusal } = await ask({ version: '1.33' });
    expect(told).toEqual(['version-skew']);
    expect(consequence?.text).toContain('refused');
    expect(refusal).toContain('Nodegroup Kubernetes version should be');
    expect((await ask({ version: '1.32' })).refusal).toBe('');
  });

  it('target-configuration: a release that no one made is', async () => {
    const { told, consequence, refusal } = await ask({ releaseVersion: '1.32.0-19990101' });
    expect(told).toEqual(['target-configuration']);
    expect(refusal).not.toBe('');
    expect(consequence?.text).toBe(refusal);
  });

  it('other-actor: a second update while one runs is', async () => {
    let plan: UpdatePlan | undefined;
    let refusal = '';
    await runRollout({
      cluster: { name: 'small', nodes: 2, zones: ['a'], maxUnavailable: 1, apps: [app()] },
      strategy: 'DEFAULT',
      seed: 1,
      settle,
      prepare: (_, user) => {
        must(
          user.create({ group: 'drover.dev', resource: 'nodegroupupdates' }, undefined, {
            apiVersion: 'drover.dev/v1alpha1',
            kind: 'NodeGroupUpdate',
            metadata: { name: 'first' },
            spec: { nodeGroup: rolloutGroup, type: 'VersionUpdate', params: [], change: {} },
          }),
        );
      },
      before: async (sources) => {
        plan = await planOf(sources, 'DEFAULT', { waivers: [] });
        const { kube } = sources;
        const { group } = await ownGroup(kube, rolloutGroup, undefined);
        const request = { group, change: {}, action: 'Update', force: false } as const;
        await requestUpdate({ kube }, request).catch((error: Error) => {
          refusal = error.message;
        });
        return 'enough';
      },
    });
    const told = plan?.findings.filter(({ severity }) => severity === 'blocker') ?? [];
    expect(told.map(({ check }) => check)).toEqual(['other-actor']);
    expect(told[0]?.consequence.text).toContain('one update at a time');
    expect(refusal).toContain('update first of ng is in progress, and there is one at a time');
  });
});

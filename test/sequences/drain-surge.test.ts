// A single replica behind a budget of 0 moves without a moment at zero, in the embedded world with
// its Deployment and ReplicaSet controllers; a killed process or a withdrawn drain leaves nothing
// behind: neither a replica too many nor a deletion cost.
import { describe, expect, it } from 'vitest';
import { isReady } from '../../src/api/conditions.ts';
import { surgeGrants } from '../../src/api/controller-rights.ts';
import type { DisruptionCause } from '../../src/api/disruption.ts';
import type { Deployment, Pod } from '../../src/api/kube.ts';
import { endOpenSurges } from '../../src/cli/uninstall/surges.ts';
import { endSurges } from '../../src/controllers/disruption/index.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { nodeManagerUser } from '../../world/index.ts';
import { TerminationLife } from '../support/termination-world.ts';

const pods = { group: '', resource: 'pods' } as const;
const deployments = { group: 'apps', resource: 'deployments' } as const;
const at = { namespace: 'default', name: 'web' };
/** Complete, as the API server stores it: a patch of a pod must not add defaults to its spec. */
const template = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  securityContext: {},
  containers: [
    {
      name: 'web',
      image: 'nginx:1.27',
      imagePullPolicy: 'IfNotPresent',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
  ],
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          preference: {
            matchExpressions: [
              { key: 'eks.amazonaws.com/nodegroup', operator: 'In', values: ['demo-ng'] },
            ],
          },
        },
      ],
    },
  },
};

/** What an administrator applies for `--surge`, and the owner's label. */
const allow = ({ world }: TerminationLife): void => {
  const client = world.kube.as({
    user: { username: 'somebody', groups: ['system:masters'] },
    userAgent: 'kubectl',
  });
  const subject = {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'User',
    name: nodeManagerUser.username,
  };
  const group = 'rbac.authorization.k8s.io';
  for (const object of surgeGrants('surge', subject)) {
    const resource = `${String(object.kind).toLowerCase()}s`;
    client.create({ group, resource }, undefined, object);
  }
  const body = { metadata: { labels: { 'drover.dev/surge': 'true' } } };
  client.patch(deployments, at, { type: 'merge', body });
};

const asked: DisruptionCause = {
  kind: 'Manual',
  id: 'manual/1',
  receivedAt: '2026-01-01T00:02:30.000Z',
  onDeadline: 'fail',
  followUp: 'Release',
  requestedBy: 'somebody',
};
const byHand = 'an operator drains a node, and no instance is terminated';
const drainByHand = {
  exempt: {
    'hooks-never-run-out': byHand,
    'hooks-complete-when-empty': byHand,
    'foreign-hooks-left-alone': byHand,
    'messages-are-durable': byHand,
  },
};

const begin = async (): Promise<TerminationLife> => {
  const life = await TerminationLife.begin({ tuning: { surge: true } });
  life.deploy(1, template);
  life.budget('web', { maxUnavailable: 0 });
  allow(life);
  await life.until(() => life.podsOn(life.node, 'web').length === 1, 60);
  await life.driver.advance(40);
  life.audited.length = 0;
  return life;
};

const replicas = ({ world }: TerminationLife): number | undefined =>
  (world.kube.read(deployments, at) as unknown as Deployment | undefined)?.spec.replicas;
const costKey = 'controller.kubernetes.io/pod-deletion-cost';
/** Cost and Drover's own keys of the pods of `web`. */
const marksOf = ({ world }: TerminationLife): readonly (string | undefined)[] =>
  [...world.kube.readAll(pods)]
    .map((object) => (object as unknown as Pod).metadata)
    .filter(({ name }) => name.startsWith('web-'))
    .map(({ labels, annotations = {} }) => {
      const keys = Object.keys({ ...labels, ...annotations });
      return keys.find((key) => key.startsWith('drover.dev/')) ?? annotations[costKey];
    });
/** The owner's own cost of the pod on the draining node. */
const setCost = (life: TerminationLife, value: string): void => {
  const [name = ''] = life.podsOn(life.node, 'web');
  const body = { metadata: { annotations: { [costKey]: value } } };
  const client = life.world.kube.as({
    user: { username: 'somebody', groups: ['system:masters'] },
    userAgent: 'kubectl',
  });
  client.patch(pods, { namespace: 'default', name }, { type: 'merge', body });
};
const ready = ({ world }: TerminationLife): number =>
  [...world.kube.readAll(pods)]
    .map((object) => object as unknown as Pod)
    .filter(({ metadata }) => metadata.name.startsWith('web-'))
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && isReady(pod)).length;

describe('a Deployment that asks to be scaled up before its pods go', () => {
  it('is scaled up, then back: no eviction is sent, and one replica is Ready at every moment', async () => {
    const life = await begin();
    const old = life.podsOn(life.node, 'web');
    let least = Number.POSITIVE_INFINITY;
    life.world.kube.onChange(pods, () => {
      least = Math.min(least, ready(life));
    });
    life.terminate();
    await life.ended(300);
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    expect(least).toBe(1);
    expect(replicas(life)).toBe(1);
    const mine = life.writes('pods').filter(({ name }) => old.includes(name));
    expect(mine.map(({ verb, subresource }) => subresource ?? verb)).toEqual(['patch']);
    expect(life.writes('deployments').map(({ code }) => code)).toEqual([200, 200]);
    await life.end();
  });

  it('is scaled back by the next process when the first is killed while it is scaled up', async () => {
    const life = await begin();
    life.terminate();
    await life.until(() => replicas(life) === 2, 60);
    life.kill();
    await life.driver.advance(20);
    expect(replicas(life)).toBe(2);
    life.start();
    await life.ended(300);
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    expect(replicas(life)).toBe(1);
    await life.end();
  });

  it.each([undefined, '7'])(
    'has its pod keep cost %s when the drain is withdrawn',
    async (cost) => {
      const life = await begin();
      if (cost !== undefined) setCost(life, cost);
      const old = life.podsOn(life.node, 'web');
      life.cause(asked);
      await life.until(() => replicas(life) === 2, 60);
      life.cause({ ...asked, cancelledAt: asked.receivedAt });
      await life.until(() => replicas(life) === 1, 120);
      await life.driver.advance(60);
      expect(life.podsOn(life.node, 'web')).toEqual(old);
      expect(marksOf(life)).toEqual([cost]);
      await life.end(drainByHand);
    },
  );

  it.each([
    ['with the option', true],
    ['without it', false],
  ])(
    'has size and cost put back by a next process %s, the drain withdrawn meanwhile',
    async (_how, surge) => {
      const life = await begin();
      setCost(life, '7');
      life.cause(asked);
      await life.until(() => replicas(life) === 2, 60);
      life.kill();
      life.cause({ ...asked, cancelledAt: asked.receivedAt });
      life.tune({ surge });
      life.start();
      await life.until(() => replicas(life) === 1, 120);
      await life.driver.advance(60);
      expect(marksOf(life)).toEqual(['7']);
      await life.end(drainByHand);
    },
  );

  it('has size and cost put back by an uninstallation once its controller has stopped', async () => {
    const life = await begin();
    setCost(life, '7');
    life.cause(asked);
    await life.until(() => replicas(life) === 2, 60);
    life.kill();
    const user = { username: 'somebody', groups: ['system:masters'] };
    const identity = { user, userAgent: 'drover-cli' };
    const { kube, clock } = createInProcessPorts(life.world, { component: 'cli', identity });
    const listed: string[] = [];
    const counting = new Proxy(kube, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...given: readonly [{ readonly resource: string }]) => {
          if (name === 'list') listed.push(given[0].resource);
          return member.apply(target, given);
        };
      },
    });
    const ended = endOpenSurges({ endSurges }, counting, clock.now());
    await life.driver.advance(60);
    await ended;
    expect(replicas(life)).toBe(1);
    expect(marksOf(life)).toEqual(['7']);
    expect(listed).toEqual(['pods', 'deployments']);
    await life.end(drainByHand);
  });

  const unlabel = (life: TerminationLife): void => {
    const client = life.world.kube.as({
      user: { username: 'somebody', groups: ['system:masters'] },
      userAgent: 'kubectl',
    });
    const body = { metadata: { labels: { 'drover.dev/surge': null } } };
    client.patch(deployments, at, { type: 'merge', body });
  };

  it.each([
    ['by the same process', undefined],
    ['by a next process with the option', true],
    ['by a next process without it', false],
  ])('has size and cost put back %s when it loses the label', async (_how, surge) => {
    const life = await begin();
    setCost(life, '7');
    life.cause(asked);
    await life.until(() => replicas(life) === 2, 60);
    if (surge !== undefined) life.kill();
    life.cause({ ...asked, cancelledAt: asked.receivedAt });
    unlabel(life);
    if (surge !== undefined) {
      life.tune({ surge });
      life.start();
    }
    await life.until(() => replicas(life) === 1, 120);
    await life.driver.advance(60);
    expect(marksOf(life)).toEqual(['7']);
    await life.end(drainByHand);
  });

  it.each([
    ['with the option', true],
    ['without it', false],
  ])(
    'has its cost put back, then its size, after a refusal: a next process %s',
    async (_, surge) => {
      const life = await begin();
      setCost(life, '7');
      life.cause(asked);
      await life.until(() => replicas(life) === 2, 60);
      life.kill();
      life.cause({ ...asked, cancelledAt: asked.receivedAt });
      const patched: string[] = [];
      life.faults = {
        kubeCall: ({ verb, resource }) => {
          if (verb !== 'patch' || !['pods', 'deployments'].includes(resource))
            return { kind: 'ok' };
          patched.push(resource);
          return patched.length === 1 ? { kind: 'refused', code: 'Invalid' } : { kind: 'ok' };
        },
      };
      life.tune({ surge });
      life.start();
      await life.until(() => replicas(life) === 1, 120);
      await life.driver.advance(60);
      expect(patched.slice(0, 3)).toEqual(['pods', 'pods', 'deployments']);
      expect(marksOf(life)).toEqual(['7']);
      await life.end(drainByHand);
    },
  );

  it('is evicted like others where an autoscaler scales it', async () => {
    const life = await begin();
    life.create('autoscaling', 'horizontalpodautoscalers', {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 1,
        maxReplicas: 3,
      },
    });
    life.terminate();
    await life.until(() => life.disruption()?.status?.waitingOn?.[0]?.kind === 'pdb', 60);
    expect(replicas(life)).toBe(1);
    await life.ended(1_200);
    await life.end();
  });
});

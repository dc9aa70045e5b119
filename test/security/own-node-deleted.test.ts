// Attack row 5 (CVE-2025-5187): the holder of a node's credentials deletes its Node object and lets
// the kubelet register it again, without taints and marks. The instance is still being drained.
import { describe, expect, it } from 'vitest';
import type { DisruptionCause } from '../../src/api/disruption.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { TerminationLife } from '../support/termination-world.ts';

const exclude = 'node.kubernetes.io/exclude-from-external-load-balancers';
const onDemoNode = {
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
const manual: DisruptionCause = {
  kind: 'Manual',
  id: 'manual/1',
  receivedAt: '2026-01-01T00:01:30.000Z',
  onDeadline: 'fail',
  followUp: 'Release',
  requestedBy: 'an operator',
};
const noHook = 'no instance is terminated, so no hook opens and no message arrives';
const byHand = {
  'hooks-never-run-out': noHook,
  'hooks-complete-when-empty': noHook,
  'foreign-hooks-left-alone': noHook,
  'messages-are-durable': noHook,
};
/** Patches the Node with its kubelet's credentials over the API; returns `code: message`. */
const patchAsKubelet = (life: TerminationLife, metadata: JsonObject): string => {
  const answer = life.world.kube.handle({
    method: 'PATCH',
    path: `/api/v1/nodes/${life.node}`,
    query: new URLSearchParams(),
    accept: 'application/json',
    contentType: 'application/merge-patch+json',
    user: { username: `system:node:${life.node}`, groups: ['system:nodes'] },
    userAgent: 'kubelet',
    sourceIp: '127.0.0.1',
    body: { metadata },
  });
  if (answer.kind !== 'object') return answer.kind;
  return `${answer.status}: ${String(objectOr(answer.body).message ?? '')}`;
};
const uidOf = (life: TerminationLife): unknown =>
  (life.nodeObject()?.metadata as { readonly uid?: unknown } | undefined)?.uid;
const isMarked = (life: TerminationLife): boolean => {
  const node = life.nodeObject() as
    | {
        readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
        readonly spec: { readonly unschedulable?: boolean };
      }
    | undefined;
  return node?.metadata.labels?.[exclude] === 'true' && node.spec.unschedulable === true;
};
const isReady = (life: TerminationLife): boolean => {
  const { conditions = [] } = (life.nodeObject()?.status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
};

/** The node deletes its Node and registers again; resolves once it is Ready. */
const registerAnew = async (life: TerminationLife): Promise<void> => {
  const before = uidOf(life);
  life.deleteNode(life.node);
  life.reboot();
  const closely = { limitSeconds: 120, everySeconds: 0.01 };
  await life.driver.until(() => ![undefined, before].includes(uidOf(life) as string), closely);
  await life.driver.advance(0.1);
  expect([isMarked(life), isReady(life)]).toEqual([true, false]);
  await life.until(() => isReady(life));
};

describe('a node that deletes its own Node object', () => {
  it('cannot have it collected by naming an owner that does not exist', async () => {
    const life = await TerminationLife.begin();
    life.cause(manual);
    await life.ended();
    const before = uidOf(life);
    const owner = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      name: 'absent',
      uid: '00000000-0000-4000-8000-000000000000',
    };
    expect(patchAsKubelet(life, { ownerReferences: [owner] })).toBe(
      `403: nodes "${life.node}" is forbidden: node "${life.node}" is not allowed to modify ownerReferences`,
    );
    expect(patchAsKubelet(life, { labels: { 'example.com/rack': 'r1' } })).toBe('200: ');
    await life.driver.advance(120);
    expect([uidOf(life), isMarked(life)]).toEqual([before, true]);
    await life.end({ settled: true, exempt: byHand });
  });

  it.each(['eks', 'native'] as const)(
    '%s: does not end its drain, and is marked again before it is Ready',
    async (compat) => {
      const life = await TerminationLife.begin({ tuning: { compat } });
      life.deploy(3, onDemoNode);
      life.budget('web', { minAvailable: 3 });
      await life.driver.advance(30);
      expect(life.podsOn(life.node, 'web').length).toBeGreaterThan(0);
      life.terminate();
      await life.until(() => life.disruption()?.status?.phase === 'Draining');
      await life.driver.advance(10);
      await registerAnew(life);
      expect(life.instanceState()).toBe('Terminating:Wait');
      expect(life.disruption()?.status).toMatchObject({ phase: 'Draining', episode: 1 });
      await life.until(() => life.instanceState() === undefined, 1200);
      expect(life.disruption()?.status?.outcome).toBe('Forced');
      await life.end({
        exempt: { 'blockers-are-named': 'the new node has its pods for a few minutes' },
      });
    },
  );

  it('keeps the drain open while it stays away, and says so', async () => {
    const life = await TerminationLife.begin();
    life.deploy(3, onDemoNode);
    life.budget('web', { minAvailable: 3 });
    await life.driver.advance(30);
    life.terminate();
    await life.until(() => life.disruption()?.status?.phase === 'Draining');
    await life.driver.advance(10);
    life.deleteNode(life.node);
    await life.driver.advance(5);
    const { status } = life.disruption() ?? {};
    expect(status).toMatchObject({ phase: 'Draining' });
    expect(JSON.stringify(status?.waitingOn)).toContain('was deleted while the instance runs');
    // The pod garbage collector deletes pods of a missing node after 40 to 60 s.
    await life.until(() => life.instanceState() === undefined, 240);
    expect(life.disruption()?.status?.outcome).toBe('NothingToDrain');
    await life.end();
  });

  it('is drained again where it had been drained by hand', async () => {
    const life = await TerminationLife.begin();
    life.cause(manual);
    await life.ended();
    expect(life.disruption()?.status).toMatchObject({ outcome: 'Drained', episode: 1 });
    await registerAnew(life);
    await life.ended();
    expect(life.disruption()?.status).toMatchObject({ outcome: 'Drained', episode: 2 });
    expect(isMarked(life)).toBe(true);
    expect(life.podsOn(life.node, 'nginx')).toEqual([]);
    await life.end({ settled: true, exempt: byHand });
  });
});

// What an uninstallation undoes on nodes, and which ended drains it still has to withdraw.
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { objectOr } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { CliContext } from '../context.ts';
import { uninstallLines } from './describe.ts';
import { type Installation, readDrains, readInstallation } from './read.ts';
import { clearMarks, type Uninstallation } from './remove.ts';

const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers';
const all = { excludeLabel: true, unschedulable: true, taint: true, annotation: true };

const setUp = async (more: { readonly annotated?: boolean } = {}) => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const condition = (type: string) => ({ type, status: 'True' });
  const { uid } = kube.put(resourceTypes.nodes, {
    name: 'n1',
    labels: { [excluded]: 'true', 'drover.dev/x': 'y', team: 'blue' },
    spec: {
      unschedulable: true,
      taints: [
        { key: 'drover.dev/disrupted', effect: 'NoSchedule' },
        { key: 'team', effect: 'NoSchedule' },
      ],
    },
    status: { conditions: ['Ready', 'KernelReady', 'AgentHealthy'].map(condition) },
  }).metadata;
  if (more.annotated !== false) {
    const marks = JSON.stringify({ disruption: 'i-1', owned: all });
    const body = { metadata: { annotations: { 'drover.dev/marks': marks } } };
    await kube.patch(resourceTypes.nodes, { name: 'n1' }, { type: 'merge', body });
  }
  return { clock, kube, uid };
};

const clear = async (
  { kube, clock }: { readonly kube: FakeKube; readonly clock: VirtualClock },
  found: Partial<Installation> = {},
): Promise<readonly string[]> => {
  const said: string[] = [];
  const context = { err: (line: string) => said.push(line), clock } as unknown as CliContext;
  await clearMarks({
    context,
    kube,
    found: { inspected: [], ...found },
  } as unknown as Uninstallation);
  return said;
};

const nodeIn = (kube: FakeKube) => {
  const node = kube.peek(resourceTypes.nodes, 'n1');
  const { conditions } = objectOr(node?.status);
  return {
    labels: Object.keys(node?.metadata.labels ?? {}),
    annotations: Object.keys(node?.metadata.annotations ?? {}),
    spec: objectOr(node?.spec),
    conditions: (conditions as readonly { readonly type: string }[]).map(({ type }) => type),
  };
};

const cleared = {
  labels: ['team'],
  annotations: [],
  spec: { taints: [{ key: 'team', effect: 'NoSchedule' }] },
  conditions: ['Ready'],
};

describe('the marks on a node', () => {
  it('are removed with label, cordon and conditions of Drover, after a conflict too', async () => {
    const given = await setUp();
    given.kube.fail('patch', 'Conflict');
    expect(await clear(given)).toEqual([]);
    expect(nodeIn(given.kube)).toEqual(cleared);
  });

  it('leave a cordon and a label of others, and name the node', async () => {
    const given = await setUp({ annotated: false });
    expect(await clear(given)).toEqual([expect.stringContaining('n1 stays cordoned')]);
    expect(nodeIn(given.kube)).toMatchObject({
      labels: [excluded, 'team'],
      spec: { unschedulable: true },
    });
  });

  it('leave a node cordoned whose instance is kept for inspection', async () => {
    const given = await setUp();
    const inspected = [{ status: { node: { name: 'n1', uid: given.uid } } }];
    await clear(given, { inspected } as unknown as Partial<Installation>);
    expect(nodeIn(given.kube)).toMatchObject({ labels: [excluded, 'team'], annotations: [] });
    expect(nodeIn(given.kube).spec.unschedulable).toBe(true);
  });
});

describe('an open surge', () => {
  it('is counted once in what is removed, whether its Deployment has the label or not', async () => {
    const { kube, clock } = await setUp();
    const namespace = 'shop';
    for (const name of ['web', 'unlabelled']) {
      kube.put(resourceTypes.pods, {
        namespace,
        name: `${name}-5d-x`,
        labels: { 'drover.dev/surge-swapped': 'true', 'pod-template-hash': '5d' },
      });
      const owner = { kind: 'ReplicaSet', name: `${name}-5d`, uid: 'r', controller: true };
      const body = { metadata: { ownerReferences: [owner] } };
      const at = { namespace, name: `${name}-5d-x` };
      await kube.patch(resourceTypes.pods, at, { type: 'merge', body });
    }
    const state = { from: 1, to: 2, startedAt: '2026-01-01T00:00:00.000Z' };
    for (const name of ['web', 'idle']) {
      kube.put(resourceTypes.deployments, {
        namespace,
        name,
        labels: { 'drover.dev/surge': 'true' },
        annotations: name === 'web' ? { 'drover.dev/surge-state': JSON.stringify(state) } : {},
      });
    }
    const found = await readInstallation(kube, clock.now());
    const lines = uninstallLines(found, { crds: false });
    expect(lines).toContainEqual(expect.stringMatching(/removes: 2 surges: .*scaled back/));
  });
});

describe('an ended drain with marks on its node', () => {
  const cause: DisruptionCause = {
    kind: 'Repair',
    id: 'c1',
    receivedAt: '2026-01-01T00:00:00.000Z',
    onDeadline: 'force',
    followUp: 'Reboot',
  };
  it.each([
    ['is withdrawn, whatever its cause', {}, {}, { open: ['i-1'], inspected: [] }],
    [
      'is kept for inspection after a detachment',
      { followUp: 'Detach' },
      {},
      { open: [], inspected: ['i-1'] },
    ],
    ['is over where Drover terminated the instance', {}, { followUp: 'Replace' }, {}],
    ['is over where Auto Scaling terminates it', { kind: 'ScaleIn' }, {}, {}],
    ['is over where the node is another one', {}, { node: { name: 'n1', uid: 'old' } }, {}],
  ])('%s', async (_what, causeMore, statusMore, expected) => {
    const { kube, uid } = await setUp();
    kube.put(resourceTypes.nodedisruptions, {
      name: 'i-1',
      spec: { instanceId: 'i-1', nodeName: 'n1', causes: [{ ...cause, ...causeMore }] },
      status: {
        episode: 1,
        phase: 'Ended',
        outcome: 'Drained',
        handledCauses: ['c1'],
        node: { name: 'n1', uid },
        ownedMarks: all,
        ...statusMore,
      },
    });
    const { open, inspected } = await readDrains(kube);
    const names = (found: typeof open) => found.map(({ metadata }) => metadata.name);
    expect({ open: names(open), inspected: names(inspected) }).toEqual({
      open: [],
      inspected: [],
      ...expected,
    });
  });
});

// `drover logs story` on the log of a real kube-apiserver while `kubectl drain` empties a node,
// without Drover in the cluster. A budget first refuses and then allows the eviction.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createKubeClient, loadKubeconfig } from '../../src/adapters/kube/index.ts';
import { eventually, missing, type Ran, run } from '../support/demo-world.ts';
import { type FakeKubelets, fakeKubelets } from '../support/fake-kubelets.ts';
import { drover } from '../support/program.ts';
import {
  type RunningCluster,
  startRealCluster,
  whyNoRealCluster,
} from '../support/real-cluster.ts';
import { skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? whyNoRealCluster({ scheduler: true });

const workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: nginx}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec:
  maxUnavailable: 0
  selector: {matchLabels: {app: web}}
`;

interface Story {
  readonly steps: readonly {
    readonly kind: string;
    readonly agent: string;
    readonly detail?: string;
    readonly pod?: string;
  }[];
  readonly findings: readonly { readonly kind: string; readonly rule: string }[];
}

describe('the story of a node on a real API server', {
  skip: skipWhen('the story of a node on a real API server', whyNot),
  timeout: 300_000,
}, () => {
  let cluster: RunningCluster;
  let kubelets: FakeKubelets;
  let close: () => Promise<void>;
  const kubectl = (...args: readonly string[]): Promise<Ran> =>
    run('kubectl', args, { env: { ...process.env, KUBECONFIG: cluster.kubeconfigPath } });

  before(async () => {
    const started = await startRealCluster({ scheduler: true, auditLevel: 'RequestResponse' });
    assert.ok(started.available);
    cluster = started;
    const access = await loadKubeconfig({ path: cluster.kubeconfigPath, env: {} });
    const api = createKubeClient({ ...access, userAgent: 'stand-in/kubelet' });
    kubelets = await fakeKubelets({
      api,
      nodes: [{ name: 'n1', labels: { 'eks.amazonaws.com/nodegroup': 'real-ng' } }, { name: 'n2' }],
      goneAfterMs: 300,
    });
    close = () => api.close();
  });
  after(async () => {
    await kubelets?.stop();
    await close?.();
    await cluster?.stop();
  });

  it('reports kubectl drain: cordon, refusals by the budget, evictions, pods gone, the node deleted', async () => {
    await kubectl('cordon', 'n2');
    const applied = await run('kubectl', ['apply', '-f', '-'], {
      env: { ...process.env, KUBECONFIG: cluster.kubeconfigPath },
      input: workload,
    });
    assert.equal(applied.code, 0, applied.stderr);
    const rolled = await kubectl('rollout', 'status', 'deployment/web', '--timeout=90s');
    assert.equal(rolled.code, 0, rolled.stderr);
    await eventually('the budget counts its pods', async () => {
      const ran = await kubectl('get', 'pdb', 'web', '-o', 'jsonpath={.status.currentHealthy}');
      return ran.stdout === '2' ? true : undefined;
    });
    await kubectl('uncordon', 'n2');
    const refused = await kubectl('drain', 'n1', '--ignore-daemonsets', '--timeout=1s');
    assert.notEqual(refused.code, 0);
    await kubectl('delete', 'pdb', 'web');
    const drained = await kubectl('drain', 'n1', '--ignore-daemonsets', '--timeout=60s');
    assert.equal(drained.code, 0, drained.stderr);
    await kubectl('delete', 'node', 'n1');

    const story = await eventually('the log tells of the deletion', async () => {
      const args = ['logs', 'story', '--node', 'n1', cluster.auditLogPath, '-o', 'json'];
      const ran = await run(process.execPath, [drover, ...args]);
      const [found] = (JSON.parse(ran.stdout) as { items: readonly Story[] }).items;
      return found?.steps.at(-1)?.kind === 'deleted' ? found : undefined;
    });
    const order = story.steps
      .map(({ kind }) => kind)
      .filter((kind) =>
        ['joined', 'cordoned', 'refused', 'evicted', 'podDeleted', 'deleted'].includes(kind),
      );
    const first = (kind: string) => order.indexOf(kind);
    assert.deepEqual(
      ['joined', 'cordoned', 'refused', 'evicted', 'podDeleted', 'deleted'].toSorted(
        (a, b) => first(a) - first(b),
      ),
      ['joined', 'cordoned', 'refused', 'evicted', 'podDeleted', 'deleted'],
    );
    assert.equal(order.filter((kind) => kind === 'evicted').length, 2);
    const refusal = story.steps.find(({ kind }) => kind === 'refused');
    assert.match(refusal?.detail ?? '', /disruption budget web/);
    assert.match(refusal?.agent ?? '', /^kubectl/);
    // kubectl does not exclude nodes from load balancers.
    assert.deepEqual(
      story.findings.map(({ rule }) => rule),
      ['never-excluded'],
    );
    const group = await run(process.execPath, [
      ...[drover, 'logs', 'story', '--nodegroup', 'real-ng', cluster.auditLogPath],
    ]);
    assert.match(group.stdout, /^n1 of real-ng\n/);
  });
});

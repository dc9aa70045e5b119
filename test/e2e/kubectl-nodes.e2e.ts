// Operations on nodes with the real kubectl: label, taint, cordon, and drain with all its options
// and refusals.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);

const lonePod = `
apiVersion: v1
kind: Pod
metadata: {name: lone, namespace: work}
spec:
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: busybox}]
`;
const guarded = `
apiVersion: v1
kind: Namespace
metadata: {name: work}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: guarded, namespace: work}
spec:
  replicas: 1
  selector: {matchLabels: {app: guarded}}
  template:
    metadata: {labels: {app: guarded}}
    spec:
      terminationGracePeriodSeconds: 1
      volumes: [{name: scratch, emptyDir: {}}]
      containers:
      - {name: c, image: nginx, volumeMounts: [{name: scratch, mountPath: /scratch}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: never, namespace: work}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: guarded}}}
`;

describe('nodes with kubectl', {
  skip: skipWhen('stories of nodes with kubectl', whyNot),
  timeout: 300_000,
}, () => {
  let world: ServedWorld;
  let kubectl: Steps;
  let node = '';

  const suite = suiteWorld({ args: ['--demo', '--no-controller', '--port', '0'] });
  before(async () => {
    world = suite.world;
    kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
    assert.equal((await world.drover('world', 'advance', '40s')).code, 0);
    node = await kubectl.ok(
      'get pods -n demo -o jsonpath={.items[0].spec.nodeName} --sort-by=.spec.nodeName',
    );
  });

  const nodeOf = (pod: string): Promise<string> =>
    kubectl.ok(`get pod ${pod} -n work -o jsonpath={.spec.nodeName}`);

  it('nodes are labelled, annotated and tainted', async () => {
    assert.equal(await kubectl.ok(`label node ${node} tier=gold`), `node/${node} labeled\n`);
    assert.match(await kubectl.fails(`label node ${node} tier=tin`), /--overwrite is false/);
    assert.equal(await kubectl.ok('get nodes -l tier=gold -o name'), `node/${node}\n`);
    assert.match(await kubectl.ok(`label node ${node} tier-`), /unlabeled/);
    assert.match(await kubectl.ok(`annotate node ${node} note=hi`), /annotated/);
    const taint = `taint node ${node}`;
    assert.equal(await kubectl.ok(`${taint} team=db:NoSchedule`), `node/${node} tainted\n`);
    const again = await kubectl.fails(`${taint} team=db:NoSchedule`);
    assert.match(
      again,
      /already has team taint\(s\) with same effect\(s\) and --overwrite is false/,
    );
    assert.match(await kubectl.ok(`${taint} team=web:NoSchedule --overwrite`), /modified/);
    assert.match(await kubectl.ok(`describe node ${node}`), /Taints: +team=web:NoSchedule\n/);
    assert.match(await kubectl.ok(`${taint} team-`), /untainted/);
    assert.match(
      await kubectl.fails(`${taint} team:NoSchedule-`),
      /taint "team:NoSchedule" not found/,
    );
    assert.match(await kubectl.fails(`${taint} team=db:Never`), /invalid taint effect: Never/);
  });

  it('cordon and uncordon show in the status and say when there is nothing to do', async () => {
    assert.equal(await kubectl.ok(`cordon ${node}`), `node/${node} cordoned\n`);
    assert.match(await kubectl.ok(`cordon ${node}`), /already cordoned/);
    assert.match(await kubectl.ok(`get node ${node}`), / Ready,SchedulingDisabled +<none> /);
    const taints = await kubectl.ok(`get node ${node} -o jsonpath={.spec.taints[*].key}`);
    assert.equal(taints, 'node.kubernetes.io/unschedulable');
    assert.match(await kubectl.ok(`uncordon ${node}`), /uncordoned/);
    assert.match(await kubectl.ok(`uncordon ${node}`), /already uncordoned/);
    assert.match(await kubectl.fails('cordon nope'), /nodes "nope" not found/);
  });

  it('a drain stops at pods of DaemonSets until it is told to ignore them', async () => {
    const refused = await kubectl.fails(`drain ${node}`);
    assert.match(
      refused,
      /cannot delete DaemonSet-managed Pods \(use --ignore-daemonsets to ignore\)/,
    );
    const dry = await kubectl.ok(`drain ${node} --ignore-daemonsets --dry-run=server`);
    assert.match(dry, /\(server dry run\)/);
    const drained = await kubectl.ok(`drain ${node} --ignore-daemonsets --timeout=60s`);
    assert.match(drained, /Warning: ignoring DaemonSet-managed Pods: kube-system\/aws-node-/);
    assert.match(drained, /evicting pod demo\/nginx-demo-deployment-/);
    assert.match(drained, /pod\/nginx-demo-deployment-\S+ evicted/);
    assert.match(drained, new RegExp(`node/${node} drained\n`));
    const left = await kubectl.ok(
      `get pods -A -o jsonpath={.items[*].metadata.name} --field-selector spec.nodeName=${node}`,
    );
    assert.match(left, /^aws-node-\w{5} kube-proxy-\w{5}$/);
    await kubectl.ok('-n demo rollout status deploy/nginx-demo-deployment --timeout=40s');
    await kubectl.ok(`uncordon ${node}`);
  });

  it('a drain needs --force for a pod that no one would bring back', async () => {
    await kubectl.ok('create ns work');
    await kubectl.okWith(lonePod, 'apply -f -');
    await kubectl.ok('wait --for=condition=Ready pod/lone -n work --timeout=40s');
    const where = await nodeOf('lone');
    const refused = await kubectl.fails(`drain ${where} --ignore-daemonsets`);
    assert.match(
      refused,
      /Pods that declare no controller \(use --force to override\): work\/lone/,
    );
    const forced = await kubectl.ok(`drain ${where} --ignore-daemonsets --force --timeout=60s`);
    assert.match(forced, /deleting Pods that declare no controller: work\/lone/);
    assert.match(forced, /pod\/lone evicted/);
    assert.match(await kubectl.fails('get pod lone -n work'), /NotFound/);
    await kubectl.ok(`uncordon ${where}`);
  });

  it('a drain that a budget blocks retries until its timeout, or goes around the budget', async () => {
    await kubectl.okWith(guarded, 'apply -f -');
    await kubectl.ok('-n work rollout status deploy/guarded --timeout=40s');
    const pod = await kubectl.ok('get pods -n work -o jsonpath={.items[0].metadata.name}');
    const where = await nodeOf(pod);
    const drain = `drain ${where} --ignore-daemonsets`;
    const local = await kubectl.fails(drain);
    assert.match(
      local,
      /Pods with local storage \(use --delete-emptydir-data to override\): work\//,
    );
    const blocked = await kubectl.fails(`${drain} --delete-emptydir-data --timeout=7s`);
    assert.match(blocked, /will retry after 5s\): Cannot evict pod as it would violate the pod's/);
    assert.match(blocked, /global timeout reached: 7s/);
    assert.equal(await nodeOf(pod), where);
    const around = await kubectl.ok(
      `${drain} --delete-emptydir-data --disable-eviction --timeout=60s`,
    );
    assert.match(around, new RegExp(`pod/${pod} deleted\nnode/${where} drained`));
    await kubectl.ok('uncordon -l kubernetes.io/os=linux');
  });

  it('a pod under two budgets cannot be evicted, as the API server has it', async () => {
    await kubectl.ok('create pdb second -n work --selector=app=guarded --min-available=0');
    await kubectl.ok('-n work rollout status deploy/guarded --timeout=40s');
    const pod = await kubectl.ok('get pods -n work -o jsonpath={.items[0].metadata.name}');
    const refused = await kubectl.fails(
      `drain ${await nodeOf(pod)} --ignore-daemonsets --delete-emptydir-data --timeout=20s`,
    );
    assert.match(refused, /more than one PodDisruptionBudget, which the eviction subresource does/);
  });

  it('every client call is in the audit log, the evictions with their answers', () => {
    const evictions = world
      .audit()
      .filter((event) => event.objectRef?.subresource === 'eviction' && event.verb === 'create');
    const codes = new Set(evictions.map((event) => event.responseStatus?.code));
    assert.deepEqual([...codes].toSorted(), [201, 429, 500]);
    for (const event of evictions) {
      assert.equal(event.user.username, 'kubernetes-admin');
      assert.match(event.userAgent ?? '', /^kubectl\/v1\./);
    }
  });
});

// Reading with the real kubectl: get in its forms, describe, explain, discovery, and the commands
// that this world answers with a typed error.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { before, describe, it } from 'node:test';
import { missing, type ServedWorld } from '../support/demo-world.ts';
import { columnsOf, rowsOf, type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);
const nodeName = /ip-192-168-\d+-\d+\.eu-west-1\.compute\.internal/;

describe('reading with kubectl', {
  skip: skipWhen('stories of reading with kubectl', whyNot),
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
      'get nodes -l eks.amazonaws.com/nodegroup=demo-ng -o jsonpath={.items[0].metadata.name}',
    );
  });

  it('get shows the columns of each kind', async () => {
    const columns: readonly (readonly [string, readonly string[]])[] = [
      ['nodes', ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION']],
      ['pods -n demo', ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE']],
      ['pods -A', ['NAMESPACE', 'NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE']],
      ['ns', ['NAME', 'STATUS', 'AGE']],
      ['deploy -n demo', ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE']],
      ['rs -n demo', ['NAME', 'DESIRED', 'CURRENT', 'READY', 'AGE']],
      [
        'ds -n kube-system',
        'NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE_SELECTOR AGE'.split(' '),
      ],
      [
        'pdb -n kube-system',
        ['NAME', 'MIN AVAILABLE', 'MAX UNAVAILABLE', 'ALLOWED DISRUPTIONS', 'AGE'],
      ],
      ['svc', ['NAME', 'TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)', 'AGE']],
      ['cm -n kube-system', ['NAME', 'DATA', 'AGE']],
      ['leases -n kube-node-lease', ['NAME', 'HOLDER', 'AGE']],
      ['sa', ['NAME', 'SECRETS', 'AGE']],
      ['crd', ['NAME', 'CREATED AT']],
      ['events -n demo', ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE']],
      ['nodegroups', 'NAME STATUS DESIRED READY MIN MAX RELEASE ISSUE AGE'.split(' ')],
    ];
    await Promise.all(
      columns.map(async ([what, expected]) => {
        const table = await kubectl.ok(`get ${what}`);
        const wanted = expected.map((column) => column.replaceAll('_', ' '));
        assert.deepEqual(columnsOf(table), wanted, what);
        assert.ok(rowsOf(table).length > 0, `${what} has rows`);
      }),
    );
  });

  it('get -o wide adds addresses and nodes', async () => {
    const nodes = await kubectl.ok('get nodes -o wide');
    assert.deepEqual(columnsOf(nodes).slice(5), [
      'INTERNAL-IP',
      'EXTERNAL-IP',
      'OS-IMAGE',
      'KERNEL-VERSION',
      'CONTAINER-RUNTIME',
    ]);
    const pods = await kubectl.ok('get pods -A -o wide');
    for (const row of rowsOf(pods)) {
      assert.match(row, / Running .* 192\.168\.\d+\.\d+ +ip-192-168-.* <none> +<none>$/);
    }
  });

  it('get selects by label, by field and by name, and says when nothing is there', async () => {
    const managed = await kubectl.ok('get node -l eks.amazonaws.com/nodegroup=demo-ng -o name');
    assert.match(managed, new RegExp(`^node/${nodeName.source}\\n$`));
    const sets = await kubectl.ok('get pods -A --no-headers -l', 'k8s-app in (kube-dns),!nope');
    assert.equal(sets.trim().split('\n').length, 2);
    const field = `spec.nodeName=${node},status.phase=Running`;
    const here = await kubectl.ok(`get pods -A -o name --field-selector ${field}`);
    assert.match(here, /pod\/aws-node-\w{5}\n/);
    assert.match(here, /pod\/kube-proxy-\w{5}\n/);
    assert.match(await kubectl.fails('get pods -A --field-selector spec.nope=1'), /BadRequest/);
    assert.match(await kubectl.fails('get pod nope'), /NotFound\): pods "nope" not found/);
    assert.match(
      await kubectl.ok('get pods -n nowhere'),
      /No resources found in nowhere namespace/,
    );
    assert.match(await kubectl.fails('get foos'), /doesn't have a resource type "foos"/);
  });

  it('get prints yaml, json, jsonpath, columns, names and labels', async () => {
    const yaml = await kubectl.ok(`get node ${node} -o yaml`);
    assert.match(yaml, /^apiVersion: v1\nkind: Node\nmetadata:\n/);
    const list = JSON.parse(await kubectl.ok('get pods -n demo -o json')) as {
      kind: string;
      items: { kind: string; metadata: { uid: string } }[];
    };
    assert.equal(list.kind, 'List');
    assert.equal(list.items.length, 4);
    assert.ok(list.items.every((pod) => pod.kind === 'Pod' && pod.metadata.uid.length === 36));
    const version = '{range .items[*]}{.status.nodeInfo.kubeletVersion}{"\\n"}{end}';
    const versions = await kubectl.ok('get nodes -o', `jsonpath=${version}`);
    assert.match(versions, /^(v1\.\d+\.\d+-eks-\w+\n)+$/);
    const custom = 'custom-columns=POD:.metadata.name,NODE:.spec.nodeName';
    assert.deepEqual(columnsOf(await kubectl.ok(`get pods -n demo -o ${custom}`)), ['POD', 'NODE']);
    assert.match(
      await kubectl.ok('get pods -n demo --show-labels'),
      /app=nginx-demo,pod-template-/,
    );
    assert.deepEqual(columnsOf(await kubectl.ok('get pods -n demo -L app')).at(-1), 'APP');
  });

  it('get sorts, pages and gathers kinds', async () => {
    const sorted = await kubectl.ok('get pods -A --no-headers --sort-by=.metadata.name');
    const names = sorted
      .trim()
      .split('\n')
      .map((line) => line.split(/ +/)[1] ?? '');
    assert.deepEqual(names, names.toSorted());
    const paged = await kubectl.ok('get pods -A --no-headers --chunk-size=3');
    assert.equal(paged.trim().split('\n').length, names.length);
    const all = await kubectl.ok('get all -n demo');
    for (const kind of ['pod/', 'deployment.apps/', 'replicaset.apps/']) {
      assert.ok(`\n${all}`.includes(`\n${kind}`), `${kind} in get all`);
    }
    const several = await kubectl.ok('get deploy,rs,pdb -n kube-system');
    assert.match(several, /deployment\.apps\/coredns .*\n[\s\S]*replicaset\.apps\/coredns-\w+ /);
  });

  it('get -w prints each change as a row of the same table', async () => {
    const child = spawn('kubectl', ['get', 'cm', '-w', '--output-watch-events'], {
      env: world.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let seen = '';
    const deleted = new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        if (/DELETED +watched/.test(seen)) resolve();
      });
    });
    const listed = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    await listed;
    await kubectl.ok('create cm watched --from-literal=a=1');
    await kubectl.ok('label cm watched tier=gold');
    await kubectl.ok('delete cm watched');
    await deleted;
    child.kill('SIGTERM');
    assert.match(seen, /^EVENT +NAME +DATA +AGE\nADDED +kube-root-ca\.crt +1 /);
    assert.match(seen, /ADDED +watched +1 .*\nMODIFIED +watched +1 .*\nDELETED +watched +1 /);
  });

  it('describe node shows labels, conditions, capacity, pods with shares, and events', async () => {
    const text = await kubectl.ok(`describe node ${node}`);
    for (const part of [
      /^Name: +ip-192-168-/,
      /\nRoles: +<none>\n/,
      / eks\.amazonaws\.com\/nodegroup=/,
      /\nTaints: +<none>\nUnschedulable: +false\n/,
      /\nLease:\n +HolderIdentity: +ip-/,
      /\n +Ready +True +.* KubeletReady +kubelet is posting ready status\n/,
      /\nCapacity:\n +cpu: +2\n/,
      /\nProviderID: +aws:\/\/\/eu-west-1[abc]\/i-[0-9a-f]{17}\n/,
      /\nNon-terminated Pods: +\(\d in total\)\n/,
      /\nAllocated resources:\n/,
      / NodeReady +\S+ +kubelet +Node ip-.* status is now: NodeReady/,
    ]) {
      assert.match(text, part);
    }
  });

  it('describe pod tells its events in the order in which they happened', async () => {
    const text = await kubectl.ok('describe pod -n demo -l app=nginx-demo');
    const [first = ''] = text.split('\n\n\n');
    const reasons = [...first.matchAll(/\n +Normal +(\w+) /g)].map((match) => match[1]);
    assert.deepEqual(reasons, ['Scheduled', 'Pulling', 'Pulled', 'Created', 'Started']);
    assert.match(first, /\nControlled By: +ReplicaSet\/nginx-demo-deployment-/);
    assert.match(first, /Successfully pulled image "nginx:latest" in /);
    assert.match(first, /\nQoS Class: +BestEffort\n/);
  });

  it('describe shows deployments, replica sets, budgets, services, namespaces and CRDs', async () => {
    const [deployment, replicaSet, budget, service, namespace, crd] = await Promise.all([
      kubectl.ok('describe deployment nginx-demo-deployment -n demo'),
      kubectl.ok('describe rs -n demo'),
      kubectl.ok('describe pdb coredns -n kube-system'),
      kubectl.ok('describe svc kube-dns -n kube-system'),
      kubectl.ok('describe ns demo'),
      kubectl.ok('describe crd nodegroups.drover.dev'),
    ]);
    assert.match(deployment, /4 desired \| 4 updated \| 4 total \| 4 available \| 0 unavailable/);
    assert.match(deployment, /NewReplicaSet: +nginx-demo-deployment-\w+ \(4\/4 replicas created\)/);
    assert.match(replicaSet, /Pods Status: +4 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed/);
    assert.match(budget, /Allowed disruptions: +1\n +Current: +2\n/);
    assert.match(service, /Endpoints: +192\.168\.\d+\.\d+:53,192\.168\.\d+\.\d+:53\n/);
    assert.match(namespace, /Status: +Active\n\nNo resource quota\.\n\nNo LimitRange resource\./);
    assert.match(crd, /Type: +Established\n/);
  });

  it('events are listed, filtered and sorted', async () => {
    const own = await kubectl.ok('events -n demo --types=Normal');
    assert.deepEqual(columnsOf(own), ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE']);
    const selector = '--field-selector reason=Scheduled --sort-by=.lastTimestamp';
    const scheduled = await kubectl.ok(`get events -n demo --no-headers ${selector}`);
    assert.equal(scheduled.trim().split('\n').length, 4);
    assert.match(
      scheduled,
      /Normal +Scheduled +pod\/nginx-\S+ +Successfully assigned demo\/nginx-/,
    );
  });

  it('explain, api-resources, version, cluster-info and readyz answer', async () => {
    const strategy = await kubectl.ok('explain deployment.spec.strategy');
    assert.match(strategy, /GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n/);
    assert.match(strategy, /rollingUpdate\t<RollingUpdateDeployment>/);
    assert.match(await kubectl.ok('explain nodegroup.spec'), /autoScalingGroupName\t<string>/);
    const resources = await kubectl.ok('api-resources');
    assert.match(resources, /\npoddisruptionbudgets +pdb +policy\/v1 +true +PodDisruptionBudget\n/);
    assert.match(resources, /\nnodegroups +ng +drover\.dev\/v1alpha1 +false +NodeGroup\n/);
    assert.match(await kubectl.ok('api-versions'), /\napps\/v1\n/);
    assert.match(await kubectl.ok('version'), /Server Version: v1\.\d+\.\d+-eks-\w+\n/);
    const info = await kubectl.ok('cluster-info');
    assert.match(info, /control plane.* is running at .*https:\/\/127\.0\.0\.1:\d+/);
    assert.match(info, /CoreDNS.* is running at /);
    assert.equal(await kubectl.ok('get --raw /readyz'), 'ok');
    assert.match(await kubectl.fails('get --raw /nope'), /could not find the requested resource/);
  });

  it('auth tells who one is and what one may do', async () => {
    assert.match(
      await kubectl.ok('auth whoami'),
      /Username +kubernetes-admin\nGroups +\[system:mast/,
    );
    assert.match(await kubectl.ok('auth can-i delete pods'), /^yes\n/);
    assert.match(await kubectl.ok('auth can-i --list'), /\*\.\* +\[\] +\[\] +\[\*\]/);
  });

  it('logs tell that there is none, and of which container', async () => {
    const said = await kubectl.ok('logs -n demo deploy/nginx-demo-deployment');
    assert.match(said, /nginx-demo: simulated container, no output is modelled/);
    assert.match(await kubectl.fails('logs nope'), /pods "nope" not found/);
  });

  it('what a simulated container cannot do is refused in words', async () => {
    const target = '-n demo deploy/nginx-demo-deployment';
    const [exec, forward, attach, top] = await Promise.all([
      kubectl.fails(`exec ${target} -- ls`),
      kubectl.fails(`port-forward ${target} 0:80`),
      kubectl.fails(`attach ${target}`),
      kubectl.fails('top nodes'),
    ]);
    assert.match(exec, /NotImplemented\): pods\/exec is not available in this embedded world/);
    assert.match(forward, /pods\/portforward is not available in this embedded world/);
    assert.match(attach, /pods\/attach is not available in this embedded world/);
    assert.match(top, /Metrics API not available/);
  });

  it('debug adds a container to a pod, copies a pod, and makes one on a node', async () => {
    const pod = (await kubectl.ok('get pods -n demo -o name')).split('\n')[0] ?? '';
    const line = `debug -n demo ${pod} --image=busybox --container=look --target=nginx-demo`;
    assert.match(await kubectl.ok(line), /Targeting container "nginx-demo"/);
    const state = 'jsonpath={.status.ephemeralContainerStatuses[0].state.running.startedAt}';
    await kubectl.ok(`wait -n demo ${pod} --for`, state, '--timeout=60s');
    const said = await kubectl.ok(`describe -n demo ${pod}`);
    assert.match(said, /Ephemeral Containers:\n +look:.*State: +Running.*Started container look/s);
    assert.match(await kubectl.ok(`logs -n demo ${pod} -c look`), /look: simulated container/);
    await kubectl.ok(`debug -n demo ${pod} --image=busybox --copy-to=copy`);
    await kubectl.ok('wait -n demo pod/copy --for=condition=Ready --timeout=60s');
    const names = 'jsonpath={.spec.containers[*].name}';
    assert.match(await kubectl.ok('get pod copy -n demo -o', names), /^nginx-demo debugger-/);
    await kubectl.ok('delete pod copy -n demo --now');
    const node = (await kubectl.ok('get nodes -o name')).split('\n')[0] ?? '';
    const told = await kubectl.ok(`debug ${node} --image=busybox --profile=general`);
    const made = /Creating debugging pod (\S+) with container debugger on node/.exec(told)?.[1];
    const where = 'jsonpath={.spec.nodeName} {.spec.hostNetwork}';
    assert.equal(
      await kubectl.ok(`get pod ${made} -o`, where),
      `${node.slice('node/'.length)} true`,
    );
    await kubectl.ok(`delete pod ${made} --now`);
  });
});

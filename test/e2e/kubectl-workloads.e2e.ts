// Workloads of the world's controllers, with the real kubectl: StatefulSets with claims, DaemonSets
// and their history, Jobs, CronJobs, volumes. The tests also cover the reasons why a pod is not
// scheduled.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { missing, type ServedWorld } from '../support/demo-world.ts';
import { columnsOf, rowsOf, type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);

const database = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: demo}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}, annotations: {world.drover.dev/stop-seconds: "0.2"}}
    spec:
      containers: [{name: db, image: "db:1"}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: gp2, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}
`;

const job = (name: string, spec: string, annotations: string): string => `
apiVersion: batch/v1
kind: Job
metadata: {name: ${name}, namespace: demo}
spec:
  ${spec}
  template:
    metadata: {annotations: {${annotations}}}
    spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}
`;

const pod = (name: string, spec: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: demo}
spec: {containers: [{name: main, image: busybox}], ${spec}}
`;

describe('workloads with kubectl', {
  skip: skipWhen('stories of workloads with kubectl', whyNot),
  timeout: 300_000,
}, () => {
  let world: ServedWorld;
  let kubectl: Steps;

  const suite = suiteWorld({ args: ['--demo', '--no-controller', '--port', '0'] });
  before(async () => {
    world = suite.world;
    kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
    assert.equal((await world.drover('world', 'advance', '40s')).code, 0);
  });

  const rolledOut = (what: string): Promise<string> =>
    kubectl.ok(`rollout status ${what} --timeout=90s`);

  it('a StatefulSet rolls out in order, with a claim and a volume for each pod', async () => {
    await kubectl.okWith(database, 'apply -f -');
    assert.match(await rolledOut('sts/db -n demo'), /roll out complete: 2 new pods/);
    assert.match(await kubectl.ok('get sts db -n demo'), /\ndb +2\/2 /);
    const claims = await kubectl.ok('get pvc -n demo');
    assert.deepEqual(columnsOf(claims).slice(0, 6), [
      'NAME',
      'STATUS',
      'VOLUME',
      'CAPACITY',
      'ACCESS MODES',
      'STORAGECLASS',
    ]);
    assert.match(claims, /\ndata-db-0 +Bound +pvc-[-0-9a-f]{36} +2Gi +RWO +gp2 /);
    const volumes = rowsOf(await kubectl.ok('get pv'));
    assert.equal(volumes.length, 2);
    for (const row of volumes) assert.match(row, / 2Gi +RWO +Delete +Bound +demo\/data-db-[01] /);
    assert.match(await kubectl.ok('get volumeattachments'), /csi-[0-9a-f]{64} +ebs\.csi\.aws\.com/);
    const described = await kubectl.ok('describe pvc data-db-0 -n demo');
    assert.match(described, /\nUsed By: +db-0\n/);
    assert.match(described, /ProvisioningSucceeded .*Successfully provisioned volume pvc-/);
    assert.match(
      await kubectl.ok('describe sts db -n demo'),
      /SuccessfulCreate .*create Claim data-db-1 Pod db-1 in StatefulSet db success\n/,
    );
  });

  it('rollout history and undo of a StatefulSet', async () => {
    await kubectl.ok('set image sts/db db=db:2 -n demo');
    await rolledOut('sts/db -n demo');
    assert.match(await kubectl.ok('rollout history sts/db -n demo'), /\n1 +<none>\n2 +<none>\n/);
    assert.equal(
      await kubectl.ok('rollout undo sts/db -n demo'),
      'statefulset.apps/db rolled back\n',
    );
    await rolledOut('sts/db -n demo');
    const history = await kubectl.ok('rollout history sts/db -n demo');
    assert.match(history, /\n2 +<none>\n3 +<none>\n/);
    assert.doesNotMatch(history, /\n1 /);
    const images = '{range .items[*]}{.spec.containers[0].image}{"\\n"}{end}';
    assert.equal(
      await kubectl.ok('get pods -l app=db -n demo -o', `jsonpath=${images}`),
      'db:1\ndb:1\n',
    );
    assert.match(
      await kubectl.ok('get controllerrevisions -n demo -l app=db'),
      /\ndb-[a-z0-9]+ +statefulset\.apps\/db +3 /,
    );
  });

  it('rollout history and undo of a DaemonSet', async () => {
    const agent = 'ds/kube-proxy -n kube-system';
    await kubectl.ok(`set image ${agent} *=example/proxy:2`);
    await rolledOut(agent);
    assert.match(await kubectl.ok(`rollout history ${agent}`), /\n1 +<none>\n2 +<none>\n/);
    await kubectl.ok(`rollout undo ${agent} --to-revision=1`);
    await rolledOut(agent);
    const history = await kubectl.ok(`rollout history ${agent}`);
    assert.match(history, /\n2 +<none>\n3 +<none>\n/);
    assert.doesNotMatch(history, /\n1 /);
  });

  it('Jobs complete or fail, and say so in columns, conditions and events', async () => {
    const quick = 'world.drover.dev/run-seconds: "1"';
    await kubectl.okWith(job('ends', 'completions: 2', quick), 'apply -f -');
    const bad = `${quick}, world.drover.dev/exit-code: "3"`;
    await kubectl.okWith(job('fails', 'backoffLimit: 0', bad), 'apply -f -');
    await kubectl.ok('wait --for=condition=complete job/ends -n demo --timeout=60s');
    await kubectl.ok('wait --for=condition=failed job/fails -n demo --timeout=60s');
    const table = await kubectl.ok('get jobs -n demo');
    assert.deepEqual(columnsOf(table), ['NAME', 'STATUS', 'COMPLETIONS', 'DURATION', 'AGE']);
    assert.match(table, /\nends +Complete +2\/2 +\d+s /);
    assert.match(table, /\nfails +Failed +0\/1 /);
    const pods = await kubectl.ok('get pods -n demo -l', 'job-name in (ends,fails)');
    assert.match(pods, /\nends-\w+ +0\/1 +Completed /);
    assert.match(pods, /\nfails-\w+ +0\/1 +Error /);
    assert.match(await kubectl.ok('describe job ends -n demo'), / Completed .* Job completed\n/);
    assert.match(
      await kubectl.ok('describe job fails -n demo'),
      /BackoffLimitExceeded .*Job has reached the specified backoff limit\n/,
    );
    await kubectl.ok('delete job ends fails -n demo');
    assert.match(
      await kubectl.ok('get pods -n demo -l', 'job-name in (ends,fails)'),
      /No resources found/,
    );
  });

  it('a CronJob starts its Job when the world reaches the minute', async () => {
    await kubectl.ok('create cronjob tick --image=busybox -n demo --schedule', '* * * * *');
    await kubectl.ok('create job by-hand --from=cronjob/tick -n demo');
    assert.equal((await world.drover('world', 'advance', '70s')).code, 0);
    const table = await kubectl.ok('get cronjob tick -n demo');
    assert.match(table, /\ntick +\* \* \* \* \* +<none> +False +[12] +\d+s /);
    const jobs = rowsOf(await kubectl.ok('get jobs -n demo'));
    assert.ok(
      jobs.some((row) => /^tick-\d{8} +Running +0\/1 /.test(row)),
      jobs.join('\n'),
    );
    const described = await kubectl.ok('describe cronjob tick -n demo');
    assert.match(described, /\nActive Jobs: +tick-\d{8}/);
    assert.match(described, /SuccessfulCreate .*Created job tick-\d{8}\n/);
    await kubectl.ok('delete cronjob tick -n demo');
  });

  it('a pod that finds no node is told why, gated ones that they are gated', async () => {
    await kubectl.okWith(pod('gated', 'schedulingGates: [{name: example.org/wait}]'), 'apply -f -');
    assert.match(await kubectl.ok('get pod gated -n demo'), /\ngated +0\/1 +SchedulingGated /);
    const noClaim = 'volumes: [{name: v, persistentVolumeClaim: {claimName: nowhere}}]';
    await kubectl.okWith(pod('unserved', noClaim), 'apply -f -');
    assert.equal((await world.drover('world', 'advance', '2s')).code, 0);
    assert.match(
      await kubectl.ok('describe pod unserved -n demo'),
      /FailedScheduling .*0\/\d nodes are available: persistentvolumeclaim "nowhere" not found\./,
    );
    await kubectl.ok('delete pod gated unserved -n demo');
  });

  it('claims in use stay until their pods are gone, then go with their volumes', async () => {
    await kubectl.ok('delete pvc data-db-0 -n demo --wait=false');
    assert.match(await kubectl.ok('get pvc data-db-0 -n demo'), /\ndata-db-0 +Terminating /);
    await kubectl.ok('delete sts db -n demo');
    await kubectl.ok('delete pvc data-db-0 data-db-1 -n demo --ignore-not-found --timeout=60s');
    assert.equal((await world.drover('world', 'advance', '60s')).code, 0);
    assert.match(await kubectl.ok('get pvc,pv,volumeattachments -n demo'), /No resources found/);
  });
});

// Writing with the real kubectl: apply, create, replace, patch, rollouts, scale, waits, deletes,
// custom resources; and the messages for invalid input.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { missing, type ServedWorld } from '../support/demo-world.ts';
import { rowsOf, type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);

const web = `
apiVersion: v1
kind: Namespace
metadata: {name: web}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: web}
data: {colour: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 2
      containers:
      - {name: web, image: "nginx:1.27", ports: [{containerPort: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`;

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: herds.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: herds, singular: herd, kind: Herd, shortNames: [hd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, required: [size], properties: {size: {type: integer, minimum: 1}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;
const herd = `
apiVersion: example.org/v1
kind: Herd
metadata: {name: h1, namespace: default}
spec: {size: 3}
`;

describe('writing with kubectl', {
  skip: skipWhen('stories of writing with kubectl', whyNot),
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

  const webIs = async (jsonpath: string): Promise<string> =>
    kubectl.ok('get deploy web -n web -o', `jsonpath=${jsonpath}`);
  const rolledOut = (): Promise<string> =>
    kubectl.ok('rollout status deploy/web -n web --timeout=40s');

  it('apply says created, unchanged, configured, and diff shows what would change', async () => {
    assert.equal(
      await kubectl.okWith(web, 'apply -f -'),
      'namespace/web created\nconfigmap/settings created\ndeployment.apps/web created\n' +
        'service/web created\n',
    );
    const unchanged = await kubectl.okWith(web, 'apply -f -');
    assert.ok(rowsOf(`\n${unchanged}`).every((line) => line.endsWith(' unchanged')));
    const green = web.replace('blue', 'green');
    const diff = await kubectl.failsWith(green, 'diff -f -');
    assert.match(diff, /\n- {2}colour: blue\n\+ {2}colour: green\n/);
    const dry = await kubectl.okWith(green, 'apply -f - --dry-run=server');
    assert.match(dry, /configmap\/settings configured \(server dry run\)/);
    assert.match(await kubectl.okWith(green, 'apply -f -'), /configmap\/settings configured\n/);
    assert.equal(await kubectl.okWith(green, 'diff -f -'), '');
  });

  it('apply refuses unknown fields, wrong types and unknown kinds, and changes nothing', async () => {
    await rolledOut();
    const before = await webIs('{.metadata.resourceVersion}');
    const wrong: readonly (readonly [string, string, RegExp])[] = [
      ['replicas: 2', 'replicass: 2', /strict decoding error: unknown field "spec\.replicass"/],
      ['replicas: 2', 'replicas: two', /unrecognized type: int32/],
      ['image: "', 'imagee: "', /unknown field "spec\.template\.spec\.containers\[0\]\.imagee"/],
      ['replicas: 2', 'replicas: -2', /spec\.replicas: Invalid value: -2: must be greater than or/],
      ['app: web}}\n  t', 'app: other}}\n  t', /`selector` does not match template `labels`/],
      ['kind: Deployment', 'kind: Deploymint', /no matches for kind "Deploymint" in version "apps/],
      ['apiVersion: apps/v1', 'apiVersion: apps/v7', /no matches for kind "Deployment" in version/],
      ['name: web, namespace: web, labels', 'name: Web_, namespace: web, labels', /RFC 1123/],
    ];
    for (const [right, mistake, words] of wrong) {
      assert.ok(web.includes(right), right);
      const said = await kubectl.failsWith(web.replace(right, mistake), 'apply -f -');
      assert.match(said, words);
      assert.doesNotMatch(said, /\n\s+at /, 'no stack');
    }
    assert.match(await kubectl.failsWith('a: [\n', 'apply -f -'), /error converting YAML to JSON/);
    assert.match(await kubectl.failsWith('kind: Pod\n', 'apply -f -'), /apiVersion not set/);
    assert.equal(await webIs('{.metadata.resourceVersion}'), before);
    assert.match(await kubectl.fails('get deploy Web_ -n web'), /NotFound/);
  });

  it('create, replace and their conflicts', async () => {
    assert.match(await kubectl.fails('create ns web'), /AlreadyExists.*namespaces "web" already/);
    for (const [line, said] of [
      ['create cm c1 --from-literal=a=b', 'configmap/c1 created'],
      ['create deployment d1 --image=nginx --replicas=1', 'deployment.apps/d1 created'],
      ['create sa robot', 'serviceaccount/robot created'],
      [
        'create pdb d1 --selector=app=d1 --min-available=1',
        'poddisruptionbudget.policy/d1 created',
      ],
      ['create service clusterip d1 --tcp=80:80', 'service/d1 created'],
      ['run lone --image=nginx', 'pod/lone created'],
    ] as const) {
      assert.equal(await kubectl.ok(`${line} -n web`), `${said}\n`);
    }
    const stored = await kubectl.ok('get cm c1 -n web -o yaml');
    const changed = stored.replace('a: b', 'a: c');
    assert.match(await kubectl.okWith(changed, 'replace -f -'), /configmap\/c1 replaced/);
    const conflict = await kubectl.failsWith(changed, 'replace -f -');
    assert.match(conflict, /Conflict.*the object has been modified; please apply your changes/);
    assert.match(await kubectl.okWith(changed, 'replace --force -f -'), /configmap\/c1 replaced/);
    const nowhere = await kubectl.fails('create cm c2 -n nowhere --from-literal=a=b');
    assert.match(nowhere, /failed to create configmap: namespaces "nowhere" not found/);
  });

  it('label and annotate change, refuse and remove', async () => {
    assert.match(await kubectl.ok('label cm c1 -n web tier=gold'), /configmap\/c1 labeled/);
    assert.match(await kubectl.ok('label cm c1 -n web tier=gold'), /configmap\/c1 not labeled/);
    assert.match(await kubectl.fails('label cm c1 -n web tier=tin'), /--overwrite is false/);
    assert.match(await kubectl.ok('label cm c1 -n web tier=tin --overwrite'), /labeled/);
    assert.match(await kubectl.ok('label cm c1 -n web tier-'), /configmap\/c1 unlabeled/);
    assert.match(await kubectl.fails('label cm c1 -n web', 'a b=c'), /name part must consist of/);
    assert.match(await kubectl.ok('annotate cm c1 -n web note=hello'), /configmap\/c1 annotated/);
    assert.match(await kubectl.ok('annotate cm c1 -n web note-'), /configmap\/c1 annotated/);
  });

  it('patch takes its three types and refuses the wrong shape of each', async () => {
    const patch = 'patch deploy web -n web';
    const container =
      '{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"A"}]}]}}}}';
    assert.match(await kubectl.ok(`${patch} -p`, container), /deployment\.apps\/web patched/);
    assert.equal(await webIs('{.spec.template.spec.containers[*].image}'), 'nginx:1.27');
    const label = '{"metadata":{"labels":{"x":"y"}}}';
    assert.match(await kubectl.ok(`${patch} --type=merge -p`, label), /patched\n/);
    assert.match(await kubectl.ok(`${patch} --type=merge -p`, label), /patched \(no change\)/);
    const replace = '[{"op":"replace","path":"/spec/replicas","value":3}]';
    await kubectl.ok(`${patch} --type=json -p`, replace);
    assert.equal(await webIs('{.spec.replicas}'), '3');
    const test = '[{"op":"test","path":"/spec/replicas","value":7}]';
    assert.match(await kubectl.fails(`${patch} --type=json -p`, test), /The request is invalid/);
    for (const [type, body] of [
      ['json', '{"a":1}'],
      ['merge', '[1]'],
    ] as const) {
      const said = await kubectl.fails(`${patch} --type=${type} -p`, body);
      assert.match(said, /BadRequest\): error decoding patch: json: cannot unmarshal/);
    }
    const selector = '{"spec":{"selector":{"matchLabels":{"app":"z"}}}}';
    assert.match(
      await kubectl.fails(`${patch} -p`, selector),
      /spec\.selector.*field is immutable/,
    );
    const scale = `${patch} --type=merge --subresource=scale -p`;
    assert.match(
      await kubectl.ok(scale, '{"spec":{"replicas":2}}'),
      /scale\.autoscaling\/web patched/,
    );
  });

  it('rollouts are watched, listed, undone, restarted, paused', async () => {
    assert.match(await rolledOut(), /deployment "web" successfully rolled out\n$/);
    const set = await kubectl.ok('set image deploy/web web=nginx:1.28 -n web');
    assert.equal(set, 'deployment.apps/web image updated\n');
    assert.match(
      await rolledOut(),
      /Waiting for deployment "web" rollout to finish: [\s\S]*rolled out/,
    );
    const history = await kubectl.ok('rollout history deploy/web -n web');
    assert.match(history, /REVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>\n3 +<none>\n/);
    const third = await kubectl.ok('rollout history deploy/web -n web --revision=3');
    assert.match(third, /Image:\tnginx:1\.28/);
    assert.match(await kubectl.ok('rollout undo deploy/web -n web'), /web rolled back/);
    await rolledOut();
    assert.equal(await webIs('{.spec.template.spec.containers[0].image}'), 'nginx:1.27');
    const gone = await kubectl.fails('rollout undo deploy/web -n web --to-revision=99');
    assert.match(gone, /unable to find specified revision 99 in history/);
    assert.match(await kubectl.ok('rollout restart deploy/web -n web'), /web restarted/);
    await rolledOut();
    assert.match(await kubectl.ok('rollout pause deploy/web -n web'), /web paused/);
    assert.match(await kubectl.ok('rollout resume deploy/web -n web'), /web resumed/);
  });

  it('scale checks the size that it is told, and wait waits', async () => {
    const scale = 'scale deploy web -n web --replicas=4';
    const refused = await kubectl.fails(`${scale} --current-replicas=7`);
    assert.match(refused, /Expected replicas to be 7, was 2/);
    assert.match(await kubectl.ok(`${scale} --current-replicas=2`), /deployment\.apps\/web scaled/);
    const ready = '--for=jsonpath={.status.readyReplicas}=4';
    assert.match(
      await kubectl.ok(`wait ${ready} deploy/web -n web --timeout=30s`),
      /condition met/,
    );
    const available = await kubectl.ok('wait --for=condition=Available deploy/web -n web');
    assert.equal(available, 'deployment.apps/web condition met\n');
    const never = await kubectl.fails('wait --for=condition=Nope deploy/web -n web --timeout=1s');
    assert.match(never, /timed out waiting for the condition on deployments\/web/);
    // kubectl writes autoscaling/v1 in protobuf, which this world does not serve.
    const autoscale = await kubectl.fails('autoscale deploy web -n web --min=2 --max=5');
    assert.match(
      autoscale,
      /UnsupportedMediaType\): a protobuf body of autoscaling\/v1 Horizontal/,
    );
  });

  it('custom kinds are defined, checked, printed and removed', async () => {
    const unknown = await kubectl.failsWith(herd, 'apply -f -');
    assert.match(unknown, /no matches for kind "Herd" in version "example\.org\/v1"/);
    assert.match(await kubectl.okWith(definition, 'apply -f -'), /herds\.example\.org created/);
    await kubectl.ok('wait --for=condition=Established crd/herds.example.org --timeout=10s');
    assert.equal(await kubectl.okWith(herd, 'apply -f -'), 'herd.example.org/h1 created\n');
    assert.equal(await kubectl.okWith(herd, 'apply -f -'), 'herd.example.org/h1 unchanged\n');
    assert.equal(await kubectl.ok('get hd'), 'NAME   SIZE\nh1     3\n');
    for (const [mistake, words] of [
      ['sise: 3', /unknown field "spec\.sise"/],
      ['size: three', /spec\.size in body must be of type integer: "string"/],
      ['size: 0', /spec\.size in body should be greater than or equal to 1/],
      ['size: 3, more: 1', /unknown field "spec\.more"/],
    ] as const) {
      assert.match(await kubectl.failsWith(herd.replace('size: 3', mistake), 'apply -f -'), words);
    }
    const strategic = await kubectl.fails('patch hd h1 -p', '{"spec":{"size":5}}');
    assert.match(strategic, /strategic-merge-patch\+json is not supported by example\.org\/v1/);
    assert.match(await kubectl.ok('patch hd h1 --type=merge -p', '{"spec":{"size":5}}'), /patched/);
    assert.match(await kubectl.ok('explain herd.spec'), /size\t<integer> -required-/);
    assert.match(await kubectl.ok('delete crd herds.example.org'), /"herds\.example\.org" deleted/);
    assert.match(
      await kubectl.fails('get hd'),
      /could not find the requested resource|resource type/,
    );
  });

  it('edit opens the object and writes what the editor left', async () => {
    const edited = await kubectl.ok('get cm settings -n web -o jsonpath={.data.colour}');
    assert.equal(edited, 'blue');
    const child = stepsOf('kubectl', (args) => world.kubectl(...args));
    world.env.KUBE_EDITOR = 'sed -i s/blue/red/';
    assert.match(await child.ok('edit cm settings -n web'), /configmap\/settings edited/);
    assert.equal(await kubectl.ok('get cm settings -n web -o jsonpath={.data.colour}'), 'red');
  });

  it('delete waits, hurries, forces, and ends namespaces with all they hold', async () => {
    assert.match(await kubectl.ok('delete pod lone -n web --now'), /pod "lone" deleted/);
    await kubectl.ok('run slow --image=nginx -n web');
    const forced = await kubectl.ok('delete pod slow -n web --force --grace-period=0');
    assert.match(forced, /pod "slow" force deleted/);
    assert.match(await kubectl.fails('get pod slow -n web'), /NotFound/);
    assert.match(await kubectl.fails('delete pod nope -n web'), /pods "nope" not found/);
    assert.equal(await kubectl.ok('delete pod nope -n web --ignore-not-found'), '');
    await kubectl.ok('delete deploy d1 -n web --cascade=foreground --timeout=40s');
    assert.match(await kubectl.ok('get pods -n web -l app=d1'), /No resources found/);
    await kubectl.ok('delete deploy web -n web --cascade=orphan');
    assert.equal(rowsOf(await kubectl.ok('get pods -n web -l app=web')).length, 4);
    assert.match(await kubectl.ok('delete ns web --wait=false'), /namespace "web" deleted/);
    await kubectl.ok('wait --for=delete ns/web --timeout=60s');
    assert.match(await kubectl.fails('get ns web'), /namespaces "web" not found/);
    for (const kept of ['default', 'kube-system']) {
      assert.match(await kubectl.fails(`delete ns ${kept}`), /Forbidden.*may not be deleted/);
    }
  });
});

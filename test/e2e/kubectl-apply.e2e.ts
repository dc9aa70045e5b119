// Server-side apply with the real kubectl: field managers, conflicts and their resolution,
// migration from and to client-side apply, and diffs before a write.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { missing } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);

const settings = (data: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: ${data}
`;

const web = (replicas: string, image: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "${image}", ports: [{containerPort: 80}]}
`;

describe('server-side apply with kubectl', {
  skip: skipWhen('server-side apply with kubectl', whyNot),
  timeout: 300_000,
}, () => {
  let kubectl: Steps;

  const suite = suiteWorld({ args: ['--demo', '--no-controller', '--port', '0'] });
  before(() => {
    const { world } = suite;
    kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
  });

  it('creates, says who manages what, and changes nothing when applied again', async () => {
    const said = await kubectl.okWith(settings('{a: "1"}'), 'apply --server-side -f -');
    assert.match(said, /configmap\/settings serverside-applied/);
    const shown = await kubectl.ok('get configmap settings -o yaml --show-managed-fields');
    assert.match(shown, /manager: kubectl\n\s+operation: Apply/);
    assert.match(shown, /f:data:\n\s+f:a: \{\}/);
    const version = 'get configmap settings -o jsonpath={.metadata.resourceVersion}';
    const first = await kubectl.ok(version);
    await kubectl.okWith(settings('{a: "1"}'), 'apply --server-side -f -');
    assert.equal(await kubectl.ok(version), first);
    assert.doesNotMatch(await kubectl.ok('get configmap settings -o yaml'), /managedFields/);
  });

  it('shows in a diff what an apply would do', async () => {
    const diff = await kubectl.failsWith(settings('{a: "2"}'), 'diff --server-side -f -');
    assert.match(diff, /-\s+a: "1"\n\+\s+a: "2"/);
    const stored = await kubectl.ok('get configmap settings -o jsonpath={.data.a}');
    assert.equal(stored, '1');
    await kubectl.okWith(settings('{a: "1"}'), 'diff --server-side -f -');
  });

  it('refuses to change what another manager applied, until it is forced', async () => {
    const other = 'apply --server-side --field-manager=pipeline -f -';
    const said = await kubectl.failsWith(settings('{a: "9"}'), other);
    assert.match(said, /Apply failed with 1 conflict: conflict with "kubectl": \.data\.a/);
    assert.match(said, /--force-conflicts/);
    const forced = `${other} --force-conflicts`;
    assert.match(await kubectl.okWith(settings('{a: "9"}'), forced), /serverside-applied/);
    const again = await kubectl.failsWith(settings('{a: "1"}'), 'apply --server-side -f -');
    assert.match(again, /conflict with "pipeline": \.data\.a/);
  });

  it('takes over what client-side apply made, with its annotation kept in step', async () => {
    await kubectl.okWith(web('replicas: 1', 'nginx:1.27'), 'apply -f -');
    await kubectl.okWith(web('replicas: 1', 'nginx:1.28'), 'apply --server-side -f -');
    const shown = await kubectl.ok('get deployment web -o yaml --show-managed-fields');
    assert.doesNotMatch(shown, /kubectl-client-side-apply/);
    assert.match(shown, /last-applied-configuration: \|\n.*nginx:1\.28/);
    const plain = await kubectl.okWith(web('replicas: 1', 'nginx:1.28'), 'apply -f -');
    assert.match(plain, /deployment\.apps\/web (unchanged|configured)/);
  });

  it('leaves replicas to whoever scales once they are no longer applied', async () => {
    await kubectl.ok('scale deployment web --replicas=3');
    const said = await kubectl.failsWith(
      web('replicas: 1', 'nginx:1.28'),
      'apply --server-side -f -',
    );
    assert.match(
      said,
      /conflict with "kubectl" with subresource "scale" using apps\/v1: \.spec\.replicas/,
    );
    await kubectl.okWith(web('', 'nginx:1.28'), 'apply --server-side -f -');
    assert.equal(await kubectl.ok('get deployment web -o jsonpath={.spec.replicas}'), '3');
  });

  it('says which field does not exist, and writes nothing', async () => {
    const said = await kubectl.failsWith(
      settings('{a: "1"}\ndato: {}'),
      'apply --server-side --validate=false --field-manager=pipeline -f -',
    );
    assert.match(said, /\.dato: field not declared in schema/);
  });
});

// Authentication and authorization of users and nodes with the real kubectl: certificate requests,
// their approval, and the rights of a signed certificate.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { defined } from '../../src/api/defined.ts';
import { requestCertificate } from '../support/certificates.ts';
import { eventually, missing, run, type ServedWorld } from '../support/demo-world.ts';
import { columnsOf, type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);

const clientSigner = 'kubernetes.io/kube-apiserver-client';
const servingSigner = 'kubernetes.io/kubelet-serving';

const csrOf = (
  name: string,
  request: string,
  of: { readonly signer: string; readonly usages: readonly string[]; readonly seconds?: number },
): string =>
  JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: of.signer,
      usages: of.usages,
      ...defined({ expirationSeconds: of.seconds }),
    },
  });

describe('access with kubectl', {
  skip: skipWhen('stories of access with kubectl', whyNot),
  timeout: 300_000,
}, () => {
  let world: ServedWorld;
  let kubectl: Steps;

  const suite = suiteWorld({ args: ['--demo', '--no-controller', '--port', '0'] });
  before(() => {
    world = suite.world;
    kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
  });

  const file = (name: string, text: string): string => {
    const path = join(world.dataDir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  /** kubectl with the credentials in `args` instead of the administrator's certificate. */
  const asOthers = (...args: readonly string[]) => {
    const env = { ...world.env, KUBECONFIG: '/dev/null' };
    return run('kubectl', args, { env });
  };
  const serverOf = async (): Promise<readonly string[]> => {
    const cluster = 'jsonpath={.clusters[0].cluster.server}';
    const ca = 'jsonpath={.clusters[0].cluster.certificate-authority-data}';
    const server = await kubectl.ok('config view -o', cluster);
    const authority = await kubectl.ok('config view --raw -o', ca);
    const path = file('ca.crt', Buffer.from(authority, 'base64').toString());
    return ['--server', server, '--certificate-authority', path];
  };
  const issued = (name: string): Promise<string> =>
    eventually(`${name} to be signed`, async () => {
      const text = await kubectl.ok(`get csr ${name} -o`, 'jsonpath={.status.certificate}');
      return text === '' ? undefined : Buffer.from(text, 'base64').toString();
    });
  const conditionOf = async (name: string): Promise<string> =>
    (await kubectl.ok(`get csr ${name} --no-headers`)).trim().split(/ {2,}/).at(-1) ?? '';

  it('a certificate is asked for, approved, signed, and lets its owner in', async () => {
    const { request, key } = await requestCertificate('CN=jane,O=developers');
    const wanted = { signer: clientSigner, usages: ['client auth'], seconds: 7200 };
    await kubectl.okWith(csrOf('jane', request, wanted), 'create -f -');
    const table = await kubectl.ok('get csr');
    const columns = ['NAME', 'AGE', 'SIGNERNAME', 'REQUESTOR', 'REQUESTEDDURATION', 'CONDITION'];
    assert.deepEqual(columnsOf(table), columns);
    assert.match(table, /jane .*kubernetes-admin +120m +Pending/);
    assert.match(await kubectl.ok('certificate approve jane'), /jane approved/);
    const certificate = file('jane.crt', await issued('jane'));
    assert.equal(await conditionOf('jane'), 'Approved,Issued');
    const own = ['--client-certificate', certificate, '--client-key', file('jane.key', key)];
    const whoami = await asOthers(...(await serverOf()), ...own, 'auth', 'whoami');
    assert.match(whoami.stdout, /Username +jane\nGroups +\[developers system:authenticated\]/);
  });

  it('a request is denied, or failed by the rules of its signer, and then never signed', async () => {
    const { request } = await requestCertificate('CN=eve,O=developers');
    const client = { signer: clientSigner, usages: ['client auth'] };
    await kubectl.okWith(csrOf('eve', request, client), 'create -f -');
    assert.match(await kubectl.ok('certificate deny eve'), /eve denied/);
    const server = { signer: clientSigner, usages: ['server auth'] };
    await kubectl.okWith(csrOf('odd', request, server), 'create -f -');
    await kubectl.ok('certificate approve odd');
    await eventually('odd to be failed', async () =>
      (await conditionOf('odd')) === 'Approved,Failed' ? true : undefined,
    );
    assert.match(
      await kubectl.ok('get csr odd -o', 'jsonpath={.status.conditions[1].message}'),
      /invalid usage for client certificate: server auth/,
    );
    assert.equal(await conditionOf('eve'), 'Denied');
  });

  it('what no certificate is asked for that way is refused in words', async () => {
    const someone = await requestCertificate('CN=someone');
    const masters = await requestCertificate('CN=root,O=system:masters');
    const client = { signer: clientSigner, usages: ['client auth'] };
    assert.match(
      await kubectl.failsWith(csrOf('root', masters.request, client), 'create -f -'),
      /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed/,
    );
    assert.match(
      await kubectl.failsWith(csrOf('junk', 'junk', client), 'create -f -'),
      /spec.request: Invalid value: .*PEM block type must be CERTIFICATE REQUEST/,
    );
    assert.match(
      await kubectl.failsWith(
        csrOf('s', someone.request, { ...client, seconds: 60 }),
        'create -f -',
      ),
      /may not specify a duration less than 600 seconds \(10 minutes\)/,
    );
  });

  it('a kubelet gets its serving certificate by itself, and none for the names of others', async () => {
    const first = 'jsonpath={.items[0].metadata.name} {.items[0].status.addresses[0].address}';
    const [node = '', ip = ''] = (await kubectl.ok('get nodes -o', first)).split(' ');
    const as = `--as system:node:${node} --as-group system:nodes --as-group system:authenticated`;
    const wanted = { signer: servingSigner, usages: ['digital signature', 'server auth'] };
    const subject = `CN=system:node:${node},O=system:nodes`;
    const own = await requestCertificate(subject, [node, ip]);
    const foreign = await requestCertificate(subject, ['auth.example.com', ip]);
    await kubectl.okWith(csrOf('foreign', foreign.request, wanted), `create ${as} -f -`);
    await kubectl.okWith(csrOf('own', own.request, wanted), `create ${as} -f -`);
    assert.match(await issued('own'), /BEGIN CERTIFICATE/);
    assert.equal(await conditionOf('foreign'), 'Pending');
  });

  it('auth can-i tells the truth about components, nodes and add-ons', async () => {
    const can = async (who: string, what: string): Promise<string> => {
      const { stdout } = await world.kubectl(...`auth can-i ${what} --as ${who}`.split(' '));
      return stdout.trim().split(' ')[0] ?? '';
    };
    const node = (await kubectl.ok('get nodes -o', 'jsonpath={.items[0].metadata.name}')).trim();
    const kubelet = `system:node:${node} --as-group system:nodes`;
    const system = 'system:serviceaccount:kube-system';
    const expected: readonly (readonly [string, string, string])[] = [
      [kubelet, `get nodes/${node}`, 'yes'],
      [kubelet, 'get nodes/other', 'no'],
      [kubelet, 'list deployments -A', 'no'],
      [kubelet, 'get secrets/x', 'no'],
      ['eks:node-manager', 'patch nodes', 'yes'],
      ['eks:node-manager', 'create pods --subresource eviction -A', 'yes'],
      ['eks:node-manager', 'patch configmaps/aws-auth -n kube-system', 'yes'],
      ['eks:node-manager', 'patch configmaps/other -n kube-system', 'no'],
      ['eks:node-manager', 'create deployments', 'no'],
      ['eks:stranger', 'get pods', 'no'],
      ['system:kube-scheduler', 'create pods --subresource binding -A', 'yes'],
      ['system:kube-scheduler', 'create pods', 'no'],
      [`${system}:aws-node`, 'list pods -A', 'yes'],
      [`${system}:aws-node`, 'delete pods -A', 'no'],
      [`${system}:coredns`, 'watch endpointslices.discovery.k8s.io -A', 'yes'],
      [`${system}:coredns`, 'get secrets -A', 'no'],
      [`${system}:kube-proxy`, 'list services -A', 'yes'],
      [`${system}:kube-proxy`, 'patch nodes', 'no'],
    ];
    const told = await Promise.all(
      expected.map(async ([who, what]) => [who, what, await can(who, what)]),
    );
    assert.deepEqual(told, expected);
  });

  it('admin, edit and view gather what other roles are labelled for', async () => {
    await kubectl.ok('create clusterrolebinding reader --clusterrole view --user ann');
    assert.match(await kubectl.ok('get pods -n demo --as ann'), /nginx-demo/);
    const asked = 'auth can-i list nodegroups.drover.dev --as ann';
    assert.match(await kubectl.fails(asked), /^no$/m);
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: {
        name: 'nodegroups-viewer',
        labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
      },
      rules: [{ apiGroups: ['drover.dev'], resources: ['nodegroups'], verbs: ['get', 'list'] }],
    };
    await kubectl.okWith(JSON.stringify(role), 'create -f -');
    await eventually('ann may look at node groups', async () =>
      /^yes/m.test((await world.kubectl(...asked.split(' '))).stdout) ? true : undefined,
    );
    assert.match(await kubectl.ok('describe clusterrole admin'), /nodegroups\.drover\.dev/);
  });

  it('an approved request is signed after the world was killed in between', async () => {
    const { request } = await requestCertificate('CN=late');
    const wanted = { signer: clientSigner, usages: ['client auth'] };
    await kubectl.okWith(csrOf('late', request, wanted), 'create -f -');
    await kubectl.ok('certificate approve late');
    await world.kill();
    await world.restart();
    assert.match(await issued('late'), /BEGIN CERTIFICATE/);
  });

  it('a token lets its account in with the rights of its bindings, until the account is gone', async () => {
    await kubectl.ok('create serviceaccount robot');
    await kubectl.ok('create rolebinding robot --clusterrole=view --serviceaccount=default:robot');
    const token = (await kubectl.ok('create token robot --duration=20m')).trim();
    assert.match(token, /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/);
    const robot = async (...args: readonly string[]) =>
      asOthers(...(await serverOf()), '--token', token, ...args);
    const whoami = await robot('auth', 'whoami');
    assert.match(whoami.stdout, /Username +system:serviceaccount:default:robot\n/);
    assert.equal((await robot('get', 'pods')).code, 0);
    assert.match((await robot('get', 'nodes')).stderr, /robot" cannot list resource "nodes"/);
    assert.match(
      await kubectl.fails('create token robot --duration=5m'),
      /may not specify a duration less than 10 minutes/,
    );
    assert.match(await kubectl.fails('create token nobody'), /serviceaccounts "nobody" not found/);
    await kubectl.ok('delete serviceaccount robot');
    assert.match((await robot('get', 'pods')).stderr, /You must be logged in/);
    assert.ok(world.audit().every((event) => !JSON.stringify(event).includes(token)));
  });

  it('a token ends with its time, and outlives a killed world until then', async () => {
    const token = (await kubectl.ok('create token default --duration=20m')).trim();
    const whoami = async () =>
      asOthers(...(await serverOf()), '--token', token, 'auth', 'whoami', '-o', 'name');
    await world.kill();
    await world.restart();
    assert.equal((await whoami()).code, 0);
    assert.equal((await world.drover('world', 'advance', '21m')).code, 0);
    assert.match((await whoami()).stderr, /Unauthorized|must be logged in/);
  });

  it('the roles that a cluster is born with are there', async () => {
    const table = await kubectl.ok('get clusterroles');
    assert.deepEqual(columnsOf(table), ['NAME', 'CREATED AT']);
    for (const role of ['admin', 'cluster-admin', 'edit', 'view', 'system:discovery']) {
      assert.match(table, new RegExp(`^${role} `, 'm'));
    }
    assert.match(await kubectl.ok('get clusterrole view -o yaml'), /- pods\/log\n/);
    const binding = await kubectl.ok('get clusterrolebinding cluster-admin -o wide');
    assert.match(binding, /ClusterRole\/cluster-admin +\S+ +system:masters/);
  });
});

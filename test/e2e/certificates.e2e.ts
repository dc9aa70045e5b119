// Certificate requests of kubelets on a real API server, approved by the controller with the rights
// of deploy/ only. An instance's own request is approved immediately; all others stay pending, with
// an event that states the reason. None is denied.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createKubeClient, loadKubeconfig } from '../../src/adapters/kube/index.ts';
import { certificateGrants } from '../../src/api/controller-rights.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { createCertificateController } from '../../src/controllers/certificates/index.ts';
import { ensureCrds } from '../../src/controllers/crds.ts';
import { createNodeGroupInformer, createNodeInformer } from '../../src/controllers/informers.ts';
import { wallClock } from '../../src/main/wall-clock.ts';
import { SeededRandom } from '../../world/kernel/random.ts';
import { FakeCloud } from '../builders/controllers-cloud.ts';
import { CollectingLog } from '../builders/runtime.ts';
import { requestCertificate } from '../support/certificates.ts';
import { eventually } from '../support/demo-world.ts';
import { type RawKube, rawKube } from '../support/kube-raw.ts';
import {
  type RunningCluster,
  startRealCluster,
  whyNoRealCluster,
} from '../support/real-cluster.ts';
import { controllerRights } from '../support/rights.ts';
import { skipWhen } from '../support/stories.ts';

const whyNot = whyNoRealCluster();
const title = 'certificate requests on a real API server';
const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const user = 'drover-controller';

const instances: Readonly<Record<string, { readonly name: string; readonly address: string }>> = {
  'i-00000000000000001': { name: 'ip-10-0-0-1.ec2.internal', address: '10.0.0.1' },
  'i-00000000000000002': { name: 'ip-10-0-0-2.ec2.internal', address: '10.0.0.2' },
  'i-00000000000000003': { name: 'ip-10-0-0-3.ec2.internal', address: '10.0.0.3' },
};
const nameOf = (n: number): string => `ip-10-0-0-${n}.ec2.internal`;
const idOf = (n: number): string => `i-0000000000000000${n}`;

/** EC2's answer: three instances; the third was launched a moment ago, in a Drover group. */
const cloudOf = (groupUid: string): FakeCloud => {
  const cloud = new FakeCloud(wallClock);
  cloud.putGroup('asg-1', {
    tags: { 'drover.dev/nodegroup-uid': groupUid },
    instances: [{ instanceId: idOf(3) }],
  });
  cloud.describeInstances = async (ids) =>
    ids.flatMap((instanceId) => {
      const known = instances[instanceId];
      if (known === undefined) return [];
      return [
        {
          instanceId,
          state: 'running',
          privateDnsName: known.name,
          addresses: [known.address],
          instanceType: 'm5.large',
          imageId: 'ami-1',
          availabilityZone: 'eu-west-1a',
          launchTime: new Date().toISOString(),
        },
      ];
    });
  return cloud;
};

describe(title, { skip: skipWhen(title, whyNot), timeout: 300_000 }, () => {
  let cluster: RunningCluster;
  let raw: RawKube;
  const stop = new AbortController();
  const working: Promise<unknown>[] = [];
  let close = async (): Promise<void> => {};

  const apply = async (path: string, body: JsonObject): Promise<JsonObject> => {
    const answer = await raw('POST', path, { body });
    assert.ok(answer.code < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const pathOf = ({ kind, metadata }: JsonObject): string => {
    const { namespace } = objectOr(metadata);
    const where = namespace === undefined ? '' : `/namespaces/${namespace}`;
    return `/apis/rbac.authorization.k8s.io/v1${where}/${String(kind).toLowerCase()}s`;
  };

  before(async () => {
    const started = await startRealCluster();
    if (!started.available) throw new Error(started.reason);
    cluster = started;
    raw = rawKube(cluster.kubeconfigPath);
    const subject = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user };
    const grants = [
      ...controllerRights(user),
      ...certificateGrants(`${user}-certificates`, subject),
    ];
    for (const object of grants) await apply(pathOf(object), object);
    const apiGroup = 'rbac.authorization.k8s.io';
    await apply(`/apis/${apiGroup}/v1/clusterrolebindings`, {
      metadata: { name: 'kubelets-ask' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:node-bootstrapper' },
      subjects: ['system:bootstrappers', 'system:nodes', 'people'].map((name) => ({
        apiGroup,
        kind: 'Group',
        name,
      })),
    });
    for (const n of [1, 2]) {
      const spec = { providerID: `aws:///eu-west-1a/${idOf(n)}` };
      await apply('/api/v1/nodes', { metadata: { name: nameOf(n) }, spec });
    }
    const access = await loadKubeconfig({
      path: await cluster.kubeconfigFor(`CN=${user}`),
      env: {},
    });
    const kube = createKubeClient({ ...access, userAgent: 'drover/test' });
    const log = new CollectingLog();
    const random = (purpose: string) => SeededRandom.split(1, purpose);
    const base = { kube, clock: wallClock, log };
    await ensureCrds({ ...base, random: random('crds') }, stop.signal);
    const group = await apply('/apis/drover.dev/v1alpha1/nodegroups', {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroup',
      metadata: { name: 'ng' },
      spec: {
        clusterName: 'c',
        autoScalingGroupName: 'asg-1',
        amiType: 'AL2023_x86_64_STANDARD',
        capacityType: 'ON_DEMAND',
        instanceTypes: ['m5.large'],
        nodeRole: 'arn:aws:iam::111111111111:role/nodes',
        version: '1.32',
        subnets: ['subnet-1'],
        scaling: { minSize: 0, maxSize: 3 },
      },
    });
    const nodes = createNodeInformer({ ...base, random: random('nodes') });
    const nodeGroups = createNodeGroupInformer({ ...base, random: random('groups') });
    const approver = createCertificateController({
      ...base,
      random: random('certificates'),
      journal: { record: () => {} },
      cloud: cloudOf(String(objectOr(group.metadata).uid)),
      nodes,
      nodeGroups,
    });
    for (const each of [nodes, nodeGroups, approver]) working.push(each.run(stop.signal));
    close = () => kube.close();
  });
  after(async () => {
    stop.abort();
    await Promise.allSettled(working);
    await close();
    await cluster?.stop();
  });

  let asked = 0;
  const ask = async (
    who: { readonly as: string; readonly groups: readonly string[] },
    request: string,
    spec: JsonObject = {},
  ): Promise<string> => {
    asked += 1;
    const name = `csr-${asked}`;
    const body = {
      metadata: { name },
      spec: {
        signerName: 'kubernetes.io/kubelet-serving',
        usages: ['digital signature', 'server auth'],
        request: Buffer.from(request).toString('base64'),
        ...spec,
      },
    };
    const { as, groups } = who;
    const all = [...groups, 'system:authenticated'];
    const made = await raw('POST', csrs, { body, as, groups: all });
    assert.equal(made.code, 201, JSON.stringify(made.body));
    return name;
  };
  const node = (n: number) => ({ as: `system:node:${nameOf(n)}`, groups: ['system:nodes'] });
  const subjectOf = (n: number): string => `O=system:nodes, CN=system:node:${nameOf(n)}`;
  const serving = async (n: number, names: readonly string[]): Promise<string> =>
    (await requestCertificate(subjectOf(n), names)).request;
  const conditionsOf = async (name: string): Promise<readonly JsonObject[]> => {
    const { body } = await raw('GET', `${csrs}/${name}`);
    const { conditions } = objectOr(body.status);
    return Array.isArray(conditions) ? conditions.map(objectOr) : [];
  };
  const approved = (name: string): Promise<JsonObject> =>
    eventually(`${name} is approved`, async () => (await conditionsOf(name))[0]);
  const eventsOf = async (name: string): Promise<readonly JsonObject[]> => {
    const selector = `fieldSelector=involvedObject.name=${name}`;
    const { body } = await raw('GET', `/api/v1/namespaces/default/events?${selector}`);
    return Array.isArray(body.items) ? body.items.map(objectOr) : [];
  };
  const leftPending = async (name: string, reason: string, words: RegExp): Promise<void> => {
    const event = await eventually(`${name} is told of`, async () => (await eventsOf(name))[0]);
    assert.equal(event.reason, `NotApproved${reason}`);
    assert.match(String(event.message), words);
    assert.deepEqual(await conditionsOf(name), []);
  };

  it('a node gets a serving certificate for its own name and address', async () => {
    const name = await ask(node(1), await serving(1, [nameOf(1), '10.0.0.1']));
    const condition = await approved(name);
    assert.equal(condition.type, 'Approved');
    assert.equal(condition.reason, 'DroverApproved');
    assert.match(String(condition.message), /serving certificate is that of i-00000000000000001$/);
  });

  const refusals: readonly (readonly [string, () => Promise<string>, string, RegExp])[] = [
    [
      'the address of another instance',
      async () => ask(node(1), await serving(1, [nameOf(1), '10.0.0.2'])),
      'ForeignAddress',
      /10\.0\.0\.2 is no address of i-00000000000000001/,
    ],
    [
      'a name that begins with its own',
      async () => ask(node(1), await serving(1, [`${nameOf(1)}.example.com`])),
      'ForeignName',
      /example\.com is no name of/,
    ],
    [
      'a certificate for clients, too',
      async () =>
        ask(node(2), await serving(2, [nameOf(2)]), {
          usages: ['digital signature', 'server auth', 'client auth'],
        }),
      'WrongUsages',
      /not \[digital signature, server auth\]/,
    ],
    [
      'a node that is there is somebody else’s',
      async () => {
        const { request } = await requestCertificate(subjectOf(2));
        const who = { as: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
        const signerName = 'kubernetes.io/kube-apiserver-client-kubelet';
        return ask(who, request, { signerName, usages: ['digital signature', 'client auth'] });
      },
      'NodeExists',
      /there is such a node/,
    ],
    [
      'an instance that is in no group',
      async () => {
        const { request } = await requestCertificate('O=system:nodes, CN=system:node:elsewhere');
        const who = { as: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
        const signerName = 'kubernetes.io/kube-apiserver-client-kubelet';
        return ask(who, request, { signerName, usages: ['digital signature', 'client auth'] });
      },
      'NoInstance',
      /no instance has the name elsewhere/,
    ],
    [
      'a person',
      async () => ask({ as: 'ann', groups: ['people'] }, await serving(1, [nameOf(1)])),
      'WrongRequestor',
      /ann asks for/,
    ],
  ];
  for (const [what, asking, reason, words] of refusals) {
    it(`is left pending, with an event: ${what}`, async () => {
      await leftPending(await asking(), reason, words);
    });
  }

  it('a new instance with a bootstrap token gets its client certificate', async () => {
    const { request } = await requestCertificate(subjectOf(3));
    const who = { as: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
    const signerName = 'kubernetes.io/kube-apiserver-client-kubelet';
    const usages = ['digital signature', 'client auth'];
    const name = await ask(who, request, { signerName, usages });
    assert.match(String((await approved(name)).message), /client certificate is that of i-0+3$/);
  });

  it('requests of other signers are no one’s business here', async () => {
    const { request } = await requestCertificate('CN=ann');
    const signerName = 'kubernetes.io/kube-apiserver-client';
    const who = { as: 'ann', groups: ['people'] };
    const name = await ask(who, request, { signerName, usages: ['client auth'] });
    const later = await ask(node(2), await serving(2, [nameOf(2), '10.0.0.2']));
    await approved(later);
    assert.deepEqual(await conditionsOf(name), []);
    assert.deepEqual(await eventsOf(name), []);
  });
});

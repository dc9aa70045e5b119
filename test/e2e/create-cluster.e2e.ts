// The ClusterConfigs of articles 003 and 004, unchanged, each in its own world: cluster, network,
// log streams, node groups. The tests also cover configurations that a world refuses.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { article004 } from '../support/article-004.ts';
import { missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
const emptyWorld = ['--port', '0', '--speed', '20'];

const noLeaving = 'nodes are made in this story, and none of them leaves';
const nothingLeaves = {
  'evictions-within-budgets': noLeaving,
  'nothing-forced-early': noLeaving,
  'marks-before-eviction': noLeaving,
  'evictions-sent-once': noLeaving,
  'only-drainable-pods': noLeaving,
  'hooks-never-run-out': noLeaving,
  'hooks-complete-when-empty': noLeaving,
  'foreign-hooks-left-alone': noLeaving,
  'marks-undone': noLeaving,
  'journal-economics': noLeaving,
  'intent-before-effect': noLeaving,
  'everything-ends': noLeaving,
  'no-hot-loop': noLeaving,
  'fixed-state-writes-nothing':
    'the story ends when the nodes are there, before anything is at rest',
};

// From article 003.
const bottlerocket = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig

metadata:
  name: bys-dev-eks-sec
  region: ap-northeast-2

vpc:
  id: "vpc-0ca96cd5c37d3bae8"
  subnets:
    private:
      bys-dev-sbn-az1-app:
          id: "subnet-0ea5be4984975e8ed"
      bys-dev-sbn-az2-app:
          id: "subnet-0b4076508ce121c27"

managedNodeGroups:
  - name: ng-bottlerocket
    amiFamily: Bottlerocket
    instanceType: m5.large
    volumeSize: 20
    minSize: 2
    maxSize: 4
    desiredCapacity: 2
    privateNetworking: true
    subnets:
      - bys-dev-sbn-az1-app
      - bys-dev-sbn-az2-app
    ssh:
      allow: true
      publicKeyName: "bys-console"
    tags:
      auto-delete: "no"
`;

const accessEntries = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: entries, region: eu-west-1}
accessConfig:
  authenticationMode: API
  accessEntries:
    - principalARN: arn:aws:iam::111111111111:user/dev
      kubernetesUsername: dev
      kubernetesGroups: [viewers]
      accessPolicies:
        - policyARN: arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy
          accessScope: {type: namespace, namespaces: [default]}
`;

const inFiles = (): {
  readonly file: (name: string, text: string) => string;
  clean: () => void;
} => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-config-'));
  return {
    file: (name, text) => {
      writeFileSync(join(dir, name), text);
      return join(dir, name);
    },
    clean: () => rmSync(dir, { recursive: true, force: true }),
  };
};

describe('drover create cluster', {
  skip: skipWhen('drover create cluster', whyNot),
  timeout: 300_000,
}, () => {
  const files = inFiles();
  after(() => files.clean());

  describe('with the file of article 004', () => {
    let world: ServedWorld;
    const json = async (...args: readonly string[]): Promise<never> =>
      JSON.parse((await world.aws(...args)).stdout) as never;
    const suite = suiteWorld({
      args: emptyWorld,
      judged: { settled: true, exempt: nothingLeaves },
    });
    before(() => {
      world = suite.world;
    });

    it('makes cluster, network and two nodes, and tells it', async () => {
      const ran = await world.drover('create', 'cluster', '-f', files.file('004.yaml', article004));
      assert.equal(ran.code, 0, ran.stderr + ran.stdout);
      for (const line of [
        /nothing is made in ap-northeast-1: this world's zones are eu-west-1a, eu-west-1b, eu-west-1c\n/,
        /subnets for eu-west-1a - public:192\.168\.0\.0\/19 private:192\.168\.96\.0\/19\n/,
        /CloudWatch logging will be enabled for cluster "test-cluster": audit, authenticator/,
        /--nodes-min=2 was set automatically for nodegroup ng-1\n/,
        /created 1 managed nodegroup\(s\) in cluster "test-cluster"\n/,
        /EKS cluster "test-cluster" in "ap-northeast-1" region is ready\n/,
      ]) {
        assert.match(ran.stdout, line);
      }
      const nodes = await world.kubectl('get', 'nodes', '--no-headers');
      assert.equal(nodes.stdout.match(/ Ready /g)?.length, 2, nodes.stdout);
    });

    it('has the log streams that enableTypes names, and no other', async () => {
      const { cluster } = (await json('eks', 'describe-cluster', '--name', 'test-cluster')) as {
        cluster: {
          version: string;
          identity: { oidc: { issuer: string } };
          logging: { clusterLogging: { types: string[]; enabled: boolean }[] };
        };
      };
      assert.equal(cluster.version, '1.31');
      assert.match(cluster.identity.oidc.issuer, /^https:\/\//);
      const enabled = cluster.logging.clusterLogging.filter((setup) => setup.enabled);
      assert.deepEqual(enabled.flatMap((setup) => setup.types).sort(), [
        'audit',
        'authenticator',
        'controllerManager',
        'scheduler',
      ]);
      const group = ['--log-group-name', '/aws/eks/test-cluster/cluster'];
      const { logStreams } = (await json('logs', 'describe-log-streams', ...group)) as {
        logStreams: { logStreamName: string }[];
      };
      assert.deepEqual(
        logStreams.map(({ logStreamName }) => logStreamName.replace(/-[0-9a-f]{32}$/, '')).sort(),
        [
          'authenticator',
          'cloud-controller-manager',
          'kube-apiserver-audit',
          'kube-controller-manager',
          'kube-scheduler',
        ],
      );
    });

    it('keeps nodeRepairConfig as it was asked for', async () => {
      const where = ['--cluster-name', 'test-cluster', '--nodegroup-name', 'ng-1'];
      const { nodegroup } = (await json('eks', 'describe-nodegroup', ...where)) as {
        nodegroup: { status: string; nodeRepairConfig: { enabled: boolean } };
      };
      assert.equal(nodegroup.status, 'ACTIVE');
      assert.equal(nodegroup.nodeRepairConfig.enabled, true);
    });

    it('is listed in eksctl columns', async () => {
      const ran = await world.drover('get', 'cluster', '--region', 'ap-northeast-1');
      assert.match(ran.stdout, /^NAME +REGION +EKSCTL CREATED\ntest-cluster +eu-west-1 +True\n$/);
    });

    it('a second cluster is refused, with the remedy', async () => {
      const ran = await world.drover('create', 'cluster', '--name', 'other');
      assert.equal(ran.code, 3, ran.stdout);
      assert.match(
        ran.stderr,
        /this world has its cluster \(test-cluster\) .* `drover up --data-dir/,
      );
      const again = await world.drover('create', 'cluster', '--name', 'test-cluster');
      assert.equal(again.code, 3);
      assert.match(again.stderr, /cluster test-cluster exists already; `drover create nodegroup`/);
    });

    const head = 'apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\n';
    const cases: readonly (readonly [string, string, RegExp])[] = [
      [
        'Auto Mode',
        `${head}metadata: {name: a, region: eu-west-1}\nautoModeConfig:\n  enabled: true\n`,
        /x\.yaml:5:12: autoModeConfig\.enabled cannot be true: Auto Mode nodes are run by EKS/,
      ],
      [
        'a field that is none',
        `${head}metadata: {name: a, region: eu-west-1}\nmanagedNodegroups: []\n`,
        /x\.yaml:4:1: managedNodegroups is no field; did you mean managedNodeGroups\?/,
      ],
      ['what is no YAML', '{', /x\.yaml:\d+:\d+: /],
    ];
    for (const [what, text, message] of cases) {
      it(`with ${what}: line, column, and nothing is asked of anybody`, async () => {
        const ran = await world.drover('create', 'cluster', '-f', files.file('x.yaml', text));
        assert.equal(ran.code, 2, ran.stdout);
        assert.match(ran.stderr, message);
      });
    }
  });

  describe('with the file of article 003', () => {
    let world: ServedWorld;
    const suite = suiteWorld({
      args: emptyWorld,
      judged: { settled: true, exempt: nothingLeaves },
    });
    before(() => {
      world = suite.world;
    });

    it('makes network, key pair and group in the subnets that the file names by id', async () => {
      const ran = await world.drover(
        'create',
        'cluster',
        '-f',
        files.file('003.yaml', bottlerocket),
      );
      assert.equal(ran.code, 0, ran.stderr + ran.stdout);
      assert.match(
        ran.stdout,
        /using existing VPC \(vpc-0ca96cd5c37d3bae8\) and subnets of the file/,
      );
      assert.match(ran.stdout, /nodegroup "ng-bottlerocket" will use "" \[Bottlerocket\/1\.32\]/);
      const labels = 'alpha.eksctl.io/nodegroup-name=ng-bottlerocket';
      const nodes = await world.kubectl('get', 'nodes', '-l', labels, '--no-headers');
      assert.equal(nodes.stdout.match(/ Ready /g)?.length, 2, nodes.stdout);
      const where = ['--cluster-name', 'bys-dev-eks-sec', '--nodegroup-name', 'ng-bottlerocket'];
      const { nodegroup } = JSON.parse(
        (await world.aws('eks', 'describe-nodegroup', ...where)).stdout,
      ) as { nodegroup: Record<string, unknown> };
      assert.equal(nodegroup.amiType, 'BOTTLEROCKET_x86_64');
      assert.deepEqual((nodegroup.subnets as string[]).toSorted(), [
        'subnet-0b4076508ce121c27',
        'subnet-0ea5be4984975e8ed',
      ]);
      assert.deepEqual(nodegroup.scalingConfig, { minSize: 2, maxSize: 4, desiredSize: 2 });
      assert.equal((nodegroup.tags as Record<string, string>)['auto-delete'], 'no');
    });
  });

  describe('with access entries', () => {
    let world: ServedWorld;
    const suite = suiteWorld({
      args: emptyWorld,
      judged: {
        settled: true,
        exempt: { ...nothingLeaves, 'desired-within-bounds': 'no group is made' },
      },
    });
    before(() => {
      world = suite.world;
    });

    it('lets in whom the file names, with their policies, and identity show lists them', async () => {
      const file = files.file('entries.yaml', accessEntries);
      const ran = await world.drover('create', 'cluster', '-f', file);
      assert.equal(ran.code, 0, ran.stderr + ran.stdout);
      assert.match(
        ran.stdout,
        /creating access entry for principal ARN arn:aws:iam::1{12}:user\/dev\n/,
      );
      const user = ['--principal-arn', 'arn:aws:iam::111111111111:user/dev'];
      const found = await world.aws(
        ...['eks', 'list-associated-access-policies', '--cluster-name', 'entries', ...user],
      );
      assert.match(found.stdout, /AmazonEKSViewPolicy[\s\S]*"namespaces": \[\s*"default"/);
      const shown = await world.drover('identity', 'show');
      assert.match(
        shown.stdout,
        /^arn:aws:iam::1{12}:user\/dev +STANDARD +dev +viewers +AmazonEKSViewPolicy@default *$/m,
      );
    });
  });
});

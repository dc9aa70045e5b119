// Mistakes of users in user data and identity, each named after the issue that reported it and made
// only through a user's own means. Each ends in NodeCreationFailure, and the first reported cause
// is the right one.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { isObject, objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import type { JoinCause } from '../../src/core/explain/index.ts';
import { exampleAuthority } from '../../src/formats/index.ts';
import { requestCertificate } from '../support/certificates.ts';
import { explained } from '../support/explained.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
const one = { scalingConfig: { minSize: 0, maxSize: 2, desiredSize: 1 } };
const ca = exampleAuthority;

const mime = (part: string, closing = '--//--'): string =>
  `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//\n${part}\n${closing}\n`;
const nodeConfig = (cluster: string): string =>
  `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n${cluster}`;
const whole = `    name: c\n    apiServerEndpoint: https://kubernetes.world\n    certificateAuthority: ${ca}\n    cidr: 10.100.0.0/16\n`;
const type = 'Content-Type: application/node.eks.aws\n';

interface Planted {
  readonly name: string;
  /** User data of the user's own launch template, which also names its own image. */
  readonly userData?: string;
  /** Path of the public parameter that names the image; otherwise an unknown image. */
  readonly image?: string;
  /** Changes mapRoles as a user did; `role` is the node role's ARN as mapRoles must contain it. */
  readonly mapRoles?: (mapRoles: string, role: string) => string;
  readonly first: {
    readonly code: JoinCause['code'];
    readonly what: unknown;
    readonly evidence?: unknown;
  };
}

const saying = (text: RegExp): unknown => expect.stringMatching(text);

const planted: readonly Planted[] = [
  {
    name: 'a MIME part without the blank line after its headers (amazon-eks-ami#2318)',
    userData: mime(`${type}${nodeConfig(whole)}`),
    first: { code: 'UserData', what: saying(/MIME001/) },
  },
  {
    name: 'a NodeConfig after the closing boundary (article 003, eksctl#7749)',
    userData: `${mime('Content-Type: text/x-shellscript\n\n#!/bin/bash\ntrue')}--//\n${type}\n${nodeConfig(whole)}\n--//--\n`,
    first: { code: 'UserData', what: saying(/NC002/) },
  },
  {
    name: 'a NodeConfig without its cluster beside an own image (amazon-eks-ami#2123)',
    userData: mime(`${type}\n${nodeConfig('    name: c\n')}`),
    first: { code: 'UserData', what: saying(/NC002/) },
  },
  {
    name: 'a certificate authority that is no base64, which drops the whole part (article 003)',
    userData: mime(`${type}\n${nodeConfig(whole.replace(ca, '...XRob3JpdHk=='))}`),
    first: { code: 'UserData', what: saying(/NC003|NC006/) },
  },
  {
    name: 'a taint without an effect (article 003)',
    userData:
      "#!/bin/bash\n/etc/eks/bootstrap.sh c --kubelet-extra-args '--register-with-taints=taint1=true'\n",
    first: { code: 'UserData', what: saying(/TN001/) },
  },
  {
    name: 'a call of bootstrap.sh on an image of Amazon Linux 2023, which has none (EKS user guide)',
    userData: '#!/bin/bash\n/etc/eks/bootstrap.sh c\n',
    image: 'amazon-linux-2023/x86_64/standard',
    first: { code: 'UserData', what: saying(/FAM001: .*Amazon Linux 2 .*Amazon Linux 2023/) },
  },
  {
    name: 'a label that a kubelet may not set (derailed/k9s#1240)',
    userData:
      "#!/bin/bash\n/etc/eks/bootstrap.sh c --kubelet-extra-args '--node-labels=node-role.kubernetes.io/a=b'\n",
    first: { code: 'UserData', what: saying(/LB001/) },
  },
  {
    name: 'the name of another cluster',
    userData: '#!/bin/bash\n/etc/eks/bootstrap.sh other\n',
    first: { code: 'ClusterNotFound', what: saying(/a cluster that does not exist/) },
  },
  {
    name: 'the endpoint of another cluster',
    userData: `#!/bin/bash\n/etc/eks/bootstrap.sh c --apiserver-endpoint https://other.example --b64-cluster-ca ${ca}\n`,
    first: { code: 'WrongEndpoint', what: saying(/endpoint that is not the cluster’s/) },
  },
  {
    name: 'an aws-auth that was written over without the nodes (terraform-aws-eks#2644)',
    mapRoles: () => '- rolearn: arn:aws:iam::111111111111:role/admin\n  username: admin\n',
    first: { code: 'RoleNotMapped', what: saying(/is not in kube-system\/aws-auth/) },
  },
  {
    name: 'the node role a second time with another user, the last one counts (amazon-eks-ami#610)',
    mapRoles: (text, role) => `${text}- rolearn: ${role}\n  username: test\n  groups: [a]\n`,
    first: {
      code: 'RoleMappedWrongly',
      evidence: expect.arrayContaining([saying(/its user is test.*2 entries.*AUTH002/)]),
      what: saying(/an identity that is not a node/),
    },
  },
];

const imageOf = (life: GroupLife, path: string): string => {
  const Name = `/aws/service/eks/optimized-ami/1.32/${path}/recommended/image_id`;
  const found = life.world.aws.call('ssm', 'GetParameter', { Name });
  return String(objectOr(objectOr(found).Parameter).Value);
};

/** Only images of Amazon Linux 2 contain bootstrap.sh. */
const usualImage = (userData: string): string =>
  userData.includes('bootstrap.sh') ? 'amazon-linux-2' : 'amazon-linux-2023/x86_64/standard';

const withUserData = async (
  life: GroupLife,
  userData: string,
  image: string | undefined,
): Promise<JsonObject> => {
  const made = life.world.aws.call('ec2', 'CreateLaunchTemplate', {
    LaunchTemplateName: 'mine',
    LaunchTemplateData: {
      ImageId: imageOf(life, image ?? usualImage(userData)),
      UserData: btoa(userData),
    },
  });
  const id = objectOr(objectOr(made).LaunchTemplate).LaunchTemplateId;
  return { launchTemplate: { id: String(id) } };
};

const plant = async (life: GroupLife, { userData, image, mapRoles }: Planted): Promise<void> => {
  const more = userData === undefined ? {} : await withUserData(life, userData, image);
  await life.create({ ...one, ...more, nodeRole: life.createRole('mine') });
  await life.until('the role is let in', () => life.mapRoles().includes('role/mine'), 60);
  const role = 'arn:aws:iam::111111111111:role/mine';
  if (mapRoles !== undefined) life.putMapRoles(mapRoles(life.mapRoles(), role));
};

describe('a planted mistake is named first', () => {
  it('a certificate request that no one answers, before what the console ends with', async () => {
    const life = await GroupLife.begin();
    await life.create({ ...one, nodeRole: life.createRole('mine') });
    await life.until('the role is let in', () => life.mapRoles().includes('role/mine'), 60);
    life.putMapRoles('[]');
    await life.driver.advance(120);
    const [instance] = life.autoScalingGroups().flatMap(({ Instances }) => objectsOf(Instances));
    const { request } = await requestCertificate(
      `CN=system:node:${String(instance?.InstanceId)},O=system:nodes`,
    );
    life.make(resourceTypes.certificatesigningrequests, undefined, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'csr-mine' },
      spec: {
        request: btoa(request),
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        // Not the usages of a kubelet's certificate, so Kubernetes' approver ignores the request.
        usages: ['digital signature', 'client auth', 'server auth'],
      },
    });
    await life.until('EKS gives up', () => life.state() === 'CREATE_FAILED', 1000);
    const what = 'its request for a client certificate is pending: the kubelet registers no node';
    expect((await explained(life))[0]).toMatchObject({ code: 'CertificatePending', what });
    const issue = life.group()?.status?.health?.[0];
    expect(issue?.code).toBe('NodeCreationFailure');
    expect(issue?.message).toContain(what);
    await life.end();
  });

  it.each(planted)('$name', async (fault) => {
    const life = await GroupLife.begin();
    await plant(life, fault);
    await life.driver.advance(120);
    const [soon] = await explained(life);
    expect(soon).toMatchObject({ ...fault.first, certainty: 'shown' });
    expect(soon?.remedy.length).toBeGreaterThan(0);
    await life.until('EKS gives up', () => life.state() === 'CREATE_FAILED', 1000);
    const [first] = await explained(life);
    expect(first).toMatchObject({ ...fault.first, certainty: 'shown' });
    const issue = life.group()?.status?.health?.[0];
    expect(issue?.code).toBe('NodeCreationFailure');
    expect(issue?.message).toContain(first?.what);
    await life.end();
  });

  it.each([
    [
      'a private endpoint that its security groups are not let in to',
      { endpointPrivateAccess: true },
      { code: 'SecurityGroups', what: saying(/do not let it reach the private endpoint/) },
    ],
    [
      'an endpoint that is public for others alone',
      { publicAccessCidrs: ['198.51.100.0/24'] },
      { code: 'EndpointAccess', what: saying(/public for some addresses alone/) },
    ],
  ] as const)('%s', async (_name, resourcesVpcConfig, first) => {
    const life = await GroupLife.begin();
    const call = life.world.aws.call.bind(life.world.aws);
    call('eks', 'UpdateClusterConfig', {
      name: 'c',
      resourcesVpcConfig: JSON.parse(JSON.stringify(resourcesVpcConfig)) as JsonObject,
    });
    const cluster = () => objectOr(objectOr(call('eks', 'DescribeCluster', { name: 'c' })).cluster);
    await life.until('the cluster is ACTIVE again', () => cluster().status === 'ACTIVE', 1200);
    const group = { GroupName: 'mine', Description: 'mine', VpcId: life.facts.vpcId };
    const { GroupId } = objectOr(call('ec2', 'CreateSecurityGroup', group));
    const LaunchTemplateData = { SecurityGroupIds: [String(GroupId)] };
    const made = call('ec2', 'CreateLaunchTemplate', {
      LaunchTemplateName: 'm',
      LaunchTemplateData,
    });
    const id = String(objectOr(objectOr(made).LaunchTemplate).LaunchTemplateId);
    await life.create({ ...one, launchTemplate: { id }, nodeRole: life.createRole('mine') });
    await life.until('EKS gives up', () => life.state() === 'CREATE_FAILED', 1200);
    expect((await explained(life))[0]).toMatchObject({ ...first, certainty: 'shown' });
    const issue = life.group()?.status?.health?.[0];
    expect(issue?.code).toBe('NodeCreationFailure');
    expect(issue?.message).toEqual(first.what);
    await life.end();
  });

  it('a group without a mistake has no cause, while it boots and when it has joined', async () => {
    const life = await GroupLife.begin();
    await life.create({ ...one, nodeRole: life.createRole('mine') });
    const instances = () => life.autoScalingGroups().flatMap((group) => group.Instances);
    await life.until('its instance is there', () => instances().length === 1, 60);
    expect(await explained(life)).toEqual([]);
    await life.until('it is ACTIVE', () => life.isActive(1), 120);
    expect(await explained(life)).toEqual([]);
    await life.end();
  });
});

// Article 003's Windows nodes with the real clients: a managed group through aws, and an IIS pod
// that gets no address and reports the article's message. drover explain names the ConfigMap,
// kubectl applies it, and the pod runs. World time skips the waits.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually, missing } from '../support/demo-world.ts';
import { stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
/** As article 003 prints it. */
const configMap = join(import.meta.dirname, '..', 'articles', 'user-data', 'amazon-vpc-cni.yaml');

const app = `apiVersion: apps/v1
kind: Deployment
metadata: {name: windows-server-iis, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: windows-server-iis}}
  template:
    metadata: {labels: {app: windows-server-iis}}
    spec:
      nodeSelector: {kubernetes.io/os: windows}
      containers:
      - {name: iis, image: "mcr.microsoft.com/windows/servercore/iis:windowsservercore-ltsc2022"}
`;
const selected = '-l app=windows-server-iis';

interface Explanation {
  readonly causes: readonly { readonly code: string; readonly certainty: string }[];
}

describe('a Windows node group', { skip: skipWhen('a Windows node group', whyNot) }, () => {
  it('runs pods once the VPC CNI is told of Windows', async () => {
    // No node is disrupted, so no oracle applies.
    await inWorld({ unjudged: true }, async (world) => {
      const drover = stepsOf('drover', (args) => world.drover(...args));
      const aws = stepsOf('aws', (args) => world.aws(...args));
      const kubectl = stepsOf('kubectl', (args, input) =>
        input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
      );
      const demo = '--cluster-name ironman-2022 --nodegroup-name demo-ng --output text';
      const get = async (field: string): Promise<string> =>
        (await aws.ok(`eks describe-nodegroup ${demo} --query nodegroup.${field}`)).trim();
      // Its own role: Linux nodes whose role has the Windows group lose their network.
      const trust = '{"Version":"2012-10-17","Statement":[]}';
      const role = await aws.ok(
        'iam create-role --role-name win --query Role.Arn --output text --assume-role-policy-document',
        trust,
      );
      await aws.ok(
        `eks create-nodegroup --cluster-name ironman-2022 --nodegroup-name win --subnets ${await get('subnets')} ` +
          `--node-role ${role.trim()} --ami-type WINDOWS_CORE_2022_x86_64 --instance-types m5.large ` +
          '--scaling-config minSize=0,maxSize=2,desiredSize=1',
      );
      await eventually('its node is Ready', async () => {
        await drover.ok('world advance 30s');
        const nodes = await kubectl.ok('get nodes -l kubernetes.io/os=windows');
        return / Ready /.test(nodes);
      });
      const wide = await kubectl.ok('get nodes -o wide -l kubernetes.io/os=windows');
      assert.match(wide, /Windows Server 2022 Datacenter +10\.0\.20348/);
      const ids = await kubectl.ok(
        'get nodes -l kubernetes.io/os=windows -o jsonpath={.items[0].spec.providerID}',
      );
      const console = await aws.ok(
        `ec2 get-console-output --output text --instance-id ${ids.trim().split('/').at(-1)}`,
      );
      assert.match(
        console,
        /\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\dZ: OsProductName: Windows Server 2022 Datacenter/,
      );
      assert.match(console, /Windows is Ready to use/);
      assert.doesNotMatch(console, /systemd|cloud-init|Linux version/);
      const condition = async (): Promise<string> =>
        kubectl.ok(
          'get ng win -o jsonpath={.status.conditions[?(@.type=="WindowsSupported")].reason}',
        );
      await eventually('the group says what its pods will lack', async () => {
        await drover.ok('world advance 30s');
        return (await condition()) === 'WindowsAddresses';
      });
      const mapRoles = await kubectl.ok(
        '-n kube-system get configmap aws-auth -o jsonpath={.data.mapRoles}',
      );
      assert.match(mapRoles, /eks:kube-proxy-windows/);

      await kubectl.okWith(app, 'apply -f -');
      const pod = async (): Promise<string> =>
        (await kubectl.ok(`get pods ${selected} -o jsonpath={.items[0].metadata.name}`)).trim();
      await eventually('its pod is refused an address', async () => {
        await drover.ok('world advance 30s');
        const events = await kubectl.ok(
          'get events --field-selector reason=FailedCreatePodSandBox',
        );
        return events.includes(
          'plugin type="vpc-bridge" name="vpc" failed (add): failed to parse Kubernetes args: ' +
            `failed to get pod IP address ${await pod()}: error executing k8s connector: error executing ` +
            `connector binary: exit status 1 with execution error: pod ${await pod()} does not have label ` +
            'vpc.amazonaws.com/PrivateIPv4Address',
        );
      });
      assert.match(await kubectl.ok(`get pods ${selected}`), /0\/1 +ContainerCreating/);

      const text = await drover.ok('explain nodegroup win');
      assert.match(
        text,
        /1\. shown: pods on its nodes get no address: ConfigMap kube-system\/amazon-vpc-cni/,
      );
      assert.match(text, /evidence: there is no ConfigMap kube-system\/amazon-vpc-cni/);
      assert.match(text, /remedy: +\$ kubectl -n kube-system create configmap amazon-vpc-cni/);
      const { causes } = JSON.parse(await drover.ok('explain ng win -o json')) as Explanation;
      assert.deepEqual(
        causes.map(({ code }) => code),
        ['WindowsAddresses'],
      );

      await kubectl.okWith(await readFile(configMap, 'utf8'), 'apply -f -');
      // The waiting pod was created before the ConfigMap, so its owner must recreate it.
      await kubectl.ok(`delete pods ${selected}`);
      await eventually('its pod runs', async () => {
        await drover.ok('world advance 30s');
        return /1\/1 +Running/.test(await kubectl.ok(`get pods ${selected}`));
      });
      assert.match(await drover.ok('explain nodegroup win'), /nothing keeps its nodes out/);
      await eventually('the group says that it has all', async () => {
        await drover.ok('world advance 60s');
        return (await condition()) === 'Supported';
      });
    });
  });
});

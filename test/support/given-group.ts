// An Auto Scaling group of two that an operator created with their own launch template, in a small
// cluster in virtual time: adopted by a NodeGroup, observed from outside.
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife, type GroupLifeOptions } from './nodegroup-world.ts';

const name = 'mine';

export class GivenGroup {
  readonly life: GroupLife;

  private constructor(life: GroupLife) {
    this.life = life;
  }

  /** Two instances have joined; no NodeGroup names the group yet. */
  static async begin(options: GroupLifeOptions = {}, more: JsonObject = {}): Promise<GivenGroup> {
    const life = await GroupLife.begin(options);
    const given = new GivenGroup(life);
    const base = life.autoScalingGroups('base')[0];
    const template = given.#makeTemplate(String(objectOr(base?.LaunchTemplate).LaunchTemplateId));
    life.fromOutside('CreateAutoScalingGroup', {
      AutoScalingGroupName: name,
      MinSize: 0,
      MaxSize: 3,
      DesiredCapacity: 2,
      VPCZoneIdentifier: String(base?.VPCZoneIdentifier),
      LaunchTemplate: { LaunchTemplateId: template, Version: '1' },
      Tags: [{ Key: 'team', Value: 'blue', PropagateAtLaunch: true }],
      ...more,
    });
    await life.driver.advance(60);
    return given;
  }

  /** Creates the operator's template: a copy of `like` with another label. Returns its id. */
  #makeTemplate(like: string): string {
    const { aws } = this.life.world;
    const asked = { LaunchTemplateId: like, Versions: ['1'] };
    const answer = objectOr(aws.call('ec2', 'DescribeLaunchTemplateVersions', asked));
    const [row] = answer.LaunchTemplateVersions as JsonObject[];
    const data = objectOr(row?.LaunchTemplateData);
    const text = atob(String(data.UserData)).replace(
      /--node-labels=\S+/,
      '--node-labels=team=blue',
    );
    const input = {
      LaunchTemplateName: 'theirs',
      LaunchTemplateData: { ...data, UserData: btoa(text) },
    };
    const made = objectOr(aws.call('ec2', 'CreateLaunchTemplate', input));
    return String(objectOr(made.LaunchTemplate).LaunchTemplateId);
  }

  /** Deploys a web app on its nodes with a budget that allows `unavailable`. */
  deploy(replicas: number, unavailable: number): void {
    this.life.deployOn({ team: 'blue' }, replicas, unavailable);
  }

  /** Creates a NodeGroup that names its group, with `spec`; returns its uid. */
  adopt(spec: JsonObject = {}, nodeGroup = 'ng'): string {
    const made = this.life.createGroup({
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroup',
      metadata: { name: nodeGroup },
      spec: { autoScalingGroupName: name, ...spec },
    });
    return String(objectOr(made.metadata).uid);
  }

  putHook(hook: string, transition: 'LAUNCHING' | 'TERMINATING', more: JsonObject = {}): void {
    this.life.fromOutside('PutLifecycleHook', {
      AutoScalingGroupName: name,
      LifecycleHookName: hook,
      LifecycleTransition: `autoscaling:EC2_INSTANCE_${transition}`,
      HeartbeatTimeout: 60,
      DefaultResult: 'CONTINUE',
      ...more,
    });
  }

  /** After this, no message of the queue reaches the controllers. */
  async loseMessages(): Promise<void> {
    this.life.faults = {
      cloudCall: (operation) =>
        operation === 'ReceiveMessage' ? { kind: 'refused', code: 'ServerError' } : { kind: 'ok' },
    };
    await this.life.driver.advance(25);
  }

  // ---- state of AWS and the cluster ----

  autoScalingGroup(): JsonObject | undefined {
    const answer = this.#call('DescribeAutoScalingGroups', { AutoScalingGroupNames: [name] });
    return (answer.AutoScalingGroups as JsonObject[])[0];
  }

  hooks(): readonly JsonObject[] {
    const answer = this.#call('DescribeLifecycleHooks', { AutoScalingGroupName: name });
    return answer.LifecycleHooks as JsonObject[];
  }

  tags(): Readonly<Record<string, string>> {
    const all = (this.autoScalingGroup()?.Tags ?? []) as { Key: string; Value: string }[];
    return Object.fromEntries(all.map(({ Key, Value }) => [Key, Value]));
  }

  instances(): readonly JsonObject[] {
    return (this.autoScalingGroup()?.Instances ?? []) as JsonObject[];
  }

  instanceIds(): readonly string[] {
    return this.instances().map((one) => String(one.InstanceId));
  }

  node(instanceId: string): JsonObject | undefined {
    return [...this.life.world.kube.readAll(resourceTypes.nodes)].find((node) =>
      String(objectOr(node.spec).providerID).endsWith(`/${instanceId}`),
    );
  }

  disruption(instanceId: string): JsonObject | undefined {
    return this.life.world.kube.read(resourceTypes.nodedisruptions, { name: instanceId });
  }

  events(reason: string): readonly string[] {
    return [...this.life.world.kube.readAll(resourceTypes.events)]
      .filter((event) => objectOr(event).reason === reason)
      .map((event) => String(objectOr(event).message));
  }

  #call(operation: string, input: JsonObject): JsonObject {
    return objectOr(this.life.world.aws.call('autoscaling', operation, input));
  }
}

// EC2's own events on EventBridge: state changes, spot interruption warnings, rebalance
// recommendations. Wording and fields: EC2 user guide, "spot-interruptions" and "rebalance".
import type { EventBus } from '../messaging/event-bus.ts';
import type { Scope } from '../scope.ts';
import type { InstanceRow } from './instance-row.ts';
import type { Instances } from './instances.ts';

const groupTag = 'aws:autoscaling:groupName';

export class Ec2Notices {
  readonly #scope: Scope;
  readonly #events: EventBus;
  readonly #instances: Instances;

  /** Called with each recommendation; Auto Scaling listens here. */
  onRebalance: (instanceId: string) => void = () => undefined;

  constructor(scope: Scope, events: EventBus, instances: Instances) {
    this.#scope = scope;
    this.#events = events;
    this.#instances = instances;
    instances.onStateChange(({ instance }) => {
      this.#put(instance, 'EC2 Instance State-change Notification', { state: instance.state });
    });
  }

  /**
   * Sends the two-minute warning and then ends a spot instance; an on-demand instance only gets the
   * warning. Returns false for an instance that is not running.
   */
  interrupt(instanceId: string): boolean {
    const instance = this.#running(instanceId);
    if (instance === undefined) return false;
    this.#put(instance, 'EC2 Spot Instance Interruption Warning', {
      'instance-action': 'terminate',
    });
    if (instance.capacityType === 'SPOT') this.#instances.scheduleReclaim(instanceId);
    return true;
  }

  recommendRebalance(instanceId: string): boolean {
    const instance = this.#running(instanceId);
    if (instance === undefined) return false;
    this.#put(instance, 'EC2 Instance Rebalance Recommendation', {});
    this.onRebalance(instanceId);
    return true;
  }

  #running(instanceId: string): InstanceRow | undefined {
    const instance = this.#instances.get(instanceId);
    return instance?.state === 'running' ? instance : undefined;
  }

  #put(instance: InstanceRow, detailType: string, detail: Readonly<Record<string, string>>): void {
    const { instanceId, tags } = instance;
    this.#events.put({
      source: 'aws.ec2',
      detailType,
      resources: [this.#scope.arn('ec2', `instance/${instanceId}`)],
      detail: { 'instance-id': instanceId, ...detail },
      group: tags[groupTag],
    });
  }
}

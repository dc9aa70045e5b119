// Events that EC2 schedules for instances: host maintenance and retirement. DescribeInstanceStatus
// lists them, AWS Health announces them on EventBridge, and they take effect at their time.
// Sources: EC2 user guide, "Scheduled events for your instances"; AWS Health user guide,
// "EventBridge".
import type { JsonObject } from '../../../src/api/json.ts';
import { hexString, microsPerMs, type Table, type WorldEvent } from '../../kernel/index.ts';
import type { EventBus } from '../messaging/event-bus.ts';
import { isoSeconds, type Scope } from '../scope.ts';
import type { Instances } from './instances.ts';

export type ScheduledEventCode = 'instance-retirement' | 'system-reboot';

export type ScheduledEventRow = {
  readonly id: string;
  readonly instanceId: string;
  readonly code: ScheduledEventCode;
  readonly state: 'scheduled' | 'completed' | 'canceled';
  readonly notBefore: number;
  readonly notAfter: number;
  /** ARN of the AWS Health event. */
  readonly arn: string;
  readonly startedAt: number;
};

const component = 'aws.ec2.scheduled-events';
const groupTag = 'aws:autoscaling:groupName';
const hourMs = 3_600_000;
/** EC2 lists completed and canceled events for about a week. */
const shownMs = 7 * 24 * hourMs;

interface Kind {
  readonly description: string;
  readonly typeCode: string;
  /** The description that AWS Health sends. */
  readonly told: string;
  /** Time from the announcement to the event; two weeks for a retirement, as in EC2. */
  readonly aheadMs: number;
  readonly windowMs: number;
}

const kinds: Readonly<Record<ScheduledEventCode, Kind>> = {
  'instance-retirement': {
    description: 'The instance is running on degraded hardware',
    typeCode: 'AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED',
    told:
      'EC2 has detected degradation of the underlying hardware hosting one or more of your ' +
      'instances. They will be stopped at the time given as the start of this event.',
    aheadMs: 14 * 24 * hourMs,
    windowMs: 0,
  },
  'system-reboot': {
    description: 'The instance is scheduled for a reboot',
    typeCode: 'AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED',
    told:
      'One or more of your instances are scheduled to be rebooted for maintenance of their ' +
      'host.',
    aheadMs: 7 * 24 * hourMs,
    windowMs: 2 * hourMs,
  },
};

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `Sat, 05 Jun 2027 15:10:09 GMT`: the time format of AWS Health. */
const healthTime = (ms: number): string => {
  const [date = '', time = ''] = isoSeconds(ms).replace('Z', '').split('T');
  const [year = '', month = '', day = ''] = date.split('-');
  const weekday = weekdays[(Math.floor(ms / (24 * hourMs)) + 4) % 7];
  return `${weekday}, ${day} ${months[Number(month) - 1]} ${year} ${time} GMT`;
};

export class ScheduledEvents {
  readonly #scope: Scope;
  readonly #bus: EventBus;
  readonly #instances: Instances;
  readonly #rows: Table<ScheduledEventRow>;

  constructor(scope: Scope, bus: EventBus, instances: Instances) {
    this.#scope = scope;
    this.#bus = bus;
    this.#instances = instances;
    this.#rows = scope.kernel.tables.open<ScheduledEventRow>('aws/ec2/scheduled-events');
    scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
  }

  /**
   * Announces an event. Returns false if the instance is not running or already has such an event.
   */
  schedule(instanceId: string, code: ScheduledEventCode): boolean {
    const known = this.of(instanceId).some((row) => row.code === code && row.state === 'scheduled');
    if (known || this.#instances.get(instanceId)?.state !== 'running') return false;
    const { aheadMs, windowMs, typeCode } = kinds[code];
    const now = this.#scope.now();
    // Whole seconds, as in all outputs of this time.
    const notBefore = Math.ceil((now + aheadMs) / 1000) * 1000;
    const random = this.#scope.kernel.random(component);
    const unique = `${typeCode}_${hexString(random, 32)}`;
    const row: ScheduledEventRow = {
      id: this.#scope.id(component, 'instance-event'),
      instanceId,
      code,
      state: 'scheduled',
      notBefore,
      notAfter: notBefore + windowMs,
      arn: `arn:aws:health:${this.#scope.region}::event/EC2/${typeCode}/${unique}`,
      startedAt: now,
    };
    this.#rows.put(row.id, row);
    this.#tell(row, 'upcoming');
    this.#later('due', row, notBefore - now);
    return true;
  }

  /** Cancels all future events of `code`, or all; returns their number. */
  cancel(code?: ScheduledEventCode): number {
    const doomed = [...this.#rows.values()].filter(
      (row) => row.state === 'scheduled' && (code === undefined || row.code === code),
    );
    for (const row of doomed) this.#close(row, 'canceled');
    return doomed.length;
  }

  of(instanceId: string): readonly ScheduledEventRow[] {
    return [...this.#rows.values()].filter((row) => row.instanceId === instanceId);
  }

  /** The event in the shape of DescribeInstanceStatus. */
  describe(row: ScheduledEventRow): {
    readonly InstanceEventId: string;
    readonly Code: string;
    readonly Description: string;
    readonly NotBefore: number;
    readonly NotAfter?: number;
  } {
    const prefix = { scheduled: '', completed: '[Completed] ', canceled: '[Canceled] ' }[row.state];
    return {
      InstanceEventId: row.id,
      Code: row.code,
      Description: `${prefix}${kinds[row.code].description}`,
      NotBefore: row.notBefore,
      ...(row.notAfter === row.notBefore ? {} : { NotAfter: row.notAfter }),
    };
  }

  #handle({ kind, args }: WorldEvent): void {
    const row = this.#rows.get(String(args.id));
    if (row === undefined) return;
    if (kind === 'forget') this.#rows.delete(row.id);
    else if (kind === 'due' && row.state === 'scheduled') {
      if (row.code === 'system-reboot') this.#instances.reboot(row.instanceId);
      else this.#instances.stop(row.instanceId);
      this.#close(row, 'completed');
    }
  }

  #close(row: ScheduledEventRow, state: 'completed' | 'canceled'): void {
    const closed = { ...row, state };
    this.#rows.put(row.id, closed);
    this.#tell(closed, 'closed');
    this.#later('forget', closed, shownMs);
  }

  #later(kind: string, { id }: ScheduledEventRow, afterMs: number): void {
    const afterMicros = afterMs * microsPerMs;
    this.#scope.kernel.schedule({ afterMicros, actor: component, kind, args: { id } });
  }

  #tell(row: ScheduledEventRow, statusCode: 'upcoming' | 'closed'): void {
    const { typeCode, told } = kinds[row.code];
    const lastUpdatedTime = healthTime(this.#scope.now());
    const status = statusCode === 'closed' ? 'RESOLVED' : 'PENDING';
    const detail: JsonObject = {
      eventArn: row.arn,
      service: 'EC2',
      eventScopeCode: 'ACCOUNT_SPECIFIC',
      communicationId: `${row.id.slice(-16)}-1`,
      eventTypeCode: typeCode,
      eventTypeCategory: 'scheduledChange',
      startTime: healthTime(row.notBefore),
      endTime: healthTime(row.notAfter),
      lastUpdatedTime,
      statusCode,
      eventRegion: this.#scope.region,
      eventDescription: [{ language: 'en_US', latestDescription: told }],
      affectedEntities: [{ entityValue: row.instanceId, lastUpdatedTime, status }],
      affectedAccount: this.#scope.account,
      page: '1',
      totalPages: '1',
    };
    this.#bus.put({
      source: 'aws.health',
      detailType: 'AWS Health Event',
      resources: [row.instanceId],
      detail,
      group: this.#instances.get(row.instanceId)?.tags[groupTag],
    });
  }
}

// The health issues of a node group, with EKS' codes: failed launches, instances that never become
// nodes. Codes and messages: EKS API reference, Issue, followed by EC2's own message. Pure.
import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import type { HealthIssue } from '../../api/nodegroup.ts';

/** EKS' time limit for a new node to join (EKS user guide, "troubleshooting"). */
export const joinTimeoutMs = 15 * 60_000;

/** Bounds of the status; the rest is cut off. */
const maxIssues = 20;
const maxResources = 20;
const maxMessage = 2_000;

/** EC2's code or message in an activity, and EKS' code for it; first match wins. */
const launchCodes: readonly (readonly [RegExp, string])[] = [
  [/InsufficientFreeAddresses|not enough free addresses/i, 'InsufficientFreeAddresses'],
  [/InstanceLimitExceeded|VcpuLimitExceeded|MaxSpotInstanceCount/, 'InstanceLimitExceeded'],
  [/InvalidSubnetID|subnet ID '.*' does not exist/i, 'Ec2SubnetNotFound'],
  [/InvalidGroup|security group '.*' does not exist/i, 'Ec2SecurityGroupNotFound'],
  // Precedes the template's pattern: Auto Scaling refuses a template because of an invalid part.
  [/InvalidAMIID|image id '.*' does not exist/i, 'AmiIdNotFound'],
  [/launch template.*(?:not exist|version)|InvalidLaunchTemplate/i, 'Ec2LaunchTemplateNotFound'],
  [/role with name .* cannot be found/i, 'IamNodeRoleNotFound'],
  [/instance profile/i, 'IamInstanceProfileNotFound'],
  [/Invalid value .* for InstanceType/i, 'Ec2InstanceTypeDoesNotExist'],
  [/not authorized|AccessDenied|UnauthorizedOperation/i, 'AccessDenied'],
];

/** EKS' code for EC2's message when a launch or a call of Drover's was refused. */
export const codeOfRefusal = (message: string, otherwise: string): string =>
  launchCodes.find(([pattern]) => pattern.test(message))?.[1] ?? otherwise;

interface Activity {
  readonly description: string;
  readonly status: string;
  readonly message: string;
  readonly startedAt: string;
}

/** Auto Scaling's description of a launch, from a warm pool, too; excludes terminations. */
const isLaunch = ({ description }: Activity): boolean => description.startsWith('Launching ');

/** At most this many distinct messages per code; a group has about as many subnets. */
const maxMessages = 6;

/**
 * The launches that failed since the last successful one, one issue per code. Each subnet has its
 * own message.
 */
export const launchIssues = (
  activities: readonly Activity[],
  autoScalingGroupName: string,
): readonly HealthIssue[] => {
  const launches = activities.filter(isLaunch);
  const lastGood = launches.findIndex(({ status }) => status === 'Successful');
  const failed = (lastGood < 0 ? launches : launches.slice(0, lastGood)).filter(
    ({ status }) => status === 'Failed' || status === 'Cancelled',
  );
  const messages = new Map<string, Set<string>>();
  for (const { message } of failed) {
    const code = codeOfRefusal(message, 'AsgInstanceLaunchFailures');
    messages.set(code, (messages.get(code) ?? new Set()).add(message));
  }
  return [...messages].map(([code, said]) => ({
    code,
    // Sorted, so that the message does not depend on the zone that was tried last.
    message: [...said].slice(0, maxMessages).toSorted().join(' '),
    resourceIds: [autoScalingGroupName],
  }));
};

export interface Unjoined {
  readonly instanceId: string;
  /** EC2's instance state. */
  readonly state: string;
  readonly launchTime: string | undefined;
  /** Its node exists but is not Ready. */
  readonly hasNode: boolean;
  readonly console: string | undefined;
}

/** Joining takes a minute or more; a node that needs less than this is not reported. */
export const usualJoinMs = 120_000;

export const isLate = (
  { launchTime }: Unjoined,
  now: EpochMs,
  afterMs: number = joinTimeoutMs,
): boolean => now - (parseTime(launchTime) ?? now) >= afterMs;

/** When the first of these instances counts as late. */
export const lateAt = (
  unjoined: readonly Unjoined[],
  now: EpochMs,
  afterMs: number = joinTimeoutMs,
): EpochMs | undefined => {
  const times = unjoined
    .map(({ launchTime }) => (parseTime(launchTime) ?? now) + afterMs)
    .filter((at) => at > now);
  return times.length === 0 ? undefined : epochMs(Math.min(...times));
};

const lastLine = (console: string | undefined): string =>
  (console ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .at(-1) ?? '';

/** Why instances do not join, as ranked by core/explain. */
export interface KnownCause {
  /** A sentence without a full stop. */
  readonly what: string;
  readonly instances: readonly string[];
}

/**
 * The last line of the console output and its meaning, or that of another finding. Without a full
 * stop.
 */
export const whyUnjoined = (
  { instanceId, console }: Pick<Unjoined, 'instanceId' | 'console'>,
  causes: readonly KnownCause[],
): string => {
  const line = lastLine(console);
  const said = line === '' ? 'its console says nothing' : `its console ends with "${line}"`;
  const cause =
    causes.find(({ instances }) => instances.includes(instanceId)) ??
    causes.find(({ instances }) => instances.length === 0);
  const means = cause === undefined ? '' : ` (${cause.what})`;
  return `${said}${means}`;
};

const describe = (one: Unjoined, causes: readonly KnownCause[]): string => {
  const { instanceId, state, launchTime, hasNode } = one;
  const node = hasNode ? 'its node is not Ready' : 'it never became a node';
  return (
    `${instanceId} (${state} since ${launchTime ?? '?'}): ${node}, ` + `${whyUnjoined(one, causes)}`
  );
};

/** EKS' sentence, then what is known of each instance. `causes`: most certain first. */
export const joinIssue = (
  late: readonly Unjoined[],
  causes: readonly KnownCause[],
): HealthIssue | undefined =>
  late.length === 0
    ? undefined
    : {
        code: 'NodeCreationFailure',
        message: `Instances failed to join the kubernetes cluster. ${late
          .slice(0, 3)
          .map((one) => describe(one, causes))
          .join('; ')}`,
        resourceIds: late.map(({ instanceId }) => instanceId),
      };

/** How often texts may be halved to fit. Names are cut first, then issues. */
export const maxHalvings = 7;

/** The issue within its bounds, each of them halved `halvings` times. */
export const boundedIssue = (
  { code, message, resourceIds }: HealthIssue,
  halvings = 0,
): HealthIssue => ({
  code,
  message: message.slice(0, Math.max(100, maxMessage >> halvings)),
  resourceIds: resourceIds.slice(0, Math.max(1, maxResources >> halvings)),
});

export const bounded = (issues: readonly HealthIssue[], halvings = 0): readonly HealthIssue[] =>
  issues
    .slice(0, Math.max(1, maxIssues >> Math.max(0, halvings - 3)))
    .map((issue) => boundedIssue(issue, halvings));

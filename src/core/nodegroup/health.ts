// What is wrong with a node group, in EKS' codes: launches that fail, instances that never become
// nodes. Codes and messages: EKS API reference, Issue; EC2's own words follow. Pure.
import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import type { HealthIssue } from '../../api/nodegroup.ts';

/** EKS gives a new node this long to join (EKS user guide, "troubleshooting"). */
export const joinTimeoutMs = 15 * 60_000;

/** Bounds of the status: what does not fit is cut. */
const maxIssues = 20;
const maxResources = 20;
const maxMessage = 2_000;

/** EC2's code or words in an activity's message, and what EKS calls it; first match wins. */
const launchCodes: readonly (readonly [RegExp, string])[] = [
  [/InsufficientFreeAddresses|not enough free addresses/i, 'InsufficientFreeAddresses'],
  [/InstanceLimitExceeded|VcpuLimitExceeded|MaxSpotInstanceCount/, 'InstanceLimitExceeded'],
  [/InvalidSubnetID|subnet ID '.*' does not exist/i, 'Ec2SubnetNotFound'],
  [/InvalidGroup|security group '.*' does not exist/i, 'Ec2SecurityGroupNotFound'],
  // Before the template's: Auto Scaling refuses a template by what is wrong in it.
  [/InvalidAMIID|image id '.*' does not exist/i, 'AmiIdNotFound'],
  [/launch template.*(?:not exist|version)|InvalidLaunchTemplate/i, 'Ec2LaunchTemplateNotFound'],
  [/role with name .* cannot be found/i, 'IamNodeRoleNotFound'],
  [/instance profile/i, 'IamInstanceProfileNotFound'],
  [/Invalid value .* for InstanceType/i, 'Ec2InstanceTypeDoesNotExist'],
  [/not authorized|AccessDenied|UnauthorizedOperation/i, 'AccessDenied'],
];

/** EKS' code for what EC2 said when a launch, or a call of ours, was refused. */
export const codeOfRefusal = (message: string, otherwise: string): string =>
  launchCodes.find(([pattern]) => pattern.test(message))?.[1] ?? otherwise;

interface Activity {
  readonly description: string;
  readonly status: string;
  readonly message: string;
  readonly startedAt: string;
}

/** Auto Scaling's words for a launch, one out of a warm pool too; a termination is none. */
const isLaunch = ({ description }: Activity): boolean => description.startsWith('Launching ');

/** So many different messages of one code are told: a group has about as many subnets. */
const maxMessages = 6;

/**
 * The launches that failed since the last one that succeeded, one issue per code: each subnet has
 * words of its own.
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
    // In an order of their own: which zone was tried last is no news.
    message: [...said].slice(0, maxMessages).toSorted().join(' '),
    resourceIds: [autoScalingGroupName],
  }));
};

export interface Unjoined {
  readonly instanceId: string;
  /** EC2's own word. */
  readonly state: string;
  readonly launchTime: string | undefined;
  /** Its node is there, though not Ready. */
  readonly hasNode: boolean;
  readonly console: string | undefined;
}

/** A node needs a minute or more from its launch on: before that nothing is wrong. */
export const usualJoinMs = 120_000;

export const isLate = (
  { launchTime }: Unjoined,
  now: EpochMs,
  afterMs: number = joinTimeoutMs,
): boolean => now - (parseTime(launchTime) ?? now) >= afterMs;

/** When the first of them is late. */
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

/** Why instances do not join, as core/explain ranks it. */
export interface KnownCause {
  /** A sentence without a full stop. */
  readonly what: string;
  readonly instances: readonly string[];
}

/** The last line of its console, and what that or anything else means. Without a full stop. */
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

/** EKS' sentence, then what is known of each: `causes`, the surest first. */
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

/** How often what is told may be halved to fit; names first go to one, then issues do. */
export const maxHalvings = 7;

/** Within its bounds, each of them halved so many times. */
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

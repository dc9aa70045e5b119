// Why instances of a node group do not become nodes: every cause that the evidence shows or
// suggests, the most certain first, with its evidence and remedy. Pure: looks nothing up, and names
// no cause without evidence.
import { parseTime } from '../../api/brand.ts';
import { consoleCause, namesReason } from './joining-console.ts';
import {
  certainties,
  type JoinCause,
  type JoinEvidence,
  type JoiningInstance,
} from './joining-evidence.ts';
import { networkCauses } from './joining-network.ts';
import { requestCause } from './joining-requests.ts';
import { roleCauses } from './joining-role.ts';
import { userDataCauses } from './joining-user-data.ts';
import { windowsCauses } from './joining-windows.ts';

const launchCauses = ({ failedLaunches }: JoinEvidence): readonly JoinCause[] =>
  failedLaunches.map(({ code, message }) => ({
    code: 'LaunchFailed',
    certainty: 'shown',
    what: `instances cannot be launched (${code})`,
    evidence: [`scaling activity: ${message}`],
    remedy: [
      'Fix the cause in that message; Auto Scaling then launches again by itself',
      '$ aws autoscaling describe-scaling-activities --max-items 5',
    ],
    instances: [],
  }));

const nodeCause = (instance: JoiningInstance): JoinCause | undefined => {
  const { node, instanceId } = instance;
  if (node === undefined) return undefined;
  const { name, notReady, hasGroupLabel } = node;
  if (!hasGroupLabel) {
    return {
      code: 'NodeWithoutLabels',
      certainty: 'shown',
      what:
        'the node joined without the label eks.amazonaws.com/nodegroup, by which its group ' +
        'counts it',
      evidence: [`node ${name} of ${instanceId} lacks the label`],
      remedy: [
        'Let the bootstrap run once: a second call, or one before EKS’, registers the node ' +
          'first and without its labels',
      ],
      instances: [instanceId],
    };
  }
  return {
    code: 'NodeNotReady',
    certainty: 'shown',
    what: 'the node has joined and is not Ready',
    evidence: [`node ${name}: ${notReady ?? 'no Ready condition yet'}`],
    remedy: [`$ kubectl describe node ${name}`],
    instances: [instanceId],
  };
};

const stoppedCause = ({ instanceId, state }: JoiningInstance): JoinCause | undefined =>
  state === 'pending' || state === 'running'
    ? undefined
    : {
        code: 'InstanceStopped',
        certainty: 'shown',
        what: `the instance is ${state}`,
        evidence: [`EC2: ${instanceId} is ${state}`],
        remedy: [`$ aws ec2 describe-instances --instance-ids ${instanceId}`],
        instances: [instanceId],
      };

const instanceCause = (instance: JoiningInstance, evidence: JoinEvidence): JoinCause | undefined =>
  nodeCause(instance) ??
  stoppedCause(instance) ??
  requestCause(instance) ??
  consoleCause(instance, evidence);

const unknownCause = (instances: readonly JoiningInstance[]): JoinCause => {
  const [first] = instances;
  return {
    code: 'Unknown',
    certainty: 'possible',
    what: 'nothing that was looked at explains it',
    evidence: ['user data, role and consoles show no fault'],
    remedy: [
      `$ aws ec2 get-console-output --latest --instance-id ${first?.instanceId ?? 'INSTANCE'}`,
      'Look at what cannot be seen from here: routes to the API endpoint, network ACLs, and ' +
        'endpoints of EC2, ECR and S3 in subnets without internet access',
    ],
    instances: instances.map(({ instanceId }) => instanceId),
  };
};

/** Nodes join within two or three minutes; after this, `explain` reports a missing node. */
const patienceMs = 5 * 60_000;

const keyOf = ({ code, what }: JoinCause): string => `${code} ${what}`;

/** Merges equal causes: combines their instances and evidence, keeps the higher certainty. */
const merged = (causes: readonly JoinCause[]): readonly JoinCause[] => {
  const known = new Map<string, JoinCause>();
  for (const cause of causes) {
    const before = known.get(keyOf(cause));
    if (before === undefined) {
      known.set(keyOf(cause), cause);
      continue;
    }
    const surer = certainties.indexOf(cause.certainty) < certainties.indexOf(before.certainty);
    known.set(keyOf(cause), {
      ...before,
      certainty: surer ? cause.certainty : before.certainty,
      evidence: [...new Set([...before.evidence, ...cause.evidence])],
      instances: [...new Set([...before.instances, ...cause.instances])],
    });
  }
  return [...known.values()];
};

const causesOf = (cause: JoinCause | undefined): readonly JoinCause[] =>
  cause === undefined ? [] : [cause];

/**
 * The causes in order of certainty, then of the number of instances affected. Instances' own
 * messages come before what the group's definition suggests. Empty: no cause was found.
 */
export const joinCauses = (evidence: JoinEvidence): readonly JoinCause[] => {
  const { instances, now } = evidence;
  const ofInstances = instances.flatMap((instance) => [
    ...causesOf(instanceCause(instance, evidence)),
    // Further evidence about a node that exists and is not Ready.
    ...causesOf(instance.node === undefined ? undefined : requestCause(instance)),
  ]);
  const waiting = instances.filter(
    (instance) => instance.node === undefined && !ofInstances.some(covers(instance)),
  );
  const hasMute = instances.some(
    ({ node, console }) => node === undefined && !namesReason(console),
  );
  const roles = roleCauses(evidence);
  const network = networkCauses(evidence);
  // If every instance named its reason, the group's definition adds only noise, except for faults
  // that do not prevent joining.
  const suggested =
    waiting.length > 0 || hasMute
      ? [...userDataCauses(evidence), ...roles, ...network]
      : [
          ...roles.filter(({ certainty }) => certainty === 'possible'),
          ...network.filter(({ code }) => code === 'NoAddresses'),
        ];
  const windows = windowsCauses(evidence);
  const causes = merged([...launchCauses(evidence), ...ofInstances, ...suggested, ...windows]);
  const order = (a: JoinCause, b: JoinCause): number =>
    certainties.indexOf(a.certainty) - certainties.indexOf(b.certainty) ||
    b.instances.length - a.instances.length;
  const ranked = causes.toSorted(order);
  const overdue = waiting.filter(
    ({ launchTime }) => now - (parseTime(launchTime) ?? now) > patienceMs,
  );
  return ranked.length === 0 && overdue.length > 0 ? [unknownCause(overdue)] : ranked;
};

const covers =
  ({ instanceId }: JoiningInstance) =>
  ({ instances }: JoinCause): boolean =>
    instances.includes(instanceId);

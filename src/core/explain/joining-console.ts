// What an instance's console output says about why it does not join: messages of kubelet, nodeadm,
// the AWS CLI and the Go client, each with its meaning. Output without such a message names no
// cause.
import type {
  JoinCause,
  JoinCauseCode,
  JoinEvidence,
  JoiningInstance,
} from './joining-evidence.ts';
import { networkCauses } from './joining-network.ts';
import { roleCauses } from './joining-role.ts';
import { userDataCauses } from './joining-user-data.ts';

interface KnownMessage {
  readonly pattern: RegExp;
  readonly code: JoinCauseCode;
  readonly what: string;
  readonly remedy: readonly string[];
}

const network = 'the API server’s endpoint is not reached from the subnet';

/** The first match applies; the sources are the programs' own messages. */
const knownMessages: readonly KnownMessage[] = [
  {
    pattern: /No cluster found for name/,
    code: 'ClusterNotFound',
    what: 'its user data names a cluster that does not exist',
    remedy: ['Name the right cluster in the launch template'],
  },
  {
    pattern: /no such host/,
    code: 'WrongEndpoint',
    what: 'its user data names an endpoint that is not the cluster’s',
    remedy: ['$ aws eks describe-cluster --name {cluster} --query cluster.endpoint'],
  },
  {
    pattern: /connection refused/,
    code: 'WrongEndpoint',
    what: 'its user data names an endpoint where no API server answers',
    remedy: ['$ aws eks describe-cluster --name {cluster} --query cluster.endpoint'],
  },
  {
    pattern: /i\/o timeout|context deadline exceeded|Client\.Timeout|no route to host/,
    code: 'NoRouteToEndpoint',
    what: network,
    remedy: [
      'Let the node’s security group reach the cluster’s on port 443, and give the subnet a ' +
        'route (NAT or the private endpoint)',
    ],
  },
  {
    pattern: /x509: certificate signed by unknown authority|certificate verify failed/,
    code: 'WrongCertificateAuthority',
    what: 'its user data carries the certificate authority of another cluster',
    remedy: [
      '$ aws eks describe-cluster --name {cluster} --query cluster.certificateAuthority.data',
    ],
  },
  {
    pattern: /NoCredentialProviders|no EC2 IMDS role found|Unable to locate credentials/,
    code: 'NoCredentials',
    what: 'the instance has no role: no instance profile, or its metadata service is off',
    remedy: ['Give the launch template an instance profile that holds the node role'],
  },
  {
    pattern: /nodes is forbidden|cannot create resource \\?"nodes/,
    code: 'RoleMappedWrongly',
    what: 'the cluster maps its role to a user that is not a node',
    remedy: ['$ kubectl -n kube-system edit configmap aws-auth'],
  },
  {
    pattern: /Unauthorized|the server has asked for the client to provide credentials/,
    code: 'NotAuthorized',
    what: 'the cluster does not authorize its role',
    remedy: ['$ kubectl -n kube-system get configmap aws-auth -o yaml'],
  },
];

/**
 * Where aws-auth is not used, the authorization of a kubelet depends on how the cluster was set up.
 */
const remedyWithoutMap = [
  'EKS: $ aws eks list-access-entries --cluster-name {cluster} names the node role, of type ' +
    'EC2_LINUX or EC2_WINDOWS',
  'kubeadm: $ kubeadm token create --print-join-command, and put the new token into the user data',
];

/** Where aws-auth maps the role to a node, the refusal has another reason. */
const refusedThoughMapped = {
  what: 'the cluster refuses its credentials, although kube-system/aws-auth has the node role',
  remedy: [
    'Compare the role that it has: $ aws ec2 describe-instances --instance-ids {instance} ' +
      "--query 'Reservations[].Instances[].IamInstanceProfile'",
    'EKS: the control plane log of type authenticator has the ARN that was refused, and why',
  ],
};

const isMapped = (evidence: JoinEvidence): boolean =>
  evidence.roleArn !== undefined &&
  evidence.roles.kind === 'map' &&
  roleCauses(evidence).every(({ certainty }) => certainty === 'possible');

/** What a failed bootstrap script prints after its name. */
const userDataPattern =
  /bootstrap: user data: (?<said>.*)$|nodeadm.*"error":\s?"(?<error>[^"]*)"|cluster name is not defined!/;

const maxLines = 400;

const linesOf = (console: string | undefined): readonly string[] =>
  (console ?? '')
    .split('\n')
    .slice(-maxLines)
    .map((line) => line.trim())
    .filter((line) => line !== '');

const isComplaint = (line: string): boolean =>
  userDataPattern.test(line) || knownMessages.some(({ pattern }) => pattern.test(line));

/**
 * The newest line that names a reason. Older failures were followed by a retry that got further.
 */
const complaintOf = (console: string | undefined): string | undefined =>
  linesOf(console).findLast(isComplaint);

/** Whether the console names a reason for not joining. */
export const namesReason = (console: string | undefined): boolean =>
  complaintOf(console) !== undefined;

const quoted = (line: string): string =>
  line.length > 300 ? `"${line.slice(0, 299)}…"` : `"${line}"`;

/** A suggested cause that explains the console's message more precisely than the message itself. */
const refined = (
  said: JoinCause,
  suggested: readonly JoinCause[],
  codes: readonly JoinCauseCode[],
): JoinCause => {
  const found = suggested.find(({ code }) => codes.includes(code));
  if (found === undefined) return said;
  return {
    ...found,
    certainty: 'shown',
    evidence: [...said.evidence, ...found.evidence],
    instances: said.instances,
  };
};

const userDataCause = (said: JoinCause, line: string, evidence: JoinEvidence): JoinCause => {
  const findings = userDataCauses(evidence);
  const rule = /\b[A-Z]{2,5}\d{3}\b/.exec(line)?.[0];
  const same = findings.filter(({ what }) => rule !== undefined && what.includes(rule));
  return refined(said, same.length > 0 ? same : findings, ['UserData']);
};

/** The linter cannot detect the family of an image: without `--family` it guesses from the file. */
const lintCommand = (line: string, { userData }: JoinEvidence): string => {
  const isOwn = userData?.hasOwnImage === true;
  const needsFamily = isOwn || line.includes('FAM001');
  const family = needsFamily ? ` --family ${userData?.family ?? 'FAMILY'}` : '';
  return `$ drover userdata lint${isOwn ? ' --own-image' : ''}${family} FILE`;
};

export const consoleCause = (
  { instanceId, console }: JoiningInstance,
  evidence: JoinEvidence,
): JoinCause | undefined => {
  const line = complaintOf(console);
  if (line === undefined) return undefined;
  const base = {
    certainty: 'shown' as const,
    evidence: [`console of ${instanceId}: ${quoted(line)}`],
    instances: [instanceId],
  };
  const bad = userDataPattern.exec(line);
  if (bad !== null) {
    const words = bad.groups?.said ?? bad.groups?.error ?? 'the cluster name is missing';
    const what = `its user data starts no kubelet: ${words}`;
    const remedy = [lintCommand(line, evidence)];
    return userDataCause({ ...base, code: 'UserData', what, remedy }, line, evidence);
  }
  const saying = knownMessages.find(({ pattern }) => pattern.test(line));
  if (saying === undefined) return undefined;
  const { code, what } = saying;
  const isRole = code === 'NotAuthorized' || code === 'RoleMappedWrongly';
  const remedy = isRole && evidence.roles.kind === 'unused' ? remedyWithoutMap : saying.remedy;
  const meant = code === 'NotAuthorized' && isMapped(evidence) ? refusedThoughMapped : undefined;
  const filled = (text: string): string =>
    text.replace('{cluster}', evidence.cluster).replace('{instance}', instanceId);
  const told = meant ?? { what, remedy };
  const said = { ...base, code, what: told.what, remedy: told.remedy.map(filled) };
  if (code === 'NoRouteToEndpoint') {
    const own = networkCauses(evidence).filter(({ instances }) => instances.includes(instanceId));
    return refined(said, own, ['EndpointAccess', 'SecurityGroups']);
  }
  if (!isRole) return said;
  return refined(said, roleCauses(evidence), ['RoleNotMapped', 'RoleMappedWrongly']);
};

// Adds and removes node roles in kube-system/aws-auth: compare and swap on the ConfigMap's
// resourceVersion, with a backup first, so that a race loses no entry.
import type { EpochMs } from '../api/brand.ts';
import { resourceTypes } from '../api/kube.ts';
import {
  type AwsAuthMap,
  type AwsAuthPlan,
  awsAuthName,
  awsAuthRequest,
  type BackupsMap,
  backupsName,
  isAdmitted,
  planAdmission,
  planBackup,
  planRemoval,
  type RoleUser,
} from '../core/identity/index.ts';
import { familyOf } from '../core/nodegroup/index.ts';
import { awsAuthEntries, roleWithoutPath } from '../formats/index.ts';
import { type CloudApi, type KubeApi, KubeError, listNodeGroups } from '../ports/index.ts';
import { CommandError, exitCodes } from './context.ts';

const { configmaps } = resourceTypes;
/** Other writers exist, but write rarely. */
const attempts = 8;

const leftAlone = (why: string): CommandError =>
  new CommandError(
    exitCodes.refused,
    `ConfigMap kube-system/aws-auth cannot be changed: ${why}; correct it with ` +
      '`kubectl edit -n kube-system configmap aws-auth`',
  );

/** Undefined: the ConfigMap does not exist. */
export const readAwsAuth = async (kube: KubeApi): Promise<AwsAuthMap | undefined> => {
  const found = await kube.get<AwsAuthMap>(configmaps, awsAuthName);
  return found.kind === 'found' ? found.object : undefined;
};

export const readBackups = async (kube: KubeApi): Promise<BackupsMap | undefined> => {
  const found = await kube.get<BackupsMap>(configmaps, backupsName);
  return found.kind === 'found' ? found.object : undefined;
};

export interface IdentityChange {
  readonly kube: KubeApi;
  readonly now: EpochMs;
  /** For the backup: the operation that follows. */
  readonly what: string;
  readonly warn: (text: string) => void;
}

const backUp = async (
  { kube, now, what }: IdentityChange,
  map: AwsAuthMap | undefined,
): Promise<void> => {
  let backups = await readBackups(kube);
  for (;;) {
    const request = planBackup(backups, map, { before: what, now });
    if (request === undefined) return;
    if (request.verb === 'create') {
      await kube.create(configmaps, request.body, { namespace: backupsName.namespace });
      return;
    }
    const written = await kube.patch(configmaps, backupsName, {
      type: 'merge',
      body: request.body,
    });
    if (written.kind !== 'gone') return;
    // The map was deleted since it was read. Nothing is written before the current map is backed
    // up.
    backups = undefined;
  }
};

/** Carries out the plan for the current map; false when there was nothing to write. */
export const changeAwsAuth = async (
  change: IdentityChange,
  plan: (map: AwsAuthMap | undefined) => AwsAuthPlan,
): Promise<boolean> => {
  const { kube } = change;
  for (let attempt = 1; ; attempt += 1) {
    const map = await readAwsAuth(kube);
    const planned = plan(map);
    if (planned.kind === 'refused') throw leftAlone(planned.why);
    if (planned.kind === 'unchanged') return false;
    try {
      await backUp(change, map);
      const { verb, body } = awsAuthRequest(map, planned, 'all');
      if (verb === 'create') {
        await kube.create(configmaps, body, { namespace: awsAuthName.namespace });
      } else {
        const written = await kube.patch(configmaps, awsAuthName, { type: 'merge', body });
        if (written.kind === 'gone' && attempt < attempts) continue;
        if (written.kind === 'gone') throw leftAlone('it comes and goes');
      }
      for (const warning of planned.warnings) change.warn(warning);
      return true;
    } catch (error) {
      const raced =
        error instanceof KubeError && (error.code === 'Conflict' || error.code === 'AlreadyExists');
      if (!raced || attempt >= attempts) throw error;
    }
  }
};

/** False when the role was already authorized. */
export const addIdentity = (
  change: IdentityChange,
  roleArn: string,
  system: 'linux' | 'windows',
): Promise<boolean> => changeAwsAuth(change, (map) => planAdmission(map, roleArn, system));

/** An entry that Drover did not add stays: its author has to remove it. */
export const removeIdentity = async (
  change: IdentityChange,
  roleArn: string,
): Promise<'removed' | 'not-there' | 'not-ours'> => {
  if (await changeAwsAuth(change, (map) => planRemoval(map, roleArn))) return 'removed';
  const left = awsAuthEntries((await readAwsAuth(change.kube))?.data?.mapRoles) ?? [];
  const role = roleWithoutPath(roleArn).toLowerCase();
  return left.some(({ arn }) => arn.toLowerCase() === role) ? 'not-ours' : 'not-there';
};

/**
 * Throws CommandError when the map could not take a new role; called before anything is created.
 */
export const checkIdentities = async (kube: KubeApi): Promise<void> => {
  const plan = planAdmission(await readAwsAuth(kube), 'arn:aws:iam::000000000000:role/probe');
  if (plan.kind === 'refused') throw leftAlone(plan.why);
};

/** Whether the map authorizes this role as a node role. */
export const hasIdentity = async (kube: KubeApi, roleArn: string): Promise<boolean> =>
  isAdmitted(await readAwsAuth(kube), roleArn);

/**
 * Everything that launches nodes with a role: node groups, and the stacks of self-managed groups.
 */
export const roleUsers = async (kube: KubeApi, cloud: CloudApi): Promise<readonly RoleUser[]> => {
  const items = await listNodeGroups(kube);
  const groups = items.map(({ metadata, spec }): RoleUser => {
    const isWindows = familyOf(spec.amiType)?.bootstrap === 'powershell';
    return {
      name: `node group ${metadata.name}`,
      roleArn: spec.nodeRole,
      system: isWindows ? 'windows' : 'linux',
    };
  });
  const managed = new Set(items.map(({ status }) => status?.autoScalingGroupName));
  const stacks = (await cloud.listStacks()).flatMap((stack): readonly RoleUser[] => {
    const { autoScalingGroupName, nodeRole, status, name } = stack;
    if (autoScalingGroupName === undefined || nodeRole === undefined) return [];
    if (managed.has(autoScalingGroupName) || status.startsWith('DELETE_COMPLETE')) return [];
    // A self-managed group's operating system is known only from its launch template.
    return [{ name: `stack ${name}`, roleArn: nodeRole, system: undefined }];
  });
  return [...groups, ...stacks];
};

/** The names of the users of a role, by its ARN as in aws-auth. */
export const rolesInUse = async (
  kube: KubeApi,
  cloud: CloudApi,
): Promise<ReadonlyMap<string, string>> => {
  const users = Map.groupBy(await roleUsers(kube, cloud), ({ roleArn }) =>
    roleWithoutPath(roleArn),
  );
  return new Map([...users].map(([arn, those]) => [arn, those.map(({ name }) => name).join(', ')]));
};

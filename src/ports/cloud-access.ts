// Access to instances and their authorization: key pairs, security groups, EKS access entries.
import type { AccessEntry, IngressRule, NewSecurityGroup, SecurityGroup } from '../api/cloud.ts';
import type { SecurityGroupRules } from '../api/network.ts';

interface Options {
  readonly signal?: AbortSignal;
}

export interface CloudAccess {
  hasKeyPair(name: string, options?: Options): Promise<boolean>;
  /** By id or by name; unknown ones are missing from the answer. */
  findSecurityGroups(
    by: { readonly ids: readonly string[] } | { readonly name: string },
    options?: Options,
  ): Promise<readonly (SecurityGroup & SecurityGroupRules)[]>;
  /** Returns its id. Throws InvalidRequest when the VPC has one of that name. */
  createSecurityGroup(group: NewSecurityGroup, options?: Options): Promise<string>;
  /** Rules that already exist stay unchanged. */
  allowIngress(groupId: string, rule: IngressRule, options?: Options): Promise<void>;
  /** Throws InvalidRequest while it is in use. `false` when it did not exist. */
  deleteSecurityGroup(groupId: string, options?: Options): Promise<boolean>;
  findAccessEntry(
    entry: Pick<AccessEntry, 'clusterName' | 'principalArn'>,
    options?: Options,
  ): Promise<AccessEntry | undefined>;
  /** Throws InvalidRequest when the role has one, or the cluster's authentication mode has none. */
  createAccessEntry(entry: AccessEntry, options?: Options): Promise<void>;
  /** `false` when it did not exist. */
  deleteAccessEntry(
    entry: Pick<AccessEntry, 'clusterName' | 'principalArn'>,
    options?: Options,
  ): Promise<boolean>;
}

/** The message of DeleteSecurityGroup when instances or other groups' rules use the group. */
export const isInUse = (message: string): boolean =>
  /DependencyViolation|has a dependent object/i.test(message);

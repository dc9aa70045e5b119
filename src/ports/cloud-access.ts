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
  /** Throws InvalidRequest while the group is in use. `false` when it did not exist. */
  deleteSecurityGroup(groupId: string, options?: Options): Promise<boolean>;
  findAccessEntry(
    entry: Pick<AccessEntry, 'clusterName' | 'principalArn'>,
    options?: Options,
  ): Promise<AccessEntry | undefined>;
  /**
   * Throws InvalidRequest when the role already has an access entry, or when the cluster's
   * authentication mode does not use access entries.
   */
  createAccessEntry(entry: AccessEntry, options?: Options): Promise<void>;
  /** `false` when it did not exist. */
  deleteAccessEntry(
    entry: Pick<AccessEntry, 'clusterName' | 'principalArn'>,
    options?: Options,
  ): Promise<boolean>;
}

/**
 * Whether DeleteSecurityGroup failed with this message because instances or rules of other groups
 * use the security group.
 */
export const isInUse = (message: string): boolean =>
  /DependencyViolation|has a dependent object/i.test(message);

// STS and IAM operations that clients use: caller identity, assume a role, get a role. Roles are
// records; they authorize nothing.
import {
  type AwsCallContext,
  type AwsCredential,
  type AwsInput,
  optionalNumber,
  optionalText,
  text,
} from '../../../src/aws-wire/index.ts';
import type { Table } from '../../kernel/index.ts';
import { type Tags, tagList } from '../filters.ts';
import { refuse, type Scope, type ServiceHandlers, upperSuffix } from '../scope.ts';

export type RoleRow = {
  readonly name: string;
  readonly id: string;
  readonly path: string;
  readonly service: string;
  readonly createdAt: number;
  readonly policyArns: readonly string[];
  /** The trust policy as given; default: that of `service`. */
  readonly trust?: string;
  /** Documents of the inline policies by name. */
  readonly inline?: Readonly<Record<string, string>>;
  readonly tags?: Tags;
};

export type ProfileRow = {
  readonly name: string;
  readonly id: string;
  readonly path: string;
  readonly createdAt: number;
  readonly roles: readonly string[];
  readonly tags?: Tags;
};

export type SessionRow = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly roleName: string;
  readonly roleId: string;
  readonly sessionName: string;
  readonly expiresAt: number;
};

const component = 'aws.identity';

export class Identity {
  readonly scope: Scope;
  readonly #roles: Table<RoleRow>;
  readonly #profiles: Table<ProfileRow>;
  readonly #sessions: Table<SessionRow>;

  constructor(scope: Scope) {
    this.scope = scope;
    this.#roles = scope.kernel.tables.open<RoleRow>('aws/iam/roles');
    this.#profiles = scope.kernel.tables.open<ProfileRow>('aws/iam/instance-profiles');
    this.#sessions = scope.kernel.tables.open<SessionRow>('aws/sts/sessions');
  }

  /** Returns the role's ARN. */
  addRole(role: {
    readonly name: string;
    readonly path?: string;
    readonly service: string;
    readonly policyArns?: readonly string[];
    readonly trust?: string;
    readonly inline?: Readonly<Record<string, string>>;
    readonly tags?: Tags;
  }): string {
    const id = `AROA${upperSuffix(this.scope.kernel.random(component), 17)}`;
    const row: RoleRow = {
      ...role,
      id,
      path: role.path ?? '/',
      createdAt: this.scope.now(),
      policyArns: role.policyArns ?? [],
    };
    this.#roles.put(role.name, row);
    return this.roleArn(row);
  }

  roles(): readonly RoleRow[] {
    return [...this.#roles.values()];
  }
  needRole(name: string): RoleRow {
    const row = this.#roles.get(name);
    if (row !== undefined) return row;
    throw refuse('NoSuchEntity', `The role with name ${name} cannot be found.`, 404);
  }
  roleArn(row: RoleRow): string {
    return `arn:aws:iam::${this.scope.account}:role${row.path}${row.name}`;
  }

  role(name: string): RoleRow | undefined {
    return this.#roles.get(name);
  }

  removeRole(name: string): void {
    const user = this.profiles().find((profile) => profile.roles.includes(name));
    if (user !== undefined) {
      throw refuse(
        'DeleteConflict',
        'Cannot delete entity, must remove roles from instance profile first.',
        409,
      );
    }
    this.#roles.delete(name);
  }

  changeRole(name: string, change: (row: RoleRow) => Partial<RoleRow>): void {
    const row = this.needRole(name);
    this.#roles.put(name, { ...row, ...change(row) });
  }

  putRolePolicy(roleName: string, policyName: string, document: string): void {
    const row = this.needRole(roleName);
    this.#roles.put(roleName, { ...row, inline: { ...row.inline, [policyName]: document } });
  }
  dropRolePolicy(roleName: string, policyName: string): void {
    const row = this.#roles.get(roleName);
    if (row === undefined) return;
    const { [policyName]: _, ...inline } = row.inline ?? {};
    this.#roles.put(roleName, { ...row, inline });
  }

  // ---- instance profiles ----

  profiles(): readonly ProfileRow[] {
    return [...this.#profiles.values()];
  }
  needProfile(name: string): ProfileRow {
    const row = this.#profiles.get(name);
    if (row !== undefined) return row;
    throw refuse('NoSuchEntity', `Instance Profile ${name} cannot be found.`, 404);
  }
  addProfile(profile: Omit<ProfileRow, 'id' | 'createdAt'>): ProfileRow {
    const { name } = profile;
    if (this.#profiles.has(name)) {
      throw refuse('EntityAlreadyExists', `Instance Profile ${name} already exists.`, 409);
    }
    const id = `AIPA${upperSuffix(this.scope.kernel.random(`${component}.profiles`), 17)}`;
    const row: ProfileRow = { ...profile, id, createdAt: this.scope.now() };
    this.#profiles.put(name, row);
    return row;
  }
  setProfileRoles(name: string, roles: readonly string[]): void {
    this.#profiles.put(name, { ...this.needProfile(name), roles });
  }
  removeProfile(name: string): void {
    this.#profiles.delete(name);
  }
  profileArn(row: ProfileRow): string {
    return `arn:aws:iam::${this.scope.account}:instance-profile${row.path}${row.name}`;
  }

  // ---- sessions ----

  startSession(role: RoleRow, sessionName: string, seconds: number): SessionRow {
    const random = this.scope.kernel.random(component);
    const row: SessionRow = {
      accessKeyId: `ASIA${upperSuffix(random, 16)}`,
      secretAccessKey: upperSuffix(random, 40),
      sessionToken: upperSuffix(random, 120),
      roleName: role.name,
      roleId: role.id,
      sessionName,
      expiresAt: this.scope.now() + seconds * 1000,
    };
    this.#sessions.put(row.accessKeyId, row);
    return row;
  }

  sessionArn(row: SessionRow): string {
    const { account } = this.scope;
    return `arn:aws:sts::${account}:assumed-role/${row.roleName}/${row.sessionName}`;
  }

  /** For the dispatcher: unexpired credentials from AssumeRole. */
  credential(accessKeyId: string): AwsCredential | undefined {
    const row = this.#sessions.get(accessKeyId);
    if (row === undefined) return undefined;
    if (row.expiresAt <= this.scope.now()) {
      this.#sessions.delete(accessKeyId);
      return undefined;
    }
    return {
      secretAccessKey: row.secretAccessKey,
      sessionToken: row.sessionToken,
      principal: {
        type: 'AssumedRole',
        accountId: this.scope.account,
        arn: this.sessionArn(row),
        principalId: `${row.roleId}:${row.sessionName}`,
      },
    };
  }
}

/** The role of an instance profile given by ARN or by name. */
export const roleArnOfProfile = (identity: Identity, profileArn: string): string | undefined => {
  const name = profileArn.slice(profileArn.lastIndexOf('/') + 1);
  const [role] = identity.profiles().find((profile) => profile.name === name)?.roles ?? [];
  const row = role === undefined ? undefined : identity.role(role);
  return row === undefined ? undefined : identity.roleArn(row);
};

export const stsHandlers = (identity: Identity): ServiceHandlers => ({
  GetCallerIdentity: (_, { principal }) => ({
    UserId: principal.principalId,
    Account: principal.accountId,
    Arn: principal.arn,
  }),
  AssumeRole: (input, ctx) => assumeRole(identity, input, ctx),
});

const assumeRole = (identity: Identity, input: AwsInput, ctx: AwsCallContext) => {
  const arn = text(input, 'RoleArn');
  const role = identity.roles().find((one) => identity.roleArn(one) === arn);
  if (role === undefined) {
    throw refuse(
      'AccessDenied',
      `User: ${ctx.principal.arn} is not authorized to perform: sts:AssumeRole on resource: ${arn}`,
      403,
    );
  }
  const seconds = optionalNumber(input, 'DurationSeconds') ?? 3600;
  const row = identity.startSession(role, text(input, 'RoleSessionName'), seconds);
  return {
    Credentials: {
      AccessKeyId: row.accessKeyId,
      SecretAccessKey: row.secretAccessKey,
      SessionToken: row.sessionToken,
      Expiration: row.expiresAt,
    },
    AssumedRoleUser: {
      AssumedRoleId: `${row.roleId}:${row.sessionName}`,
      Arn: identity.sessionArn(row),
    },
  };
};

export const iamHandlers = (identity: Identity): ServiceHandlers => ({
  GetRole: (input) => ({ Role: renderRole(identity, identity.needRole(text(input, 'RoleName'))) }),
  ListRoles: () => ({
    Roles: identity.roles().map((row) => renderRole(identity, row)),
    IsTruncated: false,
  }),
  ListAttachedRolePolicies: (input) => ({
    AttachedPolicies: identity.needRole(text(input, 'RoleName')).policyArns.map((PolicyArn) => ({
      PolicyName: PolicyArn.slice(PolicyArn.lastIndexOf('/') + 1),
      PolicyArn,
    })),
    IsTruncated: false,
  }),
  GetInstanceProfile: (input) => ({
    InstanceProfile: renderProfile(
      identity,
      identity.needProfile(text(input, 'InstanceProfileName')),
    ),
  }),
  ListInstanceProfilesForRole: (input) => {
    const { name } = identity.needRole(text(input, 'RoleName'));
    const found = identity.profiles().filter((profile) => profile.roles.includes(name));
    return {
      InstanceProfiles: found.map((row) => renderProfile(identity, row)),
      IsTruncated: false,
    };
  },
  // The world signs no tokens for pods, so no cluster's issuer is a provider.
  GetOpenIDConnectProvider: (input) => {
    const arn = text(input, 'OpenIDConnectProviderArn');
    throw refuse('NoSuchEntity', `OpenIDConnect Provider not found for arn ${arn}`, 404);
  },
  ListOpenIDConnectProviders: () => ({ OpenIDConnectProviderList: [] }),
  ListAccountAliases: () => ({ AccountAliases: [], IsTruncated: false }),
  GetUser: (input, { principal }) => {
    const UserName = optionalText(input, 'UserName') ?? principal.userName ?? '';
    if (UserName !== principal.userName) {
      throw refuse('NoSuchEntity', `The user with name ${UserName} cannot be found.`, 404);
    }
    return {
      User: {
        Path: '/',
        UserName,
        UserId: principal.principalId,
        Arn: principal.arn,
        CreateDate: identity.scope.now(),
      },
    };
  },
});

export const renderRole = (identity: Identity, row: RoleRow) => ({
  Path: row.path,
  RoleName: row.name,
  RoleId: row.id,
  Arn: identity.roleArn(row),
  CreateDate: row.createdAt,
  AssumeRolePolicyDocument: encodeURIComponent(
    row.trust ??
      JSON.stringify({
        Version: '2012-10-17',
        Statement: [
          { Effect: 'Allow', Principal: { Service: row.service }, Action: 'sts:AssumeRole' },
        ],
      }),
  ),
  MaxSessionDuration: 3600,
  ...(row.tags === undefined ? {} : { Tags: tagList(row.tags) }),
});

export const renderProfile = (identity: Identity, row: ProfileRow) => ({
  Path: row.path,
  InstanceProfileName: row.name,
  InstanceProfileId: row.id,
  Arn: identity.profileArn(row),
  CreateDate: row.createdAt,
  Roles: row.roles.map((name) => renderRole(identity, identity.needRole(name))),
  ...(Object.keys(row.tags ?? {}).length === 0 ? {} : { Tags: tagList(row.tags ?? {}) }),
});

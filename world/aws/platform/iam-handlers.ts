// IAM's write operations that node groups need: roles, their policies, instance profiles. Records
// only: they authorize nothing.
import { isObject, objectOr } from '../../../src/api/json.ts';
import { parseJson } from '../../../src/api/parse-json.ts';
import { type AwsInput, optionalText, text } from '../../../src/aws-wire/index.ts';
import { tagsOf } from '../filters.ts';
import { refuse, type ServiceHandlers } from '../scope.ts';
import { type Identity, renderProfile, renderRole } from './identity.ts';

export const iamChangeHandlers = (identity: Identity): ServiceHandlers => ({
  CreateRole: (input) => createRole(identity, input),
  DeleteRole: (input) => {
    const row = identity.needRole(text(input, 'RoleName'));
    if (row.policyArns.length > 0) {
      throw refuse('DeleteConflict', 'Cannot delete entity, must detach all policies first.', 409);
    }
    if (Object.keys(row.inline ?? {}).length > 0) {
      throw refuse('DeleteConflict', 'Cannot delete entity, must delete policies first.', 409);
    }
    identity.removeRole(row.name);
  },
  AttachRolePolicy: (input) => {
    const arn = text(input, 'PolicyArn');
    identity.changeRole(text(input, 'RoleName'), (row) => ({
      policyArns: [...row.policyArns.filter((one) => one !== arn), arn],
    }));
  },
  DetachRolePolicy: (input) => {
    const arn = text(input, 'PolicyArn');
    const row = identity.needRole(text(input, 'RoleName'));
    if (!row.policyArns.includes(arn)) {
      throw refuse('NoSuchEntity', `Policy ${arn} was not found.`, 404);
    }
    const policyArns = row.policyArns.filter((one) => one !== arn);
    identity.changeRole(row.name, () => ({ policyArns }));
  },
  UpdateAssumeRolePolicy: (input) => {
    const trust = trustOf(input.PolicyDocument);
    identity.changeRole(text(input, 'RoleName'), () => trust);
  },
  PutRolePolicy: (input) => {
    const document = checkedDocument(text(input, 'PolicyDocument'));
    identity.putRolePolicy(text(input, 'RoleName'), text(input, 'PolicyName'), document);
  },
  GetRolePolicy: (input) => {
    const row = identity.needRole(text(input, 'RoleName'));
    const name = text(input, 'PolicyName');
    const document = row.inline?.[name];
    if (document === undefined) {
      throw refuse('NoSuchEntity', `The role policy with name ${name} cannot be found.`, 404);
    }
    return { RoleName: row.name, PolicyName: name, PolicyDocument: encodeURIComponent(document) };
  },
  DeleteRolePolicy: (input) => {
    identity.needRole(text(input, 'RoleName'));
    identity.dropRolePolicy(text(input, 'RoleName'), text(input, 'PolicyName'));
  },
  ListRolePolicies: (input) => ({
    PolicyNames: Object.keys(identity.needRole(text(input, 'RoleName')).inline ?? {}),
    IsTruncated: false,
  }),
  ...profileHandlers(identity),
});

const profileHandlers = (identity: Identity): ServiceHandlers => ({
  CreateInstanceProfile: (input) => {
    const row = identity.addProfile({
      name: text(input, 'InstanceProfileName'),
      path: optionalText(input, 'Path') ?? '/',
      roles: [],
      tags: tagsOf(input),
    });
    return { InstanceProfile: renderProfile(identity, row) };
  },
  DeleteInstanceProfile: (input) => {
    const row = identity.needProfile(text(input, 'InstanceProfileName'));
    if (row.roles.length > 0) {
      const told = 'Cannot delete entity, must remove roles from instance profile first.';
      throw refuse('DeleteConflict', told, 409);
    }
    identity.removeProfile(row.name);
  },
  AddRoleToInstanceProfile: (input) => {
    const row = identity.needProfile(text(input, 'InstanceProfileName'));
    const role = identity.needRole(text(input, 'RoleName'));
    if (row.roles.length > 0) {
      const told = 'Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1';
      throw refuse('LimitExceeded', told, 409);
    }
    identity.setProfileRoles(row.name, [role.name]);
  },
  RemoveRoleFromInstanceProfile: (input) => {
    const row = identity.needProfile(text(input, 'InstanceProfileName'));
    const name = text(input, 'RoleName');
    identity.setProfileRoles(
      row.name,
      row.roles.filter((one) => one !== name),
    );
  },
  ListInstanceProfiles: () => ({
    InstanceProfiles: identity.profiles().map((row) => renderProfile(identity, row)),
    IsTruncated: false,
  }),
});

const checkedDocument = (document: string): string => {
  try {
    if (isObject(parseJson(document))) return document;
  } catch {
    // Reported below, as for JSON that is not an object.
  }
  throw refuse('MalformedPolicyDocument', 'Syntax errors in policy.', 400);
};

/** A trust policy, and the first service that it names. */
const trustOf = (document: unknown): { readonly trust: string; readonly service: string } => {
  const trust = checkedDocument(String(document));
  const services = [objectOr(JSON.parse(trust)).Statement ?? []]
    .flat()
    .flatMap((one) => [objectOr(objectOr(one).Principal).Service ?? []].flat());
  return { trust, service: String(services[0] ?? '') };
};

const createRole = (identity: Identity, input: AwsInput) => {
  const name = text(input, 'RoleName');
  if (identity.role(name) !== undefined) {
    throw refuse('EntityAlreadyExists', `Role with name ${name} already exists.`, 409);
  }
  identity.addRole({
    name,
    path: optionalText(input, 'Path') ?? '/',
    ...trustOf(input.AssumeRolePolicyDocument),
    tags: tagsOf(input),
  });
  return { Role: renderRole(identity, identity.needRole(name)) };
};

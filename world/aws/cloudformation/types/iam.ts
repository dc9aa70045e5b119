// IAM resources of a stack: roles, instance profiles, policies. Records only: they authorize
// nothing.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Identity } from '../../platform/identity.ts';
import { refuse } from '../../scope.ts';
import type { LocalType, ResourceTypes } from './resource-type.ts';
import { objectsOf, tagsOf, textOf, textsOf } from './values.ts';

/**
 * IAM's limit for a role's name; CloudFormation truncates the stack's name to fit (article 002).
 */
const maxRoleName = 64;
const maxProfileName = 128;

export const iamTypes = (identity: Identity): ResourceTypes => ({
  'AWS::IAM::Role': role(identity),
  'AWS::IAM::InstanceProfile': instanceProfile(identity),
  'AWS::IAM::Policy': policy(identity),
});

const servicesOf = (document: JsonObject): readonly string[] =>
  objectsOf(document.Statement).flatMap((one) => textsOf(objectOr(one.Principal).Service));

const role = (identity: Identity): LocalType => ({
  kind: 'local',
  create: (properties, context) => {
    const name = textOf(properties.RoleName) ?? context.physicalName(maxRoleName);
    const document = objectOr(properties.AssumeRolePolicyDocument);
    if (identity.role(name) !== undefined) {
      throw refuse('EntityAlreadyExists', `Role with name ${name} already exists.`, 409);
    }
    const arn = identity.addRole({
      name,
      path: textOf(properties.Path) ?? '/',
      service: servicesOf(document)[0] ?? 'ec2.amazonaws.com',
      policyArns: textsOf(properties.ManagedPolicyArns),
      trust: JSON.stringify(document),
      inline: Object.fromEntries(
        objectsOf(properties.Policies).map((one) => [
          String(one.PolicyName),
          JSON.stringify(one.PolicyDocument ?? {}),
        ]),
      ),
      tags: { ...context.tags, ...tagsOf(properties.Tags) },
    });
    return { physicalId: name, attributes: { Arn: arn, RoleId: identity.needRole(name).id } };
  },
  remove: ({ physicalId }) => identity.removeRole(physicalId),
});

const instanceProfile = (identity: Identity): LocalType => ({
  kind: 'local',
  create: (properties, context) => {
    const row = identity.addProfile({
      name: textOf(properties.InstanceProfileName) ?? context.physicalName(maxProfileName),
      path: textOf(properties.Path) ?? '/',
      roles: textsOf(properties.Roles).map((name) => identity.needRole(name).name),
    });
    return { physicalId: row.name, attributes: { Arn: identity.profileArn(row) } };
  },
  remove: ({ physicalId }) => identity.removeProfile(physicalId),
});

const policy = (identity: Identity): LocalType => ({
  kind: 'local',
  create: (properties, context) => {
    const name = textOf(properties.PolicyName) ?? context.physicalName();
    const document = JSON.stringify(properties.PolicyDocument ?? {});
    for (const one of textsOf(properties.Roles)) identity.putRolePolicy(one, name, document);
    return { physicalId: context.physicalName(maxRoleName), attributes: { Id: name } };
  },
  remove: ({ properties }) => {
    for (const one of textsOf(properties.Roles)) {
      identity.dropRolePolicy(one, textOf(properties.PolicyName) ?? '');
    }
  },
});

// IAM instance profiles, which give an instance its role. Never creates a role.

import type { InstanceProfile } from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import { isObject } from '../api/json.ts';
import type { CloudApi } from '../ports/index.ts';
import type { AwsCalls, CallOptions } from './calls.ts';
import { createProfileRequest } from './requests.ts';
import { maybeText, objects, tagsOf, textOf } from './values.ts';

const service = 'iam';

const find = async (
  calls: AwsCalls,
  name: string,
  options: CallOptions,
): Promise<InstanceProfile | undefined> => {
  const input = { InstanceProfileName: name };
  const output = await calls.maybe(service, 'GetInstanceProfile', input, options);
  const profile = output?.InstanceProfile;
  if (!isObject(profile)) return undefined;
  const roles = objects(profile.Roles);
  return {
    name,
    roles: roles.map((role) => textOf(role.RoleName)),
    tags: tagsOf(profile.Tags),
    ...defined({ roleArn: maybeText(roles[0]?.Arn) }),
  };
};

export const profileCalls = (
  calls: AwsCalls,
): Pick<CloudApi, 'deleteInstanceProfile' | 'ensureInstanceProfile' | 'findInstanceProfile'> => ({
  findInstanceProfile: (name, options = {}) => find(calls, name, options),
  ensureInstanceProfile: async (profile, options = {}) => {
    const { name, roleName } = profile;
    const known = await find(calls, name, options);
    if (known === undefined) {
      const request = createProfileRequest(profile);
      await calls.send(service, 'CreateInstanceProfile', request, options);
    } else if (known.roles.includes(roleName)) return;
    const input = { InstanceProfileName: name, RoleName: roleName };
    await calls.send(service, 'AddRoleToInstanceProfile', input, options);
  },
  deleteInstanceProfile: async (name, options = {}) => {
    const input = { InstanceProfileName: name };
    for (const RoleName of (await find(calls, name, options))?.roles ?? []) {
      const role = { ...input, RoleName };
      await calls.maybe(service, 'RemoveRoleFromInstanceProfile', role, options);
    }
    return (await calls.maybe(service, 'DeleteInstanceProfile', input, options)) !== undefined;
  },
});

// IAM instance profiles as the port sees them: what lets an instance act in its role. Roles
// themselves are made elsewhere.

import type { InstanceProfile } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import { type CloudApi, createProfileRequest } from '../../ports/index.ts';
import { type CallOptions, type Clients, call, tagsOf } from './clients.ts';
import { orAbsent } from './errors.ts';

const find = async (
  clients: Clients,
  name: string,
  options: CallOptions,
): Promise<InstanceProfile | undefined> => {
  const { sdk, client } = await clients.iam();
  const command = new sdk.GetInstanceProfileCommand({ InstanceProfileName: name });
  const answer = await orAbsent(
    call('GetInstanceProfile', options, (http) => client.send(command, http)),
  );
  const profile = answer?.InstanceProfile;
  if (profile === undefined) return undefined;
  const roles = (profile.Roles ?? []).map(({ RoleName = '' }) => RoleName);
  const roleArn = profile.Roles?.[0]?.Arn;
  const tags = tagsOf(profile.Tags);
  return { name, roles, tags, ...defined({ roleArn }) };
};

export const profileCalls = (
  clients: Clients,
): Pick<CloudApi, 'findInstanceProfile' | 'ensureInstanceProfile' | 'deleteInstanceProfile'> => ({
  findInstanceProfile: (name, options = {}) => find(clients, name, options),
  ensureInstanceProfile: async (profile, options = {}) => {
    const { sdk, client } = await clients.iam();
    const { name, roleName } = profile;
    const known = await find(clients, name, options);
    if (known === undefined) {
      const command = new sdk.CreateInstanceProfileCommand(createProfileRequest(profile));
      await call('CreateInstanceProfile', options, (http) => client.send(command, http));
    } else if (known.roles.includes(roleName)) return;
    const command = new sdk.AddRoleToInstanceProfileCommand({
      InstanceProfileName: name,
      RoleName: roleName,
    });
    await call('AddRoleToInstanceProfile', options, (http) => client.send(command, http));
  },
  deleteInstanceProfile: async (name, options = {}) => {
    const { sdk, client } = await clients.iam();
    const InstanceProfileName = name;
    for (const RoleName of (await find(clients, name, options))?.roles ?? []) {
      const command = new sdk.RemoveRoleFromInstanceProfileCommand({
        InstanceProfileName,
        RoleName,
      });
      await orAbsent(
        call('RemoveRoleFromInstanceProfile', options, (http) => client.send(command, http)),
      );
    }
    const command = new sdk.DeleteInstanceProfileCommand({ InstanceProfileName });
    const done = await orAbsent(
      call('DeleteInstanceProfile', options, (http) => client.send(command, http)),
    );
    return done !== undefined;
  },
});

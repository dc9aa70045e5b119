// The roles of the nodes of a cluster's managed node groups, from the launch templates of their
// Auto Scaling groups. EKS creates their access entries when a cluster's mode starts to support
// entries.
import { objectOr } from '../../../src/api/json.ts';
import { tagsOfGroup } from '../autoscaling/rows.ts';
import type { GroupStore } from '../autoscaling/store.ts';
import { imageFamilies } from '../ec2/image-families.ts';
import type { Images } from '../ec2/images.ts';
import type { LaunchTemplates } from '../ec2/launch-templates.ts';
import type { EntryType } from './access-entries.ts';
import { type Identity, roleArnOfProfile } from './identity.ts';

interface Parts {
  readonly store: GroupStore;
  readonly templates: LaunchTemplates;
  readonly images: Images;
  readonly identity: Identity;
}

export const managedRoles = (
  { store, templates, images, identity }: Parts,
  cluster: string,
): ReadonlyMap<string, EntryType> => {
  const roles = new Map<string, EntryType>();
  for (const group of store.groups()) {
    const tags = tagsOfGroup(group);
    if (tags['eks:cluster-name'] !== cluster || tags['eks:nodegroup-name'] === undefined) continue;
    const { data } = templates.version(group.template);
    const profile = objectOr(data.IamInstanceProfile);
    const role = roleArnOfProfile(identity, String(profile.Arn ?? profile.Name ?? ''));
    if (role === undefined) continue;
    const image = images.get(String(data.ImageId ?? ''));
    const family = imageFamilies.find(({ amiType }) => amiType === image?.family);
    roles.set(role, family?.system === 'windows' ? 'EC2_WINDOWS' : 'EC2_LINUX');
  }
  return roles;
};

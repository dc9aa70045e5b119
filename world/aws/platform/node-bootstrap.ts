// The boot input of a machine: its user data, and the values that its bootstrap would get from the
// metadata service, EC2 and EKS. For display; judges and changes nothing.
import { defined } from '../../../src/api/defined.ts';
import type { Family, NodeFacts } from '../../../src/formats/index.ts';
import type { AwsParts } from '../parts.ts';
import { serviceCidr } from './clusters.ts';

export interface NodeBootstrap {
  readonly instanceId: string;
  readonly privateDnsName: string;
  /** Base64, as in EC2; undefined: the instance has none. */
  readonly userData: string | undefined;
  /** Family of the image; absent for an image that is not EKS'. */
  readonly family?: Family;
  readonly facts: NodeFacts;
}

type Parts = Pick<AwsParts, 'instances' | 'images' | 'clusters' | 'network' | 'scope'>;

export const nodeBootstrap = (parts: Parts, instanceId: string): NodeBootstrap | undefined => {
  const row = parts.instances.get(instanceId);
  if (row === undefined) return undefined;
  const access = parts.clusters.access();
  const vpcId = parts.network.subnet(row.subnetId)?.vpcId;
  const vpc = parts.network.vpcs().find((one) => one.vpcId === vpcId);
  const { family, kubernetesVersion } = parts.images.systemOf(row.imageId);
  const { instanceType, zone, privateIp, privateDnsName } = row;
  return {
    instanceId,
    privateDnsName,
    userData: row.userData,
    ...defined({ family }),
    facts: {
      kubernetesVersion,
      instanceId,
      instanceType,
      region: parts.scope.region,
      zone,
      privateIp,
      privateDnsName,
      lifecycle: row.capacityType === 'SPOT' ? 'spot' : 'on-demand',
      ...(vpc === undefined ? {} : { vpcCidr: vpc.cidr }),
      ...(access === undefined
        ? {}
        : {
            cluster: {
              endpoint: access.endpoint,
              certificateAuthority: access.certificateAuthorityData,
              serviceCidr,
            },
          }),
    },
  };
};

// What a machine was booted from: its user data, and all that its bootstrap would ask the metadata
// service, EC2 and EKS for. For showing what a node has; judges and changes nothing.
import { defined } from '../../../src/api/defined.ts';
import type { Family, NodeFacts } from '../../../src/formats/index.ts';
import type { AwsParts } from '../parts.ts';
import { serviceCidr } from './clusters.ts';

export interface NodeBootstrap {
  readonly instanceId: string;
  readonly privateDnsName: string;
  /** Base64, as EC2 holds it; undefined: the instance has none. */
  readonly userData: string | undefined;
  /** The image's; left out of one that is not EKS' own. */
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

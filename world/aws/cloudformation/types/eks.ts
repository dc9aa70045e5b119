// EKS resources of a stack that the world itself provides: clusters and add-ons.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { ServiceCalls } from '../../calls.ts';
import type { Scope } from '../../scope.ts';
import { byStatus, inputOf, objectIn } from './eks-values.ts';
import { nodegroup } from './nodegroup.ts';
import { done, type LocalType, pending, type ResourceTypes } from './resource-type.ts';
import { objectsOf, tagsOf, textOf } from './values.ts';

export interface EksTypeParts {
  readonly scope: Scope;
  readonly calls: ServiceCalls;
}

export const eksTypes = (parts: EksTypeParts): ResourceTypes => ({
  'AWS::EKS::Cluster': cluster(parts),
  'AWS::EKS::Addon': addon(parts),
  'AWS::EKS::Nodegroup': nodegroup(parts.scope),
});

const cluster = ({ calls }: EksTypeParts): LocalType => {
  const describe = (name: string): JsonObject =>
    objectIn(calls.now('eks', 'DescribeCluster', { name }), 'cluster');
  const isThere = (name: string): boolean => {
    const { clusters } = calls.now('eks', 'ListClusters', {});
    return Array.isArray(clusters) && clusters.includes(name);
  };
  return {
    kind: 'local',
    create: (properties, context) => {
      const { logging, ...input } = inputOf(properties);
      const name = textOf(properties.Name) ?? context.physicalName(100);
      calls.now('eks', 'CreateCluster', {
        ...input,
        name,
        tags: { ...context.tags, ...tagsOf(properties.Tags) },
        ...(logging === undefined ? {} : { logging: apiLogging(objectOr(logging)) }),
      });
      return { physicalId: name };
    },
    ready: ({ physicalId }) => {
      const found = describe(physicalId);
      const progress = byStatus(found.status, `Cluster ${physicalId} failed to stabilize`);
      return progress.kind === 'done'
        ? { kind: 'done', attributes: clusterAttributes(found) }
        : progress;
    },
    remove: ({ physicalId }) => {
      if (isThere(physicalId)) calls.now('eks', 'DeleteCluster', { name: physicalId });
    },
    gone: ({ physicalId }) => (isThere(physicalId) ? pending : done),
  };
};

/** CloudFormation lists the enabled types; the API lists types with a flag. */
const apiLogging = (logging: JsonObject): JsonObject => {
  const given = objectOr(logging.clusterLogging);
  const types = objectsOf(given.enabledTypes).flatMap((one) => textOf(one.type) ?? []);
  return { clusterLogging: types.length === 0 ? [] : [{ types, enabled: true }] };
};

const clusterAttributes = (found: JsonObject): Readonly<Record<string, string>> => {
  const network = objectOr(found.resourcesVpcConfig);
  return {
    Arn: textOf(found.arn) ?? '',
    Endpoint: textOf(found.endpoint) ?? '',
    CertificateAuthorityData: textOf(objectOr(found.certificateAuthority).data) ?? '',
    ClusterSecurityGroupId: textOf(network.clusterSecurityGroupId) ?? '',
    OpenIdConnectIssuerUrl: textOf(objectOr(objectOr(found.identity).oidc).issuer) ?? '',
    Id: textOf(found.name) ?? '',
  };
};

const addon = ({ calls, scope }: EksTypeParts): LocalType => {
  const reference = (physicalId: string) => {
    const [clusterName = '', addonName = ''] = physicalId.split('|');
    return { clusterName, addonName };
  };
  const isThere = (physicalId: string): boolean => {
    const { clusterName, addonName } = reference(physicalId);
    const { addons } = calls.now('eks', 'ListAddons', { clusterName });
    return Array.isArray(addons) && addons.includes(addonName);
  };
  return {
    kind: 'local',
    create: (properties, context) => {
      const tags = { ...context.tags, ...tagsOf(properties.Tags) };
      calls.now('eks', 'CreateAddon', { ...inputOf(properties), tags });
      const { ClusterName, AddonName } = properties;
      return {
        physicalId: `${ClusterName}|${AddonName}`,
        attributes: { Arn: scope.arn('eks', `addon/${ClusterName}/${AddonName}`) },
      };
    },
    ready: ({ physicalId }) => {
      const found = objectIn(calls.now('eks', 'DescribeAddon', reference(physicalId)), 'addon');
      return byStatus(found.status, `Addon ${physicalId} failed to stabilize`);
    },
    remove: ({ physicalId }) => {
      if (isThere(physicalId)) calls.now('eks', 'DeleteAddon', reference(physicalId));
    },
    gone: ({ physicalId }) => (isThere(physicalId) ? pending : done),
  };
};

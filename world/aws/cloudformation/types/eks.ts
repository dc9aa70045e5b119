// EKS resources of a stack: clusters and add-ons, which the world has, and node groups, which are
// Kubernetes objects behind the port. Property names differ from the API's in their first letter.
import { defined } from '../../../../src/api/defined.ts';
import { isObject, type Json, type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { ServiceCalls } from '../../calls.ts';
import type { Scope } from '../../scope.ts';
import {
  done,
  type LocalType,
  type Progress,
  pending,
  type RemoteType,
  type ResourceTypes,
} from './resource-type.ts';
import { objectsOf, tagsOf, textOf, typed } from './values.ts';

export interface EksTypeParts {
  readonly scope: Scope;
  readonly calls: ServiceCalls;
}

export const eksTypes = (parts: EksTypeParts): ResourceTypes => ({
  'AWS::EKS::Cluster': cluster(parts),
  'AWS::EKS::Addon': addon(parts),
  'AWS::EKS::Nodegroup': nodegroup(parts.scope),
});

/** Maps whose keys are the user's: they keep their spelling. */
const userMaps = new Set(['Labels', 'Tags']);

const lowerFirst = (name: string): string => {
  if (name === 'AMIType') return 'amiType';
  return name.charAt(0).toLowerCase() + name.slice(1);
};

/** `{NodeRole: x}` as `{nodeRole: x}`, at every depth. */
const apiNames = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((one) => apiNames(one as Json));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      lowerFirst(key),
      userMaps.has(key) ? one : apiNames(one ?? null),
    ]),
  );
};

const inputOf = (properties: JsonObject): Record<string, Json | undefined> => ({
  ...objectOr(apiNames(typed(properties))),
  ...(properties.Tags === undefined ? {} : { tags: tagsOf(properties.Tags) }),
});

const objectIn = (answer: unknown, member: string): JsonObject => {
  const value = isObject(answer) ? answer[member] : undefined;
  return objectOr(value);
};

const failedStatuses = new Set(['CREATE_FAILED', 'FAILED', 'DEGRADED']);

const byStatus = (status: unknown, reason: string): Progress => {
  if (status === 'ACTIVE') return done;
  return failedStatuses.has(String(status)) ? { kind: 'failed', reason } : pending;
};

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

/** CloudFormation lists the types that are on; the API lists types with on or off. */
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

const nodegroup = (scope: Scope): RemoteType => {
  const reference = (physicalId: string) => {
    const [clusterName = '', nodegroupName = ''] = physicalId.split('/');
    return { clusterName, nodegroupName };
  };
  return {
    kind: 'remote',
    physicalId: (properties, context) => {
      const name = textOf(properties.NodegroupName) ?? context.physicalName(63);
      return `${textOf(properties.ClusterName) ?? ''}/${name}`;
    },
    create: ({ physicalId, properties }, context) => {
      const { forceUpdateEnabled: _, ...input } = inputOf(properties);
      return {
        service: 'eks',
        operation: 'CreateNodegroup',
        input: {
          ...input,
          ...reference(physicalId),
          tags: { ...context.tags, ...tagsOf(properties.Tags) },
          clientRequestToken: tokenOf(context.stackId, context.logicalId),
          ...templateInput(objectOr(input.launchTemplate)),
        },
      };
    },
    describe: ({ physicalId }) => ({
      service: 'eks',
      operation: 'DescribeNodegroup',
      input: reference(physicalId),
    }),
    remove: ({ physicalId }) => ({
      service: 'eks',
      operation: 'DeleteNodegroup',
      input: reference(physicalId),
    }),
    progress: (answer, removing) => {
      const found = objectIn(answer, 'nodegroup');
      const name = textOf(found.nodegroupName) ?? '';
      const reason = `Nodegroup ${name} failed to stabilize: ${issuesOf(found)}`;
      if (removing) {
        if (found.status === 'DELETING') return pending;
        return found.status === 'DELETE_FAILED' ? { kind: 'failed', reason } : done;
      }
      const progress = byStatus(found.status, reason);
      if (progress.kind !== 'done') return progress;
      const clusterName = textOf(found.clusterName) ?? '';
      const arn =
        textOf(found.nodegroupArn) ?? scope.arn('eks', `nodegroup/${clusterName}/${name}`);
      const id = `${clusterName}/${name}`;
      const attributes = { Arn: arn, ClusterName: clusterName, NodegroupName: name, Id: id };
      return { kind: 'done', attributes };
    },
  };
};

const templateInput = (template: JsonObject) => {
  if (Object.keys(template).length === 0) return {};
  const version = textOf(template.version);
  return { launchTemplate: { ...template, ...defined({ version }) } };
};

/** The same for each attempt, so that a call sent twice makes one node group. */
const tokenOf = (stackId: string, logicalId: string): string =>
  `cfn-${logicalId}-${stackId.slice(stackId.lastIndexOf('/') + 1)}`.slice(0, 64);

/** `[{Code: NodeCreationFailure,Message: ...,ResourceIds: [i-...]}]`, as eksctl's users know it. */
const issuesOf = (found: JsonObject): string => {
  const issues = objectsOf(objectOr(found.health).issues).map((issue) => {
    const ids = Array.isArray(issue.resourceIds) ? issue.resourceIds.join(', ') : '';
    return `{Code: ${issue.code},Message: ${issue.message},ResourceIds: [${ids}]}`;
  });
  return `[${issues.join(', ')}]`;
};

// ELBv2 over the API: target groups, their targets, attributes and tags.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalNumber,
  optionalText,
  structures,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { GroupStore } from '../autoscaling/store.ts';
import type { Instances } from '../ec2/instances.ts';
import { type Tags, tagList, tagsOf } from '../filters.ts';
import { refuse, type ServiceHandlers } from '../scope.ts';
import { balancerHandlers } from './balancer-handlers.ts';
import type { LoadBalancers } from './load-balancers.ts';
import {
  defaultAttributes,
  type TargetGroupRow,
  type TargetGroups,
  type TargetRow,
} from './target-groups.ts';

export interface ElbParts {
  readonly targets: TargetGroups;
  readonly balancers: LoadBalancers;
  readonly instances: Instances;
  readonly store: GroupStore;
}

const invalidConfiguration = (message: string) => refuse('InvalidConfigurationRequest', message);

export const elbHandlers = (parts: ElbParts): ServiceHandlers => {
  const { targets } = parts;
  const renderGroup = (row: TargetGroupRow) => renderTargetGroup(parts, row);
  return {
    CreateTargetGroup: (input) => ({ TargetGroups: [renderGroup(create(targets, input))] }),
    ModifyTargetGroup: (input) => {
      const before = targets.need(text(input, 'TargetGroupArn'));
      const after = { ...before, healthCheck: readCheck(input, before.healthCheck) };
      targets.put(after);
      return { TargetGroups: [renderGroup(after)] };
    },
    DeleteTargetGroup: (input) => {
      const arn = text(input, 'TargetGroupArn');
      const user = parts.store.groups().find((group) => group.targetGroups?.includes(arn));
      if (user !== undefined) {
        throw refuse('ResourceInUse', `Target group '${arn}' is in use by group ${user.name}`);
      }
      if (parts.balancers.ofTargetGroup(arn) !== undefined) {
        const why = 'is currently in use by a listener or a rule';
        throw refuse('ResourceInUse', `Target group '${arn}' ${why}`);
      }
      targets.remove(arn);
      return {};
    },
    DescribeTargetGroups: (input) => {
      const arns = texts(input, 'TargetGroupArns');
      const names = texts(input, 'Names');
      const named = arns.map((arn) => targets.need(arn));
      const byName = names.map((name) => needNamed(targets, name));
      const balancer = optionalText(input, 'LoadBalancerArn');
      const isAll = arns.length + names.length === 0;
      const found = (isAll ? targets.all() : [...named, ...byName]).filter(
        ({ arn }) => balancer === undefined || parts.balancers.ofTargetGroup(arn)?.arn === balancer,
      );
      return { TargetGroups: found.map(renderGroup) };
    },
    DescribeTargetGroupAttributes: (input) => ({
      Attributes: renderAttributes(targets.need(text(input, 'TargetGroupArn'))),
    }),
    ModifyTargetGroupAttributes: (input) => {
      const before = targets.need(text(input, 'TargetGroupArn'));
      const attributes = { ...before.attributes, ...readAttributes(input) };
      targets.put({ ...before, attributes });
      return { Attributes: renderAttributes({ ...before, attributes }) };
    },
    ...targetHandlers(parts),
    ...balancerHandlers(parts.balancers),
    ...tagHandlers(parts),
  };
};

/**
 * Changes the tags of a load balancer or a target group; a listener has its load balancer's tags.
 */
const tagHandlers = ({ targets, balancers }: ElbParts): ServiceHandlers => {
  const isBalancer = (arn: string) => arn.includes(':loadbalancer/');
  const change = (arn: string, after: (before: Tags) => Tags): void => {
    if (isBalancer(arn)) {
      const row = balancers.need(arn);
      balancers.put({ ...row, tags: after(row.tags) });
    } else {
      const row = targets.need(arn);
      targets.put({ ...row, tags: after(row.tags) });
    }
  };
  return {
    DescribeTags: (input) => ({
      TagDescriptions: texts(input, 'ResourceArns').map((arn) => ({
        ResourceArn: arn,
        Tags: tagList((isBalancer(arn) ? balancers : targets).need(arn).tags),
      })),
    }),
    AddTags: (input) => {
      for (const arn of texts(input, 'ResourceArns')) {
        change(arn, (before) => ({ ...before, ...tagsOf(input) }));
      }
      return {};
    },
    RemoveTags: (input) => {
      const keys = texts(input, 'TagKeys');
      const kept = (tags: Tags): Tags =>
        Object.fromEntries(Object.entries(tags).filter(([key]) => !keys.includes(key)));
      for (const arn of texts(input, 'ResourceArns')) change(arn, kept);
      return {};
    },
  };
};

const targetHandlers = ({ targets, instances }: ElbParts): ServiceHandlers => ({
  RegisterTargets: (input) => {
    const group = targets.need(text(input, 'TargetGroupArn'));
    const given = structures(input, 'Targets').map(readTarget);
    for (const { id } of given) {
      if (group.targetType !== 'instance') continue;
      const state = instances.get(id)?.state;
      if (state === 'running') continue;
      const why = state === undefined ? 'is not valid' : 'is not in a running state';
      throw refuse(
        'InvalidTarget',
        `The following targets are not in a running state and cannot be registered: '${id}' ${why}`,
      );
    }
    for (const { id, port } of given) targets.register(group.arn, id, port);
    return {};
  },
  DeregisterTargets: (input) => {
    const group = targets.need(text(input, 'TargetGroupArn'));
    for (const { id, port } of structures(input, 'Targets').map(readTarget)) {
      targets.deregister(group.arn, id, port);
    }
    return {};
  },
  DescribeTargetHealth: (input) => {
    const group = targets.need(text(input, 'TargetGroupArn'));
    const wanted = structures(input, 'Targets').map(readTarget);
    const all = targets.targets(group.arn);
    const found = all.filter(
      (target) =>
        wanted.length === 0 ||
        wanted.some((one) => one.id === target.id && (one.port ?? target.port) === target.port),
    );
    const lost = wanted.filter((one) => all.every((target) => target.id !== one.id));
    return {
      TargetHealthDescriptions: [
        ...found.map((target) => renderHealth(targets, group, target)),
        ...lost.map(({ id, port }) => ({
          Target: { Id: id, Port: port ?? group.port },
          TargetHealth: {
            State: 'unused',
            Reason: 'Target.NotRegistered',
            Description: 'Target is not registered to the target group',
          },
        })),
      ],
    };
  },
});

const readTarget = (input: AwsInput) => ({
  id: text(input, 'Id'),
  port: optionalNumber(input, 'Port'),
});

const needNamed = (targets: TargetGroups, name: string): TargetGroupRow => {
  const row = targets.all().find((one) => one.name === name);
  if (row !== undefined) return row;
  throw refuse('TargetGroupNotFound', 'One or more target groups not found');
};

const readAttributes = (input: AwsInput): Record<string, string> =>
  Object.fromEntries(
    structures(input, 'Attributes').map((one) => {
      const key = text(one, 'Key');
      if (!Object.hasOwn(defaultAttributes, key)) {
        throw invalidConfiguration(`Target group attribute key '${key}' is not recognized`);
      }
      return [key, optionalText(one, 'Value') ?? ''];
    }),
  );

const renderAttributes = (row: TargetGroupRow) =>
  Object.entries(row.attributes).map(([Key, Value]) => ({ Key, Value }));

const defaultCheck = (protocol: string): TargetGroupRow['healthCheck'] => {
  const isHttp = protocol.startsWith('HTTP');
  return {
    protocol: isHttp ? protocol : 'TCP',
    port: 'traffic-port',
    path: isHttp ? '/' : '',
    intervalSeconds: 30,
    timeoutSeconds: isHttp ? 5 : 10,
    healthyCount: 5,
    unhealthyCount: 2,
  };
};

const readCheck = (
  input: AwsInput,
  before: TargetGroupRow['healthCheck'],
): TargetGroupRow['healthCheck'] => ({
  protocol: optionalText(input, 'HealthCheckProtocol') ?? before.protocol,
  port: optionalText(input, 'HealthCheckPort') ?? before.port,
  path: optionalText(input, 'HealthCheckPath') ?? before.path,
  intervalSeconds: optionalNumber(input, 'HealthCheckIntervalSeconds') ?? before.intervalSeconds,
  timeoutSeconds: optionalNumber(input, 'HealthCheckTimeoutSeconds') ?? before.timeoutSeconds,
  healthyCount: optionalNumber(input, 'HealthyThresholdCount') ?? before.healthyCount,
  unhealthyCount: optionalNumber(input, 'UnhealthyThresholdCount') ?? before.unhealthyCount,
});

const create = (targets: TargetGroups, input: AwsInput): TargetGroupRow => {
  const name = text(input, 'Name');
  if (targets.all().some((row) => row.name === name)) {
    throw refuse(
      'DuplicateTargetGroupName',
      `A target group with the same name '${name}' exists, but with different settings`,
    );
  }
  const targetType = optionalText(input, 'TargetType') ?? 'instance';
  if (targetType !== 'instance' && targetType !== 'ip') {
    throw invalidConfiguration(`Targets of type ${targetType} are not part of Drover's world`);
  }
  const protocol = optionalText(input, 'Protocol') ?? '';
  const port = optionalNumber(input, 'Port');
  const vpcId = optionalText(input, 'VpcId');
  if (protocol === '') throw refuse('ValidationError', 'A protocol must be specified');
  if (port === undefined) throw refuse('ValidationError', 'A port must be specified');
  if (vpcId === undefined) throw refuse('ValidationError', 'A VPC ID must be specified');
  return targets.add({
    name,
    protocol,
    port,
    vpcId,
    targetType,
    healthCheck: readCheck(input, defaultCheck(protocol)),
    attributes: defaultAttributes,
    tags: tagsOf(input),
  });
};

const renderTargetGroup = (
  { balancers }: ElbParts,
  { healthCheck: check, ...row }: TargetGroupRow,
) => ({
  TargetGroupArn: row.arn,
  TargetGroupName: row.name,
  Protocol: row.protocol,
  Port: row.port,
  VpcId: row.vpcId,
  HealthCheckProtocol: check.protocol,
  HealthCheckPort: check.port,
  HealthCheckEnabled: true,
  HealthCheckIntervalSeconds: check.intervalSeconds,
  HealthCheckTimeoutSeconds: check.timeoutSeconds,
  HealthyThresholdCount: check.healthyCount,
  UnhealthyThresholdCount: check.unhealthyCount,
  ...(check.path === '' ? {} : { HealthCheckPath: check.path, Matcher: { HttpCode: '200' } }),
  LoadBalancerArns: balancers
    .all()
    .filter((one) => one.listeners.some(({ targetGroup }) => targetGroup === row.arn))
    .map(({ arn }) => arn),
  TargetType: row.targetType,
  ...(row.protocol.startsWith('HTTP') ? { ProtocolVersion: 'HTTP1' } : {}),
  IpAddressType: 'ipv4',
});

const renderHealth = (targets: TargetGroups, group: TargetGroupRow, target: TargetRow) => {
  const { state, reason, description } = targets.healthOf(target);
  const check = group.healthCheck.port;
  return {
    Target: { Id: target.id, Port: target.port },
    HealthCheckPort: check === 'traffic-port' ? String(target.port) : check,
    TargetHealth: {
      State: state,
      ...defined({ Reason: reason, Description: description }),
    },
  };
};

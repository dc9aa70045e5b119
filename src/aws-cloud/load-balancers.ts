// Elastic Load Balancing: the target groups of a cluster, and the health of their targets.
import type { TargetGroup, TargetHealth } from '../api/cloud.ts';
import { type JsonObject, objectOr } from '../api/json.ts';
import type { CloudApi } from '../ports/index.ts';
import type { AwsCalls, CallOptions } from './calls.ts';
import { batchesOf, maybeText, objects, tagsOf, textOf } from './values.ts';

/** DescribeTags accepts 20 resources. */
const arnsAtOnce = 20;
/** 400 target groups per page, and a quota of 3,000 per region: stops a list that never ends. */
const maxPages = 100;

const groupOf = (group: JsonObject): TargetGroup => ({
  arn: textOf(group.TargetGroupArn),
  name: textOf(group.TargetGroupName),
  targetType: textOf(group.TargetType),
});

/** The tags of the cloud controller manager and of the AWS Load Balancer Controller. */
const isOf = (tags: Readonly<Record<string, string>>, cluster: string): boolean =>
  tags[`kubernetes.io/cluster/${cluster}`] !== undefined ||
  tags['elbv2.k8s.aws/cluster'] === cluster;

const allGroups = async (calls: AwsCalls, options: CallOptions): Promise<readonly JsonObject[]> => {
  const found: JsonObject[] = [];
  let Marker: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const input = Marker === undefined ? {} : { Marker };
    const answer = await calls.send('elbv2', 'DescribeTargetGroups', input, options);
    found.push(...objects(answer.TargetGroups));
    Marker = maybeText(answer.NextMarker);
    if (Marker === undefined) break;
  }
  return found;
};

const healthOf = ({ Target, TargetHealth: health }: JsonObject): TargetHealth => ({
  id: textOf(objectOr(Target).Id),
  state: textOf(objectOr(health).State),
});

export const loadBalancerCalls = (
  calls: AwsCalls,
): Pick<CloudApi, 'describeTargetGroups' | 'describeTargets'> => ({
  describeTargetGroups: async (clusterName, options = {}) => {
    const groups = (await allGroups(calls, options)).map(groupOf);
    const own = new Set<string>();
    for (const some of batchesOf(groups, arnsAtOnce)) {
      const ResourceArns = some.map(({ arn }) => arn);
      const answer = await calls.send('elbv2', 'DescribeTags', { ResourceArns }, options);
      for (const { ResourceArn, Tags } of objects(answer.TagDescriptions)) {
        if (isOf(tagsOf(Tags), clusterName)) own.add(textOf(ResourceArn));
      }
    }
    return groups.filter(({ arn }) => own.has(arn));
  },
  describeTargets: async (TargetGroupArn, options = {}) => {
    const input = { TargetGroupArn };
    const answer = await calls.maybe('elbv2', 'DescribeTargetHealth', input, options);
    return objects(answer?.TargetHealthDescriptions).map(healthOf);
  },
});

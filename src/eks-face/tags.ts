// Tags of node groups by ARN. They are EKS' own tags: neither the Auto Scaling group nor its
// instances carry them.
import { resourceTypes } from '../api/kube.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import {
  type AwsCallContext,
  type AwsHandler,
  type AwsInput,
  text,
  textMap,
  texts,
} from '../aws-wire/index.ts';
import { tagsComplaint } from '../core/nodegroup/index.ts';
import { complain, type EksFaceOptions, invalid, needCluster, needGroup } from './context.ts';

const arnPattern = /^arn:[^:]+:eks:[^:]*:\d*:nodegroup\/([^/]+)\/([^/]+)\/([^/]+)$/;
const maxTags = 50;

type GroupHandler = (group: NodeGroup, input: AwsInput) => Promise<unknown>;

/** Throws for any other ARN, which this face does not handle. */
const groupOfArn = async (
  options: EksFaceOptions,
  arn: string,
  ctx: AwsCallContext,
): Promise<NodeGroup> => {
  const [, clusterName, nodegroupName] = arnPattern.exec(arn) ?? [];
  if (clusterName === undefined || nodegroupName === undefined) {
    throw invalid(`Invalid node group ARN: ${arn}`);
  }
  await needCluster(options, clusterName, ctx);
  return needGroup(options, clusterName, nodegroupName);
};

const onGroups =
  (options: EksFaceOptions, handler: GroupHandler): AwsHandler =>
  async (input, ctx) => {
    const arn = text(input, 'resourceArn');
    return handler(await groupOfArn(options, arn, ctx), input);
  };

const writeTags = async (
  { kube }: EksFaceOptions,
  group: NodeGroup,
  tags: Readonly<Record<string, string | null>>,
): Promise<void> => {
  const { name } = group.metadata;
  const patch = { type: 'merge', body: { spec: { tags } } } as const;
  await kube.patch(resourceTypes.nodegroups, { name }, patch);
};

export const tagHandlers = (options: EksFaceOptions): Readonly<Record<string, AwsHandler>> => ({
  TagResource: onGroups(options, async (group, input) => {
    const tags = textMap(input, 'tags');
    complain(tagsComplaint(tags), {});
    const all = { ...group.spec.tags, ...tags };
    if (Object.keys(all).length > maxTags) {
      throw invalid(`At most ${maxTags} tags can be assigned to a resource`);
    }
    await writeTags(options, group, tags);
    return {};
  }),
  UntagResource: onGroups(options, async (group, input) => {
    const keys = texts(input, 'tagKeys').filter((key) => group.spec.tags?.[key] !== undefined);
    const gone = Object.fromEntries(keys.map((key) => [key, null]));
    if (keys.length > 0) await writeTags(options, group, gone);
    return {};
  }),
  ListTagsForResource: onGroups(options, async (group) => ({
    tags: group.spec.tags ?? {},
  })),
});

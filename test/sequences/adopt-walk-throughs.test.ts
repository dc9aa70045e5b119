// The walk-throughs of docs/adopt.md, replayed line by line in virtual time on groups tagged as the
// tool tags them. Each begins with a command that changes nothing, and ends with the group as it
// was.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { GivenGroup } from '../support/given-group.ts';
import { contextOf, during, Recorder } from '../support/read-only-commands.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/adopt.md'), 'utf8');

/** The commands of a section, without comments. */
const linesOf = (section: string): readonly string[] => {
  const [, rest = ''] = page.split(`\n## ${section}\n`);
  const [, block = ''] = rest.split('```');
  return block
    .split('\n')
    .map((line) => line.replace(/ +#.*$/, ''))
    .filter((line) => line.startsWith('drover '));
};

type Tags = Readonly<Record<string, string>>;
const tagList = (tags: Tags) =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value, PropagateAtLaunch: true }));

/** A second group beside the given one, of the same template. */
const addGroup = async (given: GivenGroup, tags: Tags, size: number): Promise<void> => {
  const like = objectOr(given.autoScalingGroup());
  given.life.fromOutside('CreateAutoScalingGroup', {
    AutoScalingGroupName: 'beside',
    MinSize: 0,
    MaxSize: 1,
    DesiredCapacity: size,
    VPCZoneIdentifier: String(like.VPCZoneIdentifier),
    LaunchTemplate: { LaunchTemplateName: 'theirs', Version: '1' },
    Tags: tagList(tags),
  });
  await given.life.driver.advance(90);
};

const labelControlPlane = (given: GivenGroup): void => {
  const { user, world } = given.life;
  const members = new Set(given.instanceIds());
  for (const { metadata, spec } of [...world.kube.readAll(resourceTypes.nodes)]) {
    const id = String(objectOr(spec).providerID).split('/').at(-1) ?? '';
    const isBase = metadata.labels?.['eks.amazonaws.com/nodegroup'] === 'base';
    if (members.has(id) || isBase) continue;
    const body = { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } };
    user.patch(resourceTypes.nodes, { name: metadata.name }, { type: 'merge', body });
  }
};

const addKarpenterNode = ({ life }: GivenGroup): void => {
  life.make(resourceTypes.nodes, undefined, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'karpenter-1', labels: { 'karpenter.sh/nodepool': 'default' } },
    spec: {},
  });
};

const replay = async (given: GivenGroup, section: string): Promise<readonly string[]> => {
  const { life } = given;
  const outputs: string[] = [];
  for (const line of linesOf(section)) {
    const printed: string[] = [];
    const context = contextOf(life, new Recorder(), {}, (text) => printed.push(text));
    const words = line.replace('my-nodes', 'mine').split(' ').slice(1);
    const program = buildProgram(context, '0');
    await during(life, program.parseAsync(words, { from: 'user' }), 0.5);
    outputs.push(printed.join('\n'));
  }
  return outputs;
};

const stateOf = (given: GivenGroup): JsonObject => {
  const { Instances, ...group } = objectOr(given.autoScalingGroup());
  return { group, hooks: [...given.hooks()], instances: given.instanceIds().length };
};

describe.each<{
  readonly section: string;
  readonly tags: Tags;
  readonly name: string;
  readonly beside: Tags;
  readonly size: number;
  readonly more?: (given: GivenGroup) => void;
  readonly says: readonly RegExp[];
}>([
  {
    section: 'kOps',
    tags: {
      KubernetesCluster: 'my-cluster.example',
      'kops.k8s.io/instancegroup': 'nodes-eu-west-1a',
      'k8s.io/role/node': '1',
    },
    name: 'nodes-eu-west-1a',
    beside: {
      KubernetesCluster: 'my-cluster.example',
      'kops.k8s.io/instancegroup': 'control-plane-eu-west-1a',
      'k8s.io/role/control-plane': '1',
    },
    size: 0,
    says: [/skipped: its nodes run the control plane: update them with kops rolling-update/],
  },
  {
    section: 'kubeadm',
    tags: { 'kubernetes.io/cluster/my-cluster': 'owned' },
    name: 'blue',
    beside: { 'kubernetes.io/cluster/my-cluster': 'owned' },
    size: 1,
    more: labelControlPlane,
    says: [/skipped: its node \S+ runs the control plane .*such as kubeadm/],
  },
  {
    section: 'Self-managed groups of an EKS cluster',
    tags: {
      'alpha.eksctl.io/nodegroup-name': 'my-ng',
      'kubernetes.io/cluster/my-cluster': 'owned',
    },
    name: 'my-ng',
    beside: { 'eks:nodegroup-name': 'theirs', 'kubernetes.io/cluster/my-cluster': 'owned' },
    size: 0,
    more: addKarpenterNode,
    says: [/skipped: EKS manages it/, /Karpenter manages 1 nodes/],
  },
])('the walk-through of $section', ({ section, tags, name, beside, size, more, says }) => {
  it('adopts what the tool made for nodes alone, and gives it back as it was', async () => {
    const given = await GivenGroup.begin({}, { Tags: tagList(tags) });
    await addGroup(given, beside, size);
    more?.(given);
    const before = stateOf(given);
    const [shown = '', adopted = '', listed = '', released = ''] = await replay(given, section);
    for (const words of says) expect(shown).toMatch(words);
    expect(shown).toMatch(/adds: +lifecycle hook Terminate-LC-Hook/);
    expect(shown).toMatch(/nothing was changed in context prod \(https:\/\/prod\)/);
    expect(adopted).toMatch(new RegExp(`adopted mine as nodegroup ${name}`));
    expect(listed).toMatch(new RegExp(`${name} .*mine`));
    expect(released).toMatch(new RegExp(`released nodegroup ${name}`));
    expect(stateOf(given)).toEqual(before);
    await given.life.end();
  });
});

// Flags of a node group follow the rules of a file; an error names the flag.
import { describe, expect, it } from 'vitest';
import { type GroupFlags, groupOfFlags } from './group-flags.ts';

const none: GroupFlags = {
  managed: true,
  nodePrivateNetworking: false,
  sshAccess: false,
  spot: false,
};

describe('flags of a node group', () => {
  it.each<[Partial<GroupFlags>, RegExp]>([
    [{ nodeVolumeSize: '0' }, /^--node-volume-size takes a whole number from 1 to 16384, not 0/],
    [{ nodeVolumeType: 'fast' }, /^--node-volume-type takes one of gp2, /],
    [{ nodeAmiFamily: 'Slackware' }, /^--node-ami-family takes one of AmazonLinux2023, /],
    [{ nodeAmi: 'mine' }, /^--node-ami takes an id such as ami-/],
    [{ maxPodsPerNode: '738', managed: false }, /^--max-pods-per-node takes a whole number from 1/],
    [{ maxPodsPerNode: '20' }, /^--max-pods-per-node is not supported here: EKS writes/],
    [{ nodeLabels: 'a b=c' }, /^--node-labels: a b is named wrongly: a name is up to 63 letters/],
    [{ nodeLabels: "a=x'; reboot; '" }, /^--node-labels: a takes up to 63 letters/],
    [{ spot: true, managed: false }, /^--spot is not supported here: a self-managed group is on/],
    [{ instanceTypes: 'm5.large,m6i.large', managed: false }, /^--instance-types is not supported/],
    [
      { instanceTypes: 'm5.large', nodeType: 'm6i.large' },
      /^--node-type is not supported here: --instance-types is given as well/,
    ],
    [
      { subnetIds: 'subnet-01234567', nodeZones: 'eu-west-1a' },
      /^--node-zones is not supported here: --subnet-ids says/,
    ],
    [{ nodeAmiFamily: 'Ubuntu2204', managed: false }, /^--node-ami-family is not supported here/],
    [{ nodes: '1', nodesMin: '3' }, /^node group blue asks for a minimum size of 3/],
  ])('%j', (flags, expected) => {
    expect(() => groupOfFlags({ ...none, ...flags }, 'blue')).toThrow(
      expect.objectContaining({ message: expect.stringMatching(expected), exitCode: 2 }),
    );
  });

  it('a name with an underscore is none: its stack could not have it', () => {
    const rule =
      /^a_b is no name of a managed node group: up to 63 lower case letters, digits and -, with/;
    expect(() => groupOfFlags(none, 'a_b')).toThrow(rule);
  });

  it('a name that ends with - is none: no label of its nodes could have it', () => {
    const own = { ...none, managed: false };
    const rule =
      /^own- is no name of a self-managed node group: up to 63 letters, digits and -, with/;
    expect(() => groupOfFlags(own, 'own-')).toThrow(rule);
    expect(groupOfFlags(own, 'Own').name).toBe('Own');
  });

  it('what breaks no rule becomes a group', () => {
    const flags = { ...none, spot: true, nodeLabels: 'team=a,b/c=', tags: 'any thing=x y' };
    expect(groupOfFlags(flags, 'blue')).toMatchObject({
      kind: 'managed',
      spot: true,
      labels: { team: 'a', 'b/c': '' },
      tags: { 'any thing': 'x y' },
      volumeSizeGiB: 80,
    });
  });
});

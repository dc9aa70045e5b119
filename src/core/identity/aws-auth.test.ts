// Changes of aws-auth: no other entry is lost or hidden, whatever the map contains.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import { type AwsAuthData, awsAuthEntries } from '../../formats/index.ts';
import {
  type AwsAuthMap,
  awsAuthRequest,
  isAdmitted,
  lossIn,
  planAdmission,
  planRemoval,
} from './aws-auth.ts';
import { type BackupsMap, backupsIn, differenceOf, planBackup, planRestore } from './backups.ts';
import { identityFindings } from './findings.ts';

const arn = (name: string): string => `arn:aws:iam::111111111111:role/${name}`;
const user = 'system:node:{{EC2PrivateDNSName}}';
const entry = (name: string): string =>
  `- groups:\n  - system:bootstrappers\n  - system:nodes\n  rolearn: ${arn(name)}\n  username: ${user}\n`;

const aMap = (
  data: AwsAuthData,
  added: readonly string[] = [],
  resourceVersion = '7',
): AwsAuthMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'aws-auth',
    uid: 'u',
    creationTimestamp: '2026-01-01T00:00:00Z',
    resourceVersion,
    annotations: { 'drover.dev/added-roles': added.join(' ') },
  },
  data,
});

const written = (plan: ReturnType<typeof planAdmission>) => {
  if (plan.kind !== 'write') throw new Error(JSON.stringify(plan));
  return plan;
};

describe('letting a role in', () => {
  it('writes it last, remembers that it is ours, with the version that was read', () => {
    const map = aMap({ mapRoles: entry('a') }, [arn('x')]);
    const plan = written(planAdmission(map, arn('b')));
    expect(awsAuthRequest(map, plan, 'mapRoles')).toEqual({
      verb: 'patch',
      body: {
        metadata: {
          resourceVersion: '7',
          annotations: { 'drover.dev/added-roles': `${arn('x')} ${arn('b')}` },
        },
        data: { mapRoles: entry('a') + entry('b') },
      },
    });
  });

  it('strips a path, and says so', () => {
    const plan = written(planAdmission(undefined, arn('team/nodes')));
    expect(plan.data.mapRoles).toBe(entry('nodes'));
    expect(plan.warnings.join()).toMatch(
      /is authorized as .*role\/nodes: a node's session does not contain/,
    );
  });

  it('says which entry authorizes no one because of its path', () => {
    const map = aMap({ mapRoles: entry('team/nodes') });
    const plan = written(planAdmission(map, arn('nodes')));
    expect(plan.warnings).toEqual([
      `the entry of ${arn('team/nodes')} has a path and authorizes no one`,
    ]);
    expect(plan.data.mapRoles).toBe(entry('team/nodes') + entry('nodes'));
  });

  it.each([
    ['arn:aws:iam::111111111111:instance-profile/x', /is an instance profile; name the role/],
    ['arn:aws:iam::111111111111:user/x', /is no ARN of a role/],
    ['nodes', /is no ARN of a role/],
    ['arn:aws:iam::1:role/x', /is no ARN of a role/],
    ['arn:aws:iam::111111111111:role/', /is no ARN of a role/],
    ['arn:aws:iam::111111111111:role/a\n- rolearn: b', /is no ARN of a role/],
  ])('refuses %j', (role, why) => {
    const plan = planAdmission(undefined, role);
    expect(plan.kind === 'refused' && plan.why).toMatch(why);
  });

  it.each(['aws', 'aws-cn', 'aws-us-gov', 'aws-iso-b'])('takes roles of partition %s', (name) => {
    const role = arn('n').replace('arn:aws:', `arn:${name}:`);
    expect(written(planAdmission(undefined, role)).data.mapRoles).toContain(role);
  });

  it('never writes over what no one can read', () => {
    for (const mapRoles of ['a: [', '- a', 'a: b', '- &a [*a', '"']) {
      expect(planAdmission(aMap({ mapRoles }), arn('n')).kind).toBe('refused');
      expect(planRemoval(aMap({ mapRoles }, [arn('n')]), arn('n')).kind).toBe('refused');
    }
  });
});

describe('taking a role out', () => {
  it('takes that one alone, and the memory of it', () => {
    const map = aMap({ mapRoles: entry('a') + entry('b'), mapUsers: 'x' }, [arn('a'), arn('b')]);
    const plan = written(planRemoval(map, arn('a')));
    expect(plan.data).toEqual({ mapRoles: entry('b'), mapUsers: 'x' });
    expect(plan.added).toEqual([arn('b')]);
  });

  it('leaves an entry that is more than a node’s', () => {
    const mapRoles = `- {rolearn: '${arn('a')}', username: admin, groups: [system:masters]}\n`;
    expect(planRemoval(aMap({ mapRoles }, [arn('a')]), arn('a')).kind).toBe('unchanged');
  });

  it('leave an entry that was not added by us', () => {
    const mapRoles = entry('a') + entry('b');
    const plan = planRemoval(aMap({ mapRoles }, [arn('b')]), arn('a'));
    expect(plan.kind).toBe('unchanged');
  });
});

describe('the second look at a change', () => {
  const two = { mapRoles: entry('a') + entry('b'), mapUsers: 'x' };
  it.each([
    ['a lost entry', { ...two, mapRoles: entry('a') }, /entry of .*role\/b would be lost/],
    ['another order', { ...two, mapRoles: entry('b') + entry('a') }, /role\/a would be lost/],
    ['a lost group', { ...two, mapRoles: two.mapRoles.replace('  - system:nodes\n', '') }, /lost/],
    ['a hidden entry', { ...two, mapRoles: two.mapRoles + entry('B') }, /twice/],
    ['another key', { ...two, mapUsers: 'y' }, /mapUsers would change/],
    ['no list any more', { ...two, mapRoles: 'a: b' }, /could not be read/],
  ])('finds %s', (_, after, why) => {
    expect(lossIn(two, after)).toMatch(why);
  });

  it('finds nothing in what only adds, or takes out what is to go', () => {
    expect(lossIn(two, { ...two, mapRoles: two.mapRoles + entry('c') })).toBeUndefined();
    expect(lossIn(two, { ...two, mapRoles: entry('b') }, arn('a'))).toBeUndefined();
  });

  it('holds for any map that can be written at all', () => {
    const anEntry = fc.record(
      {
        rolearn: fc.constantFrom(arn('a'), arn('b'), arn('p/c'), 'odd', arn('N')),
        username: fc.constantFrom(user, 'admin', 'x: {{SessionName}}'),
        groups: fc.array(fc.constantFrom('system:nodes', 'system:masters', 'g'), { maxLength: 3 }),
        extra: fc.string(),
      },
      { requiredKeys: ['rolearn'] },
    );
    fc.assert(
      fc.property(fc.array(anEntry, { maxLength: 5 }), (entries) => {
        const before = { mapRoles: JSON.stringify(entries), mapUsers: 'kept' };
        const plan = planAdmission(aMap(before), arn('n'));
        if (plan.kind !== 'write') return;
        expect(lossIn(before, plan.data)).toBeUndefined();
        const had = awsAuthEntries(before.mapRoles) ?? [];
        expect(awsAuthEntries(plan.data.mapRoles)).toHaveLength(
          had.some((one) => one.arn === arn('N')) ? had.length : had.length + 1,
        );
        expect(isAdmitted(aMap(plan.data), arn('n'))).toBe(true);
      }),
    );
  });
});

describe('backups', () => {
  const now = epochMs(0);
  const backUp = (backups: BackupsMap | undefined, map: AwsAuthMap): BackupsMap | undefined => {
    const request = planBackup(backups, map, { before: 'b', now });
    if (request === undefined) return backups;
    const data = { ...backups?.data, ...request.body.data } as Record<string, string | null>;
    const left = Object.entries(data).filter(([, text]) => text !== null);
    return {
      ...aMap({}),
      data: Object.fromEntries(left) as Record<string, string>,
    };
  };

  it('are numbered, and the oldest go', () => {
    let backups: BackupsMap | undefined;
    for (let i = 0; i < 25; i++) backups = backUp(backups, aMap({ mapRoles: entry(`r${i}`) }));
    const kept = backupsIn(backups);
    expect(kept.map(({ number }) => number)).toEqual([25, 24, 23, 22, 21, 20, 19, 18, 17, 16]);
    expect(kept[0]?.data).toEqual({ mapRoles: entry('r24') });
  });

  it('are not made twice of the same, nor of nothing', () => {
    const once = backUp(undefined, aMap({ mapRoles: entry('a') }));
    expect(planBackup(once, aMap({ mapRoles: entry('a') }, [], '9'), { before: 'b', now })).toBe(
      undefined,
    );
    expect(planBackup(once, undefined, { before: 'b', now })).toBeUndefined();
  });

  it('stay within what a ConfigMap holds', () => {
    let backups: BackupsMap | undefined;
    for (let i = 0; i < 9; i++) {
      backups = backUp(backups, aMap({ mapRoles: `# ${'x'.repeat(150_000)}${i}` }));
    }
    expect(backupsIn(backups).length).toBe(3);
    expect(JSON.stringify(backups?.data).length).toBeLessThan(1_000_000);
  });

  it('leave out what another actor wrote there', () => {
    const data = { '000001': '{', notes: 'x', '000002': '{"at":1}', '000003': '[]' };
    expect(backupsIn({ ...aMap({}), data })).toEqual([]);
  });

  const wiped = aMap({ mapRoles: '[]\n' });
  const [backup] = backupsIn(backUp(undefined, aMap({ mapRoles: entry('a') }, [arn('a')])));
  if (backup === undefined) throw new Error('no backup');

  it('come back whole, keys that came since go', () => {
    const map = aMap({ mapRoles: '[]\n', mapUsers: '[]\n' });
    const plan = written(planRestore(map, backup, { used: new Map(), isForced: false }));
    expect(awsAuthRequest(map, plan, 'all').body).toMatchObject({
      metadata: { resourceVersion: '7', annotations: { 'drover.dev/added-roles': arn('a') } },
      data: { mapRoles: entry('a'), mapUsers: null },
    });
    expect(differenceOf(wiped.data ?? {}, backup.data).comesBack).toEqual([arn('a')]);
  });

  it('are not put back over nodes that would be locked out, unless forced', () => {
    const used = new Map([[arn('z'), 'node group z']]);
    const now = aMap({ mapRoles: entry('z') });
    const plan = planRestore(now, backup, { used, isForced: false });
    expect(plan.kind === 'refused' && plan.why).toMatch(
      /with backup 1 .*role\/z, which node group z uses, would not be let in/,
    );
    expect(planRestore(now, backup, { used, isForced: true }).kind).toBe('write');
  });

  it('are put back over a map that authorizes no one, with a warning of who is not in them', () => {
    const used = new Map([[arn('z'), 'node group z']]);
    for (const mapRoles of ['[]\n', 'a: [']) {
      const plan = written(planRestore(aMap({ mapRoles }), backup, { used, isForced: false }));
      expect(plan.warnings.join()).toMatch(/role\/z, which node group z uses, would not be let in/);
    }
  });

  it.each([
    ['another user', entry('z').replace(user, 'admin')],
    ['too few groups', entry('z').replace('  - system:nodes\n', '')],
    ['two entries', entry('z') + entry('z')],
  ])('are not put back over nodes that %s would lock out', (_, mapRoles) => {
    const used = new Map([[arn('z'), 'node group z']]);
    const bad = { ...backup, data: { mapRoles } };
    const restored = (now: string) =>
      planRestore(aMap({ mapRoles: now }), bad, { used, isForced: false }).kind;
    expect(restored(entry('z'))).toBe('refused');
    expect(restored(`${mapRoles}# as bad as it was\n`)).toBe('write');
  });
});

describe('a map of aliases and merge keys', () => {
  const shared =
    `- &a\n  rolearn: ${arn('a')}\n  username: ${user}\n` +
    `  groups: &g [system:bootstrappers, system:nodes]\n` +
    `- rolearn: ${arn('b')}\n  username: ${user}\n  groups: *g\n` +
    `- <<: *a\n  rolearn: ${arn('c')}\n`;

  it('is read with what they bring', () => {
    for (const name of ['a', 'b', 'c'])
      expect(isAdmitted(aMap({ mapRoles: shared }), arn(name))).toBe(true);
  });

  it('keeps the groups that an alias brings when one is added', () => {
    const mapRoles =
      `- {rolearn: x, groups: &g [system:nodes, extra]}\n` +
      `- {rolearn: '${arn('b')}', username: '${user}', groups: *g}\n`;
    const plan = written(planAdmission(aMap({ mapRoles }), arn('b')));
    expect(awsAuthEntries(plan.data.mapRoles)?.map(({ groups }) => groups)).toEqual([
      ['system:nodes', 'extra'],
      ['system:nodes', 'extra', 'system:bootstrappers'],
    ]);
  });

  it('is not changed where others take their parts from what goes', () => {
    const plan = planRemoval(aMap({ mapRoles: shared }, [arn('a')]), arn('a'));
    expect(plan.kind === 'refused' && plan.why).toMatch(/another entry takes parts of that of/);
    const short = shared.replace('system:bootstrappers, ', '');
    const admitted = planAdmission(aMap({ mapRoles: short }), arn('a'));
    expect(admitted.kind === 'refused' && admitted.why).toMatch(/takes parts/);
  });

  it('that grows without end is refused', () => {
    const levels = Array.from(
      { length: 20 },
      (_, i) => `- &a${i + 1} {g: [${`*a${i},`.repeat(9)}]}`,
    );
    const plan = planAdmission(
      aMap({ mapRoles: `- &a0 {g: x}\n${levels.join('\n')}\n` }),
      arn('n'),
    );
    expect(plan.kind === 'refused' && plan.why).toMatch(/not to be read: Excessive alias count/);
  });
});

it('what foreign entries hold is written as it stood there', () => {
  const foreign = `- rolearn: ${arn('f')}\n  username: 0123\n  note: 1_000\n  empty:\n  on: yes\n`;
  const plan = written(planAdmission(aMap({ mapRoles: foreign }), arn('n')));
  expect(plan.data.mapRoles).toBe(foreign + entry('n'));
});

it('groups that are no list are another actor’s to fix', () => {
  const mapRoles = `- {rolearn: '${arn('n')}', username: '${user}', groups: system:masters}\n`;
  const plan = planAdmission(aMap({ mapRoles }), arn('n'));
  expect(plan.kind === 'refused' && plan.why).toMatch(/the groups of .* are no list/);
});

describe('findings', () => {
  const users = [
    { name: 'node group a', roleArn: arn('p/a'), system: 'linux' },
    { name: 'node group w', roleArn: arn('w'), system: 'windows' },
  ] as const;

  it('are none where everybody is authorized', () => {
    const windows = entry('w').replace('nodes\n', 'nodes\n  - eks:kube-proxy-windows\n');
    expect(identityFindings(aMap({ mapRoles: entry('a') + windows }), users)).toEqual([]);
  });

  it.each([
    ['a role that is missing', entry('w'), ['windows-group-missing', 'role-not-mapped']],
    ['a role that stands there twice', entry('a') + entry('a'), ['AUTH002', 'role-not-mapped']],
    ['a path', entry('p/a') + entry('w'), ['AUTH001', 'role-not-mapped']],
    ['no YAML', 'a: [', ['AUTH006']],
    ['objects that are none', '- a', ['AUTH006']],
  ])('name %s', (_, mapRoles, rules) => {
    const found = identityFindings(aMap({ mapRoles }), users).map(({ rule }) => rule);
    expect(found).toEqual(expect.arrayContaining(rules));
  });

  it('warn of a role that nodes of both systems have', () => {
    const both = users.map((one) => ({ ...one, roleArn: arn('w') }));
    const found = identityFindings(aMap({ mapRoles: entry('w') }), both);
    expect(found.at(-1)).toMatchObject({ rule: 'role-of-both-systems', severity: 'warning' });
  });
});

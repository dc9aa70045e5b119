// aws-auth: adds a role as article 002 prints it, and loses no other entry.
import { describe, expect, it } from 'vitest';
import { addNodeRole, mappedUser, removeNodeRole } from './index.ts';

const arn = (name: string): string => `arn:aws:iam::111111111111:role/${name}`;
const entry = (name: string): string =>
  `- groups:\n  - system:bootstrappers\n  - system:nodes\n  rolearn: ${arn(name)}\n  username: system:node:{{EC2PrivateDNSName}}\n`;

const changed = (data: Record<string, string>, role: string) => {
  const change = addNodeRole(data, role);
  if (change.kind !== 'changed') throw new Error(JSON.stringify(change));
  return change.data;
};

describe('addNodeRole', () => {
  it('adds an entry at the end, byte for byte as eksctl does (article 002)', () => {
    expect(changed({ mapRoles: entry('a') + entry('b') }, arn('c'))).toEqual({
      mapRoles: entry('a') + entry('b') + entry('c'),
      mapUsers: '[]\n',
    });
  });

  it('adds the group of kube-proxy for Windows nodes, also to an entry that lacks it', () => {
    const windows = entry('w').replace('nodes\n', 'nodes\n  - eks:kube-proxy-windows\n');
    for (const before of [{}, { mapRoles: entry('w') }]) {
      const change = addNodeRole(before, arn('w'), 'windows');
      expect(change).toMatchObject({ kind: 'changed', data: { mapRoles: windows } });
    }
    expect(addNodeRole({ mapRoles: windows }, arn('w')).kind).toBe('unchanged');
  });

  it.each([[{}], [{ mapRoles: '' }], [{ mapRoles: '[]\n' }]])('fills an empty map: %j', (data) => {
    expect(changed(data, arn('c')).mapRoles).toBe(entry('c'));
  });

  it('leaves comments, foreign entries and other keys alone', () => {
    const mine = `# do not touch\n- rolearn: ${arn('admin')} # boss\n  username: admin\n  groups: [system:masters]\n`;
    const data = changed(
      { mapRoles: mine, mapUsers: '- userarn: x\n', mapAccounts: 'z' },
      arn('c'),
    );
    expect(data.mapRoles).toContain('# do not touch');
    expect(data.mapRoles).toContain('# boss');
    expect(data.mapRoles).toContain('system:masters');
    expect(data.mapRoles?.endsWith(entry('c'))).toBe(true);
    expect(data).toMatchObject({ mapUsers: '- userarn: x\n', mapAccounts: 'z' });
  });

  it('changes nothing when the role is there, whatever its case', () => {
    expect(addNodeRole({ mapRoles: entry('a') }, arn('a'))).toEqual({ kind: 'unchanged' });
    expect(addNodeRole({ mapRoles: entry('a') }, arn('some/path/a'))).toEqual({
      kind: 'unchanged',
    });
    expect(addNodeRole({ mapRoles: entry('A') }, arn('a'))).toEqual({ kind: 'unchanged' });
  });

  it('adds a role without its path, beside an entry with one that matches no one', () => {
    expect(changed({}, arn('some/path/a')).mapRoles).toBe(entry('a'));
    const { mapRoles } = changed({ mapRoles: entry('some/path/a') }, arn('some/path/a'));
    expect(mapRoles).toBe(entry('some/path/a') + entry('a'));
  });

  it('tells the same role of two partitions apart', () => {
    const china = arn('a').replace('arn:aws:', 'arn:aws-cn:');
    const { mapRoles } = changed({ mapRoles: entry('a') }, china);
    expect(mapRoles?.match(/rolearn/g)).toHaveLength(2);
  });

  it('completes the groups of an entry that is there', () => {
    const lacking = `- groups:\n  - eks:kube-proxy-windows\n  rolearn: ${arn('a')}\n  username: system:node:{{EC2PrivateDNSName}}\n`;
    const { mapRoles } = changed({ mapRoles: lacking }, arn('a'));
    expect(mapRoles).toContain(
      '- eks:kube-proxy-windows\n  - system:bootstrappers\n  - system:nodes',
    );
    expect(mapRoles?.match(/rolearn/g)).toHaveLength(1);
  });

  it('completes groups under the key that exists, whatever its case', () => {
    const { mapRoles } = changed(
      { mapRoles: `- Groups:\n  - system:nodes\n  rolearn: ${arn('a')}\n` },
      arn('a'),
    );
    expect(mapRoles).toMatch(/- Groups:\n\s+- system:nodes\n\s+- system:bootstrappers/);
    expect(mapRoles).not.toContain('groups:');
  });

  it('refuses to make nodes of another actor', () => {
    const mapRoles = `- rolearn: ${arn('a')}\n  username: admin\n  groups: [system:masters]\n`;
    const change = addNodeRole({ mapRoles }, arn('a'));
    expect(change.kind === 'refused' && change.why).toMatch(/to the user admin/);
  });

  it('takes a map of comments alone for an empty one', () => {
    expect(changed({ mapRoles: '# nobody yet\n' }, arn('a')).mapRoles).toContain(entry('a'));
  });

  it.each([
    ['twice the same role', entry('a') + entry('a'), /2 times/],
    ['no YAML', 'a: [', /not YAML/],
    ['no list', 'a: b', /not a list/],
    ['entries that are texts', '- a', /not objects/],
  ])('refuses to write over %s', (_, mapRoles, why) => {
    const change = addNodeRole({ mapRoles }, arn('a'));
    expect(change.kind === 'refused' && change.why).toMatch(why);
  });
});

describe('removeNodeRole', () => {
  it('takes away what addNodeRole added', () => {
    const data = changed({ mapRoles: entry('a'), mapUsers: '[]\n' }, arn('c'));
    expect(removeNodeRole(data, arn('c'))).toEqual({
      kind: 'changed',
      data: { mapRoles: entry('a'), mapUsers: '[]\n' },
    });
  });

  it('leaves alone what is not written for nodes, and a role that exists twice', () => {
    const own = `- rolearn: ${arn('a')}\n  username: admin\n  groups: [system:masters]\n`;
    expect(removeNodeRole({ mapRoles: own }, arn('a'))).toEqual({ kind: 'unchanged' });
    expect(removeNodeRole({ mapRoles: entry('a') + entry('a') }, arn('a')).kind).toBe('refused');
  });

  it('leaves an empty list when the last one goes, and nothing to do when there is none', () => {
    const change = removeNodeRole({ mapRoles: entry('a') }, arn('a'));
    expect(change).toEqual({ kind: 'changed', data: { mapRoles: '[]\n' } });
    expect(removeNodeRole({ mapRoles: entry('a') }, arn('b'))).toEqual({ kind: 'unchanged' });
  });
});

describe('mappedUser', () => {
  const session = (role: string, name: string): string =>
    `arn:aws:sts::111111111111:assumed-role/${role}/${name}`;
  const user = (name: string): string => `arn:aws:iam::111111111111:user/${name}`;
  const dns = 'ip-192-168-1-2.eu-west-1.compute.internal';
  const names = new Map([['i-0123456789abcdef0', dns]]);
  const mapRoles = `${entry('node')}
${entry('path/to/pathful')}
- rolearn: ${arn('viewer')}
  username: old
- rolearn: ${arn('viewer')}
  username: 'view:{{AccountID}}:{{SessionName}}'
  groups: [viewers]
- {rolearn: ${arn('raw')}, username: '{{SessionNameRaw}}'}
- {rolearn: ${arn('odd')}, username: '{{Nobody}}'}
- {rolearn: ${arn('nameless')}, groups: [system:masters]}
`;
  const mapUsers = `- {userarn: ${user('ann')}, username: ann, groups: [a, b]}\n`;
  const of = (who: string) => mappedUser({ mapRoles, mapUsers }, who, (id) => names.get(id));

  it.each([
    [
      session('node', 'i-0123456789abcdef0'),
      { username: `system:node:${dns}`, groups: ['system:bootstrappers', 'system:nodes'] },
    ],
    [session('viewer', 'me@home'), { username: 'view:111111111111:me-home', groups: ['viewers'] }],
    [session('raw', 'me@home'), { username: 'me@home', groups: [] }],
    [user('ann'), { username: 'ann', groups: ['a', 'b'] }],
  ])('knows %s', (who, expected) => {
    expect(of(who)).toEqual(expected);
  });

  it.each([
    ['a role without entry', session('readonly', 's')],
    ['a user without entry', user('bob')],
    // kubernetes-sigs/aws-iam-authenticator#268
    ['a role whose entry has its path', session('pathful', 'i-0123456789abcdef0')],
    ['a session of a node role that no instance has', session('node', 'i-00000000000000000')],
    ['a session of a node role that a person opened', session('node', 'me')],
    ['a template that nobody can fill', session('odd', 's')],
    ['an entry without user name', session('nameless', 's')],
  ])('knows no one behind %s', (_, who) => {
    expect(of(who)).toBeUndefined();
  });

  it('knows no one where the map is no list', () => {
    for (const broken of ['a: [', 'a: b', '']) {
      expect(mappedUser({ mapRoles: broken }, session('viewer', 's'), () => dns)).toBeUndefined();
    }
    expect(mappedUser({}, session('viewer', 's'), () => dns)).toBeUndefined();
  });
});

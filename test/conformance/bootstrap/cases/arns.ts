// Forms of ARNs in aws-auth: the one that is written for a node's role, and the roles that a
// caller's ARN matches.
import type { Case, Topic } from '../topic.ts';

/** The ARN that is written for a role; undefined: refused. */
const written = (
  name: string,
  given: string,
  expected: string | undefined = given,
): Case<string, string | undefined> => ({ name: `${name}: ${given}`, given, expected });
const refused = (name: string, given: string): Case<string, string | undefined> => ({
  name: `${name}: ${given}`,
  given,
  expected: undefined,
});

const role = (name: string, partition = 'aws'): string =>
  `arn:${partition}:iam::111122223333:role/${name}`;

export const roleArns: Topic<string, string | undefined> = {
  topic: 'ARNs of node roles',
  upstream: 'aws-iam-authenticator: pkg/arn, pkg/mapper/configmap; IAM user guide',
  behaviour:
    'A node’s session tells no path, so that an entry with one lets nobody in; an instance profile, a ' +
    'user or a session is no role',
  differences: ['a path is taken off with a warning instead of being written as it is'],
  cases: [
    written('commercial', role('nodes')),
    written('China', role('nodes', 'aws-cn')),
    written('GovCloud', role('nodes', 'aws-us-gov')),
    written('secret', role('nodes', 'aws-iso-b')),
    written('European sovereign', role('nodes', 'aws-eusc')),
    written('a name in capitals', role('Nodes')),
    written('every character of a name', role('a+b=c,d.e@f-g_h')),
    written('a path', role('team/nodes'), role('nodes')),
    written('a deep path', role('a/b/c/nodes'), role('nodes')),
    written('a service’s path', role('aws-service-role/eks.amazonaws.com/nodes'), role('nodes')),
    written('a path in China', role('team/nodes', 'aws-cn'), role('nodes', 'aws-cn')),
    refused('an instance profile', 'arn:aws:iam::111122223333:instance-profile/nodes'),
    refused('a user', 'arn:aws:iam::111122223333:user/nodes'),
    refused('the root', 'arn:aws:iam::111122223333:root'),
    refused('a session', 'arn:aws:sts::111122223333:assumed-role/nodes/i-0a'),
    refused('an account of eleven digits', 'arn:aws:iam::11112222333:role/nodes'),
    refused('no account', 'arn:aws:iam:::role/nodes'),
    refused('a region', 'arn:aws:iam:eu-west-1:111122223333:role/nodes'),
    refused('another partition’s name', role('nodes', 'gcp')),
    refused('no name', role('')),
    refused('a path alone', role('team/')),
    refused('a wildcard', role('*')),
    refused('a name alone', 'nodes'),
    refused('a template that was not filled', 'arn:aws:iam::{{AccountID}}:role/nodes'),
  ],
};

interface Caller {
  readonly rolearn: string;
  readonly username: string;
  readonly caller: string;
}
const session = (name: string, id = 'i-0abc', partition = 'aws'): string =>
  `arn:${partition}:sts::111122223333:assumed-role/${name}/${id}`;
const node = 'system:node:{{EC2PrivateDNSName}}';
const dns = 'ip-10-0-0-1.eu-west-1.compute.internal';

const called = (
  name: string,
  rolearn: string,
  caller: string,
  expected: string | undefined,
  username = node,
): Case<Caller, string | undefined> => ({ name, given: { rolearn, username, caller }, expected });

export const callers: Topic<Caller, string | undefined> = {
  topic: 'Callers and their entries',
  upstream: 'aws-iam-authenticator: pkg/arn, pkg/mapper, pkg/server',
  behaviour:
    'A session means its role’s ARN, compared without regard to case; templates are filled from the ' +
    'session, and {{EC2PrivateDNSName}} only for one that is named as an instance',
  differences: ['`{{AccessKeyID}}` is never filled: an entry that asks for it maps nobody'],
  cases: [
    called('a node', role('nodes'), session('nodes'), `system:node:${dns}`),
    called(
      'a node in China',
      role('nodes', 'aws-cn'),
      session('nodes', 'i-0abc', 'aws-cn'),
      `system:node:${dns}`,
    ),
    called(
      'a node of GovCloud',
      role('nodes', 'aws-us-gov'),
      session('nodes', 'i-0abc', 'aws-us-gov'),
      `system:node:${dns}`,
    ),
    called('a node of another partition', role('nodes', 'aws-cn'), session('nodes'), undefined),
    called(
      'a node of another account',
      role('nodes').replace('1111', '9999'),
      session('nodes'),
      undefined,
    ),
    called('an entry in capitals', role('NODES'), session('nodes'), `system:node:${dns}`),
    called('a role in capitals', role('nodes'), session('Nodes'), `system:node:${dns}`),
    called('an entry with a path', role('team/nodes'), session('nodes'), undefined),
    called(
      'an entry of an instance profile',
      role('nodes').replace('role', 'instance-profile'),
      session('nodes'),
      undefined,
    ),
    called('a role that begins as another', role('node'), session('nodes'), undefined),
    called('a session that is no instance’s', role('nodes'), session('nodes', 'alice'), undefined),
    called('the role itself, which is no session', role('nodes'), role('nodes'), undefined),
    called('a session’s name', role('dev'), session('dev', 'alice'), 'alice', '{{SessionName}}'),
    called('an @ becomes a -', role('dev'), session('dev', 'a@b.c'), 'a-b.c', '{{SessionName}}'),
    called('an @ as it is', role('dev'), session('dev', 'a@b.c'), 'a@b.c', '{{SessionNameRaw}}'),
    called('the account', role('dev'), session('dev'), 'dev:111122223333', 'dev:{{AccountID}}'),
    called(
      'two templates',
      role('dev'),
      session('dev', 'al'),
      '111122223333:al',
      '{{AccountID}}:{{SessionName}}',
    ),
    called('a name without a template', role('dev'), session('dev', 'al'), 'admin', 'admin'),
    called('no name', role('dev'), session('dev'), undefined, ''),
    called('a template that nobody knows', role('dev'), session('dev'), undefined, '{{Nobody}}'),
    called('an access key', role('dev'), session('dev'), undefined, '{{AccessKeyID}}'),
  ],
};

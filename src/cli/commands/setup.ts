// drover setup aws: prints what the controller needs in an AWS account: queue, EventBridge rules,
// role and policy, as commands, CloudFormation, Terraform or JSON. Calls nothing and changes
// nothing.
import { type Command, Option } from 'commander';
import { maxQueueName } from '../../core/setup/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { cloudFormationTemplate } from '../setup/cloudformation.ts';
import { resourcesOf, type SetupOptions } from '../setup/resources.ts';
import { removalText, shellText } from '../setup/shell.ts';
import { terraformText } from '../setup/terraform.ts';

const formats = ['commands', 'cloudformation', 'terraform', 'json'] as const;
type Format = (typeof formats)[number];

interface SetupFlags {
  readonly format: Format;
  readonly queue: string;
  readonly role: string;
  readonly nodeRole?: string;
  readonly adoptOnly: boolean;
  readonly groupTag?: string;
  readonly irsaIssuer?: string;
  readonly remove: boolean;
}

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

const tagOf = (text: string | undefined): SetupOptions['groupTag'] => {
  if (text === undefined) return undefined;
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined || /["'\\$`]/.test(text)) {
    throw usage(`--group-tag takes KEY=VALUE without quotes, not ${text}`);
  }
  return { key, value };
};

/** Names go into shell commands and templates: the characters that AWS allows, and no others. */
const checked = (flag: string, text: string, pattern: RegExp): string => {
  if (pattern.test(text)) return text;
  throw usage(`${flag} has characters that AWS does not allow: ${text}`);
};

/** `*` would let the controller start instances with every role of the account. */
const nodeRoleOf = ({ nodeRole: text, remove }: SetupFlags): string => {
  if (remove) return text ?? '';
  if (text === undefined) {
    throw usage(
      "--node-role is missing: the policy allows to pass the nodes' role to new instances, and no " +
        'other; name it, or the beginning of its name with *',
    );
  }
  if (/^\*+$/.test(text)) {
    throw usage(
      '--node-role * would allow the controller to pass any role of the account to an instance; ' +
        "name the nodes' role or the beginning of its name, such as eksctl-my-cluster-*",
    );
  }
  return checked('--node-role', text, /^[A-Za-z0-9+=,.@_/*-]{1,128}$/);
};

const queueOf = (text: string): string => {
  const name = checked('--queue', text, /^[A-Za-z0-9_-]+$/);
  if (name.length <= maxQueueName) return name;
  const most = `at most ${maxQueueName} characters, since the rules' names begin with it`;
  throw usage(`--queue takes ${most}; this one has ${name.length}: ${name}`);
};

const optionsOf = (flags: SetupFlags): SetupOptions => {
  const issuer = flags.irsaIssuer?.replace(/^https:\/\//, '');
  return {
    queue: queueOf(flags.queue),
    role: checked('--role', flags.role, /^[A-Za-z0-9+=,.@_-]{1,64}$/),
    nodeRole: nodeRoleOf(flags),
    createsGroups: !flags.adoptOnly,
    groupTag: tagOf(flags.groupTag),
    issuer:
      issuer === undefined
        ? undefined
        : checked('--irsa-issuer', issuer, /^[A-Za-z0-9./-]{1,256}$/),
  };
};

/** The default names may belong to another cluster of the account. */
const needNames = (command: Command): void => {
  const missing = ['queue', 'role'].filter((name) => command.getOptionValueSource(name) !== 'cli');
  if (missing.length === 0) return;
  throw usage(
    `--remove deletes by name, and another cluster of the account may use the default names: ` +
      `add ${missing.map((name) => `--${name} ${command.getOptionValue(name)}`).join(' ')} if ` +
      'they are those of this cluster',
  );
};

const texts: Readonly<Record<Format, (options: SetupOptions) => string>> = {
  commands: shellText,
  terraform: terraformText,
  cloudformation: (options) => JSON.stringify(cloudFormationTemplate(options), null, 2),
  json: (options) => {
    const place = { partition: 'aws', region: 'REGION', account: 'ACCOUNT' };
    return JSON.stringify(resourcesOf(options, place), null, 2);
  },
};

export const addSetupCommands = (program: Command, context: CliContext): void => {
  program
    .command('setup')
    .description('print what the controller needs outside the cluster')
    .command('aws')
    .description('print the controller’s SQS queue, EventBridge rules, IAM role and minimal policy')
    .addOption(
      new Option('--format <format>', 'what to print').choices(formats).default('commands'),
    )
    .option('--queue <name>', 'name of the SQS queue; rules begin with it', 'drover-notices')
    .option('--role <name>', "name of the controller's role", 'drover-controller')
    .option(
      '--node-role <pattern>',
      "the nodes' IAM role, which new instances get; * stands for any characters (required)",
    )
    .option('--adopt-only', 'without the rights to create and delete node groups', false)
    .option('--group-tag <key=value>', 'allow changes of groups and instances with this tag only')
    .option('--irsa-issuer <url>', "the cluster's OIDC issuer (default: EKS Pod Identity)")
    .option(
      '--remove',
      'print the commands that delete queue, rules and role; needs --queue and --role',
      false,
    )
    .addHelpText(
      'after',
      '\nNothing is called and nothing is changed. The policy has exactly the calls of the ' +
        'controller. The commands replace the trust policy of a role that exists.\n\n' +
        'With --group-tag, Drover can create only groups to which it gives this tag: ' +
        'eks:cluster-name=CLUSTER, eks:nodegroup-name=NAME or ' +
        'kubernetes.io/cluster/CLUSTER=owned. For a tag of yours add --adopt-only, and let the ' +
        'group propagate it: reboots and the end of quarantines need it on the instance.\n\n' +
        'Examples:\n  drover setup aws --adopt-only --node-role my-nodes | sh\n' +
        '  drover setup aws --node-role "my-nodes-*" --format cloudformation > drover.json',
    )
    .action((flags: SetupFlags, command: Command) => {
      if (flags.remove) needNames(command);
      if (flags.remove && flags.format !== 'commands') {
        throw usage(
          `--remove prints commands, not ${flags.format}: delete the stack, or run terraform destroy`,
        );
      }
      const text = flags.remove ? removalText : texts[flags.format];
      context.out(text(optionsOf(flags)), 'bytes');
    });
};

// drover setup aws: prints what the controller needs in an AWS account: queue, EventBridge rules,
// role and policy, as commands, CloudFormation, Terraform or JSON. Calls nothing and changes
// nothing.
import { type Command, Option } from 'commander';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { cloudFormationTemplate } from '../setup/cloudformation.ts';
import { resourcesOf, type SetupOptions } from '../setup/resources.ts';
import { shellText } from '../setup/shell.ts';
import { terraformText } from '../setup/terraform.ts';

const formats = ['commands', 'cloudformation', 'terraform', 'json'] as const;
type Format = (typeof formats)[number];

interface SetupFlags {
  readonly format: Format;
  readonly queue: string;
  readonly role: string;
  readonly nodeRole: string;
  readonly adoptOnly: boolean;
  readonly groupTag?: string;
  readonly irsaIssuer?: string;
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

const optionsOf = (flags: SetupFlags): SetupOptions => {
  const issuer = flags.irsaIssuer?.replace(/^https:\/\//, '');
  return {
    queue: checked('--queue', flags.queue, /^[A-Za-z0-9_-]{1,60}$/),
    role: checked('--role', flags.role, /^[A-Za-z0-9+=,.@_-]{1,64}$/),
    nodeRole: checked('--node-role', flags.nodeRole, /^[A-Za-z0-9+=,.@_/*-]{1,128}$/),
    createsGroups: !flags.adoptOnly,
    groupTag: tagOf(flags.groupTag),
    issuer:
      issuer === undefined
        ? undefined
        : checked('--irsa-issuer', issuer, /^[A-Za-z0-9./-]{1,256}$/),
  };
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
    .description('print queue, EventBridge rules, IAM role and minimal policy of the controller')
    .addOption(
      new Option('--format <format>', 'what to print').choices(formats).default('commands'),
    )
    .option('--queue <name>', 'name of the SQS queue; rules begin with it', 'drover-notices')
    .option('--role <name>', "name of the controller's role", 'drover-controller')
    .option('--node-role <pattern>', 'node roles that new instances may get', '*')
    .option('--adopt-only', 'without the rights to create and delete node groups', false)
    .option('--group-tag <key=value>', 'allow changes of groups and instances with this tag only')
    .option('--irsa-issuer <url>', "the cluster's OIDC issuer (default: EKS Pod Identity)")
    .addHelpText(
      'after',
      '\nNothing is called and nothing is changed. The policy has exactly the calls of the ' +
        'controller.\n\nExamples:\n  drover setup aws --adopt-only | sh\n' +
        '  drover setup aws --format cloudformation --group-tag team=blue > drover.json',
    )
    .action((flags: SetupFlags) => context.out(texts[flags.format](optionsOf(flags)), 'bytes'));
};

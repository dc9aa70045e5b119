// drover up, env, down, and drover world ...: commands for the life of an embedded world.
import type { Command } from 'commander';
import type { JsonObject } from '../../api/json.ts';
import { objectOr } from '../../api/json.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { parseDuration } from '../duration.ts';
import { outputOption, printDocument } from '../output.ts';

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

const integer = (name: string, text: string, range: { min: number; max: number }): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < range.min || value > range.max) {
    throw usage(`${name} takes a whole number from ${range.min} to ${range.max}, not ${text}`);
  }
  return value;
};

const speedOf = (text: string): number | 'max' => {
  if (text === 'max') return 'max';
  const value = Number(text);
  if (!(value > 0 && value <= 100_000)) {
    throw usage(`--speed takes a number above 0 (world seconds per second) or max, not ${text}`);
  }
  return value;
};

const addUp = (program: Command, context: CliContext, connection: () => Connection): void => {
  program
    .command('up')
    .description('start an embedded world: a Kubernetes API, AWS APIs, machines and controllers')
    .option('--demo', 'create the demo cluster ironman-2022', false)
    .option('--no-controller', "run without Drover's controllers")
    .option('--page-actions', 'approve, pause and stop updates on the page, with a token', false)
    .option('--allow-loopback-webhooks', 'allow webhook hooks on loopback addresses', false)
    .option(
      '--port <port>',
      'port of the AWS endpoint; the Kubernetes API uses the next one; 0 picks free ports',
    )
    .option('--speed <factor>', 'world seconds per real second, or max', '1')
    .option('--seed <number>', 'random seed of a new world')
    .addHelpText(
      'after',
      `
Examples:
  drover up --demo                        # ports 8700 and 8701
  drover up --demo --port 0 --speed 60    # free ports, one minute per second
  eval "$(drover env)"                    # in another shell: points kubectl and aws to the world`,
    )
    .action(async (options: Record<string, string | boolean | undefined>) => {
      const { port, seed } = options;
      await context.up({
        demo: options.demo === true,
        controller: options.controller !== false,
        pageActions: options.pageActions === true,
        allowLoopbackWebhooks: options.allowLoopbackWebhooks === true,
        dataDir: connection().dataDir ?? '.drover',
        port:
          port === undefined ? undefined : integer('--port', String(port), { min: 0, max: 65_534 }),
        seed:
          seed === undefined
            ? undefined
            : integer('--seed', String(seed), { min: 0, max: 2 ** 32 - 1 }),
        speed: speedOf(String(options.speed)),
      });
    });
};

const targetsOf = (
  options: Readonly<Record<string, string | undefined>>,
): Record<string, string> => {
  const target: Record<string, string> = {};
  for (const key of ['node', 'zone', 'subnet', 'group', 'type', 'fault']) {
    const value = options[key];
    if (value !== undefined) target[key] = value;
  }
  return target;
};

const printFaultKinds = (context: CliContext, kinds: JsonObject): void => {
  for (const [kind, facts] of Object.entries(objectOr(kinds.kinds))) {
    const { what, targets } = objectOr(facts);
    const aims = Array.isArray(targets) ? targets.map((t) => `--${String(t)}`).join(' ') : '';
    context.out(`${kind.padEnd(20)}${String(what)}${aims === '' ? '' : `  [${aims}]`}`);
  }
};

/** `kubelet-stop --node n1, since ...`: the fault as injected. */
const faultText = (fault: JsonObject): string => {
  const aims = Object.entries(objectOr(fault.target)).map(([key, name]) => ` --${key} ${name}`);
  return `${String(fault.kind)}${aims.join('')}, since ${String(fault.since)}`;
};

/** The world's status as text: a line per fact, a line per fault. */
export const statusLines = (status: JsonObject): readonly string[] =>
  Object.entries(status).flatMap(([key, value]) => {
    if (!Array.isArray(value)) return [`${key.padEnd(18)}${String(value)}`];
    const items = value.map((item) => faultText(objectOr(item)));
    return (items.length === 0 ? ['none'] : items).map(
      (text, i) => `${(i === 0 ? key : '').padEnd(18)}${text}`,
    );
  });

const addWorld = (program: Command, context: CliContext, connection: () => Connection): void => {
  const world = program
    .command('world')
    .description('control time and faults of an embedded world');
  world
    .command('advance <duration>')
    // `-5m` looks like an option; it must reach the duration parser, which explains why it is
    // invalid.
    .allowUnknownOption()
    .description("advance the world's time, e.g. by 30m")
    .addHelpText('after', '\nExamples:\n  drover world advance 90s\n  drover world advance 2h')
    .action(async (text: string) => {
      const seconds = parseDuration(text);
      if (seconds === undefined)
        throw usage(
          `advance takes a duration such as 30s, 15m or 2h, not ${text}` +
            (text.startsWith('-') ? '; world time never runs back' : ''),
        );
      const answer = await (await context.world(connection())).advance(seconds);
      context.out(`world time is now ${String(answer.now)}`);
    });
  world
    .command('status')
    .description('show time, speed, faults and sizes of the world')
    .addOption(outputOption())
    .addHelpText('after', '\nExamples:\n  drover world status\n  drover world status -o json')
    .action(async ({ output }: { readonly output: OutputFormat }) => {
      const status = await (await context.world(connection())).status();
      if (output !== 'table') return printDocument(context, output, status);
      for (const line of statusLines(status)) context.out(line);
    });
  world
    .command('inject [kind]')
    .description('switch on a fault')
    .option('--list', 'list every kind of fault', false)
    .option('--node <name>', 'only this node')
    .option('--zone <name>', 'only this zone')
    .option('--subnet <id>', 'only this subnet')
    .option('--group <name>', 'only this node group')
    .option('--type <name>', 'only this instance type')
    .option('--fault <name>', 'which fault of the kernel: io-error, read-only, soft-lockup, xid')
    .addHelpText(
      'after',
      `
Examples:
  drover world inject --list
  drover world inject kubelet-stop --node NODE
  drover world inject kernel-fault --fault read-only --node NODE
  drover world inject no-capacity --zone eu-west-1a`,
    )
    .action(async (kind: string | undefined, options: Record<string, string | undefined>) => {
      const control = await context.world(connection());
      if (kind === undefined || (options.list as string | boolean | undefined) === true) {
        return printFaultKinds(context, await control.faultKinds());
      }
      const answer = await control.inject(kind, targetsOf(options));
      context.out(`injected ${kind}${answer.id === undefined ? '' : ` (${String(answer.id)})`}`);
    });
  world
    .command('clear [kind]')
    .description('switch off all faults, or those of one kind')
    .addHelpText('after', '\nExamples:\n  drover world clear\n  drover world clear kubelet-stop')
    .action(async (kind: string | undefined) => {
      const answer = await (await context.world(connection())).clear(kind);
      context.out(`cleared ${String(answer.cleared)} fault(s)`);
    });
};

/** Adds up, env, down and world to the program. */
export const addWorldCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  addUp(program, context, connection);
  program
    .command('env')
    .description('print the world\'s variables as export lines: eval "$(drover env)"')
    .addHelpText(
      'after',
      '\nExamples:\n  eval "$(drover env)"\n  eval "$(drover --data-dir /tmp/w env)"',
    )
    .action(() => {
      for (const [key, value] of Object.entries(context.environment(connection()))) {
        context.out(`export ${key}='${value.replaceAll("'", `'\\''`)}'`);
      }
    });
  program
    .command('page')
    .description("print the link that opens the embedded world's page")
    .addHelpText('after', '\nExamples:\n  drover page\n  drover --data-dir /tmp/w page')
    .action(async () => {
      const { link } = await (await context.world(connection())).page();
      context.out(String(link));
    });
  program
    .command('down')
    .description('stop the embedded world and keep its state')
    .addHelpText('after', '\nExamples:\n  drover down\n  drover --data-dir /tmp/w down')
    .action(async () => {
      await (await context.world(connection())).down();
      context.out('stopped');
    });
  addWorld(program, context, connection);
};

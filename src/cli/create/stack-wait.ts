// Waits for a CloudFormation stack like eksctl: prints a line from time to time, and its failures
// by resource.
import { durationMs } from '../../api/brand.ts';
import type { StackState } from '../../api/cloud-provisioning.ts';
import type { ProvisioningApi } from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import type { Progress } from '../progress.ts';

/** Interval between two polls, and between two progress lines. */
const lookEveryMs = durationMs(1_000);
const sayEveryMs = 30_000;

export interface StackWait {
  readonly api: ProvisioningApi;
  readonly context: Pick<CliContext, 'clock' | 'signal'>;
  readonly progress: Progress;
  readonly deadline: number;
  /** What the stack waits for in addition, if known: each new line is printed once. */
  readonly holding?: () => Promise<readonly string[]>;
}

/** Prints what is new since the last poll. */
export const tellNews = (
  progress: Pick<Progress, 'info'>,
  before: ReadonlySet<string>,
  lines: readonly string[],
): ReadonlySet<string> => {
  for (const line of lines) if (!before.has(line)) progress.info(line);
  return new Set(lines);
};

const interrupted = (name: string): CommandError =>
  new CommandError(
    exitCodes.interrupted,
    `stopped watching; CloudFormation continues with stack "${name}"; the same command again ` +
      'finishes what is missing',
  );

/** Its final state, once nothing is in progress; undefined when it is deleted. */
export const waitForStack = async (
  wait: StackWait,
  name: string,
): Promise<StackState | undefined> => {
  const { api, context, progress, deadline } = wait;
  let said = Number.NEGATIVE_INFINITY;
  let held: ReadonlySet<string> = new Set();
  for (;;) {
    const now = context.clock.now();
    if (now - said >= sayEveryMs) {
      progress.info(`waiting for CloudFormation stack "${name}"`);
      said = now;
    }
    if (wait.holding !== undefined) held = tellNews(progress, held, await wait.holding());
    const state = await api.describeStack(name);
    if (state === undefined || state.status === 'DELETE_COMPLETE') return undefined;
    if (!state.status.endsWith('_IN_PROGRESS')) return state;
    if (context.signal.aborted) throw interrupted(name);
    if (now >= deadline) {
      throw new CommandError(
        exitCodes.timedOut,
        `timed out waiting for CloudFormation stack "${name}" (${state.status}); it goes ` +
          'on, and the same command again finishes what is missing: ' +
          `\`aws cloudformation describe-stack-events --stack-name ${name}\` shows how far it is`,
      );
    }
    await context.clock.sleep(lookEveryMs, context.signal).catch(() => undefined);
  }
};

/** Prints the reasons, deletes the rolled-back stack, and throws. */
export const failStack = async (wait: StackWait, state: StackState | undefined, name: string) => {
  const { api, progress } = wait;
  const failures = state === undefined ? [] : await api.stackFailures(name);
  for (const { type, logicalId, reason } of failures) {
    progress.failed(`${type}/${logicalId}: CREATE_FAILED – "${reason}"`);
  }
  if (state !== undefined && /^(ROLLBACK_COMPLETE|CREATE_FAILED)$/.test(state.status)) {
    // CloudFormation has rolled the resources back; the remaining stack would block the next try.
    await api.deleteStack(name);
    await waitForStack(wait, name);
    progress.info(`deleted what was left of stack "${name}"`);
  }
  const why = failures[0]?.reason ?? state?.statusReason ?? 'the stack is gone';
  throw new CommandError(exitCodes.failed, `stack "${name}" could not be created: ${why}`);
};

// A name that may be given as a word or as a flag, as in eksctl.
import { CommandError, exitCodes } from '../context.ts';
import { targetOf } from '../target.ts';

/** Throws a usage error when both are given and differ: one of them would be ignored. */
export const oneName = (
  positional: string | undefined,
  flag: string | undefined,
): string | undefined => {
  const named = positional === undefined ? undefined : targetOf(positional).name;
  if (named !== undefined && flag !== undefined && named !== flag) {
    throw new CommandError(exitCodes.usage, `two names: ${named} and --name ${flag}; give one`);
  }
  return named ?? flag;
};

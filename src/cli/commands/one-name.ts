// A name that may be given as a word or as a flag, as in eksctl.
import { CommandError, exitCodes } from '../context.ts';

/** Throws a usage error when both are given and differ: one of them would be ignored. */
export const oneName = (
  positional: string | undefined,
  flag: string | undefined,
): string | undefined => {
  if (positional !== undefined && flag !== undefined && positional !== flag) {
    throw new CommandError(
      exitCodes.usage,
      `two names: ${positional} and --name ${flag}; give one`,
    );
  }
  return positional ?? flag;
};

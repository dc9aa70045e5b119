// A name that may be given as a word or as a flag, as in eksctl.
import { CommandError, exitCodes } from '../context.ts';
import { type TargetKind, targetOf, targetsOf } from '../target.ts';

const nameOf = (word: string, kind: TargetKind | undefined): string => {
  const target = targetOf(word);
  if (target.kind === undefined || target.kind === kind) return target.name;
  throw new CommandError(exitCodes.usage, `${word} does not name a ${kind ?? 'cluster or add-on'}`);
};

/** One name from all words of a command: `NAME`, `KIND/NAME` or `KIND NAME`. */
export const oneNameOf = (
  words: readonly string[],
  kind: TargetKind | undefined,
): string | undefined => {
  const [target, ...more] = targetsOf(words);
  if (target === undefined) return undefined;
  if (more.length > 0) {
    throw new CommandError(exitCodes.usage, `${words.join(' ')}: name one ${kind ?? 'object'}`);
  }
  return target.kind === undefined ? target.name : nameOf(`${target.kind}/${target.name}`, kind);
};

/**
 * Throws a usage error when both are given and differ, since one of them would be ignored, and for
 * a `KIND/NAME` of another kind than the command's. `kind`: undefined for clusters and add-ons.
 */
export const oneName = (
  positional: string | undefined,
  flag: string | undefined,
  kind: TargetKind | undefined,
): string | undefined => {
  const named = positional === undefined ? undefined : nameOf(positional, kind);
  if (named !== undefined && flag !== undefined && named !== flag) {
    throw new CommandError(exitCodes.usage, `two names: ${named} and --name ${flag}; give one`);
  }
  return named ?? flag;
};

// Parses `--start` and `--end`: a moment in the forms of users and scripts.
import { CommandError, exitCodes } from '../context.ts';
import { parseDuration } from '../duration.ts';

/** Epoch seconds stay below this until the year 5138. */
const largestSeconds = 1e11;

/** `30m` means 30 minutes ago. Throws CommandError. */
export const parseMoment = (flag: string, text: string, nowMs: number): number => {
  const ago = parseDuration(text);
  if (ago !== undefined) return nowMs - ago * 1000;
  if (/^\d{1,15}$/.test(text)) {
    const number = Number(text);
    return number < largestSeconds ? number * 1000 : number;
  }
  const iso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;
  const match = iso.exec(text);
  // A time without a zone is UTC, like every time in a log.
  const zone = match !== null && match[1] === undefined && text.length > 10 ? 'Z' : '';
  const ms = match === null ? Number.NaN : Date.parse(`${text.replace(' ', 'T')}${zone}`);
  if (!Number.isNaN(ms)) return ms;
  throw new CommandError(
    exitCodes.usage,
    `${flag} ${text} is no moment: write 2022-09-25T13:58:43Z, epoch seconds, or 30m for so ` +
      'long ago',
  );
};

// `--waive CHECK[=reason]`: findings that an operator accepts by name. An unknown name is refused.
import type { Waiver } from '../../api/nodegroup-update.ts';
import { checks } from '../../core/update/preflight/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { closeNames } from '../nodes.ts';

export const parseWaiver = (text: string, by: string): Waiver => {
  const at = text.indexOf('=');
  const check = at === -1 ? text : text.slice(0, at);
  const reason = at === -1 ? '' : text.slice(at + 1).trim();
  const names = checks.map(({ name }) => name);
  if (!names.includes(check)) {
    const close = closeNames(check, names);
    const hint = close.length > 0 ? `did you mean ${close.join(' or ')}?` : names.join(', ');
    throw new CommandError(exitCodes.usage, `--waive ${check}: no such check; ${hint}`);
  }
  return { check, ...(reason === '' ? {} : { reason }), by };
};

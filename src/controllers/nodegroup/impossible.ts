// What no retry of ours mends, as an error that carries its health issue. Decides nothing.
import type { HealthIssue } from '../../api/nodegroup.ts';

/** Something that no retry mends: told as a health issue. */
export class Impossible extends Error {
  override readonly name = 'Impossible';
  readonly issue: HealthIssue;
  constructor(code: string, message: string, resourceIds: readonly string[] = []) {
    super(message);
    this.issue = { code, message, resourceIds };
  }
}

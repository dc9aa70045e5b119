// The error for what retrying cannot fix, with its health issue. Decides nothing.
import type { HealthIssue } from '../../api/nodegroup.ts';

/** An error that retrying cannot fix; reported as a health issue. */
export class Impossible extends Error {
  override readonly name = 'Impossible';
  readonly issue: HealthIssue;
  constructor(code: string, message: string, resourceIds: readonly string[] = []) {
    super(message);
    this.issue = { code, message, resourceIds };
  }
}

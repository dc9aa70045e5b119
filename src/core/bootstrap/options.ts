// Options of lint besides the text: facts that user data does not contain.
import type { Family } from '../../formats/index.ts';

export interface LintOptions {
  /** Undefined: detected from the text. */
  readonly family: Family | undefined;
  readonly kubernetesVersion: string;
  /** Undefined: rules that need the type's limits are skipped. */
  readonly instanceType: string | undefined;
  /**
   * managed: EKS merges in its own bootstrap. own-image: the user data is complete. Undefined:
   * unknown, so mistakes in only one of these cases are not reported.
   */
  readonly launchedBy: 'managed' | 'own-image' | undefined;
  readonly isPrefixDelegation: boolean;
  /** ARNs of roles whose nodes run Windows, which aws-auth does not contain. */
  readonly windowsRoles: readonly string[];
}

export const defaultLintOptions: LintOptions = {
  family: undefined,
  kubernetesVersion: '1.33',
  instanceType: undefined,
  launchedBy: undefined,
  isPrefixDelegation: false,
  windowsRoles: [],
};

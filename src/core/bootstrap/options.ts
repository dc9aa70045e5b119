// What a lint is told besides the text: things that user data does not say of itself.
import type { Family } from '../../formats/index.ts';

export interface LintOptions {
  /** Undefined: as the text looks. */
  readonly family: Family | undefined;
  readonly kubernetesVersion: string;
  /** Undefined: rules that need the type's limits are silent. */
  readonly instanceType: string | undefined;
  /**
   * managed: EKS merges its own bootstrap in. own-image: nobody does, the user data is all there
   * is. Undefined: not known, so that what only one of them makes wrong is left alone.
   */
  readonly launchedBy: 'managed' | 'own-image' | undefined;
  readonly isPrefixDelegation: boolean;
  /** ARNs of roles whose nodes run Windows, which aws-auth does not say. */
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

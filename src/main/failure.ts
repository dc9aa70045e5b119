// The message of a failed command: one sentence and an exit code, never a stack.
import { CommandError, type ExitCode, exitCodes } from '../cli/context.ts';
import { CloudError, KubeError } from '../ports/index.ts';

const remedies: Readonly<Record<string, string>> = {
  Unreachable:
    'check that it runs (`drover up` starts an embedded world again, as it was) and that ' +
    '--data-dir, --kubeconfig or the environment name it',
  Unauthorized: 'the credentials are not accepted there: `eval "$(drover env)"` sets the world\'s',
  Forbidden: 'this identity may not do that: use another --context, or ask for the right',
};

export const explainFailure = (
  error: unknown,
): { readonly message: string; readonly exitCode: ExitCode } => {
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof KubeError || error instanceof CloudError) {
    const remedy = remedies[error.code];
    const message = remedy === undefined ? error.message : `${error.message}; ${remedy}`;
    return { message, exitCode: exitCodes.failed };
  }
  // Drover's other errors (of the store, a listener, a data directory) have complete messages.
  const message = error instanceof Error ? error.message : String(error);
  return { message, exitCode: exitCodes.failed };
};

// `DryRun` of EC2's operations: after the parameters are validated, the answer is the error
// DryRunOperation and the handler is not called. Does not check whether the named resources exist.
import { optionalFlag } from '../../../src/aws-wire/index.ts';
import { refuse, type ServiceHandlers } from '../scope.ts';

/** EC2 API reference, "Error codes": HTTP 412, for a request that is permitted. */
const dryRunOperation = () =>
  refuse('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412);

/**
 * Adds DryRun to every EC2 operation of the world; dry-run.test.ts checks this against the model.
 */
export const withDryRun = (handlers: ServiceHandlers): ServiceHandlers =>
  Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      (input, ctx) => {
        if (optionalFlag(input, 'DryRun') === true) throw dryRunOperation();
        return handler(input, ctx);
      },
    ]),
  );

// The fault `cloud-errors`: one call in five is throttled, fails, or succeeds without an answer.
// Wraps handlers; independent of what they do.
import { AwsError, type AwsHandler, type AwsHandlers } from '../../src/aws-wire/index.ts';
import { refuse, type Scope } from './scope.ts';

const throttleChance = 0.1;
const failureChance = 0.05;
const lostAnswerChance = 0.05;
const component = 'aws.cloud-errors';

/** Each service's error code for throttling. */
const throttled: Readonly<Record<string, readonly [code: string, httpStatus: number]>> = {
  ec2: ['RequestLimitExceeded', 503],
  sqs: ['RequestThrottled', 403],
  eks: ['ThrottlingException', 429],
  ssm: ['ThrottlingException', 400],
  cloudtrail: ['ThrottlingException', 400],
  events: ['ThrottlingException', 400],
};

const unavailable = (): AwsError =>
  new AwsError({
    code: 'ServiceUnavailable',
    message: 'The request has failed due to a temporary failure of the server.',
    httpStatus: 503,
    senderFault: false,
  });

const wrap =
  (scope: Scope, service: string, handler: AwsHandler): AwsHandler =>
  (input, ctx) => {
    if (!scope.faults.active('cloud-errors')) return handler(input, ctx);
    const dice = scope.kernel.random(component).next();
    if (dice < throttleChance) {
      const [code, httpStatus] = throttled[service] ?? ['Throttling', 400];
      throw refuse(code, 'Rate exceeded', httpStatus);
    }
    if (dice < throttleChance + failureChance) throw unavailable();
    const output = handler(input, ctx);
    if (dice < throttleChance + failureChance + lostAnswerChance) throw unavailable();
    return output;
  };

export const withCloudErrors = (scope: Scope, handlers: AwsHandlers): AwsHandlers =>
  Object.fromEntries(
    Object.entries(handlers).map(([service, operations]) => [
      service,
      Object.fromEntries(
        Object.entries(operations).map(([name, handler]) => [name, wrap(scope, service, handler)]),
      ),
    ]),
  );

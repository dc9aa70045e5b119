// Dispatches an HTTP request to a handler of the world: authenticates, finds the operation, parses,
// validates, calls, renders, records. Has no clock and no randomness of its own, and no state.
import type { HttpRequest, HttpResponse } from '../api/http.ts';
import { AwsError, notImplemented } from './aws-error.ts';
import { outputDefects } from './check-output.ts';
import { type FoundOperation, findOperation } from './find-operation.ts';
import type { AwsInput } from './input.ts';
import { loadModel, own, type ServiceModel } from './model.ts';
import { momentsOf } from './moments.ts';
import { redact } from './redact.ts';
import { resolveError, respond, respondError } from './respond.ts';
import { isForm, routeOf } from './route.ts';
import { abbreviate } from './scalar.ts';
import { SERVICES, type ServiceEntry } from './services.ts';
import { type Credentials, readCredentials, signatureFault } from './sigv4.ts';
import { type AuthFault, invalid, unauthenticated } from './style.ts';
import { validateInput } from './validate.ts';

/** The caller, as in CloudTrail's userIdentity and STS's GetCallerIdentity. */
export interface AwsPrincipal {
  readonly type: 'Root' | 'IAMUser' | 'AssumedRole' | 'AWSService' | 'Anonymous';
  readonly accountId: string;
  readonly arn: string;
  /** `AIDA...`, or `AROA...:session` of an assumed role. */
  readonly principalId: string;
  readonly userName?: string;
}

export interface AwsCredential {
  readonly secretAccessKey: string;
  /** Set for temporary credentials; the request must carry the same. */
  readonly sessionToken?: string;
  readonly principal: AwsPrincipal;
}

export interface AwsCallContext {
  readonly service: string;
  readonly operation: string;
  readonly region: string;
  readonly requestId: string;
  readonly principal: AwsPrincipal;
  readonly accessKeyId: string;
  readonly userAgent: string;
  readonly sourceIp: string;
}

/**
 * One operation. Input and output are named as in the model; timestamps are epoch milliseconds,
 * blobs Uint8Array; an operation without output returns undefined. Throws AwsError to refuse.
 */
export type AwsHandler = (input: AwsInput, ctx: AwsCallContext) => unknown;

/** By service (`eks`, `autoscaling`, `elbv2`, ...), then by operation (`DescribeCluster`). */
export type AwsHandlers = Readonly<Record<string, Readonly<Record<string, AwsHandler>>>>;

export interface AwsCallRecord {
  /** Epoch milliseconds at which the call arrived. */
  readonly time: number;
  readonly service: string;
  readonly operation: string;
  /** As far as it could be parsed, otherwise empty. Sensitive values are replaced. */
  readonly input: AwsInput;
  /** Sensitive values are replaced. */
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly httpStatus: number };
  /** Names of time members according to the model; without a model, names are guessed. */
  readonly moments?: {
    readonly input: ReadonlySet<string>;
    readonly output: ReadonlySet<string>;
  };
  readonly ctx: AwsCallContext;
}

export interface AwsDispatcherOptions {
  readonly handlers: AwsHandlers;
  readonly authenticate: (accessKeyId: string) => AwsCredential | undefined;
  /** Epoch milliseconds, the world's. */
  readonly now: () => number;
  readonly nextRequestId: () => string;
  /** Called after each authenticated call of a modelled operation, including refused ones. */
  readonly onCall?: (record: AwsCallRecord) => void;
  /** A defect of a handler: an exception other than AwsError, or an output unknown to the model. */
  readonly onDefect?: (error: Error, ctx: AwsCallContext) => void;
  /** For operations that need no signature. Default us-east-1. */
  readonly defaultRegion?: string;
}

export interface AwsDispatcher {
  /**
   * One call of a service in the process, without HTTP: validated against the model, answered and
   * recorded like an external one. Rejects with AwsError.
   */
  invoke(call: AwsInvocation): Promise<unknown>;
  /** Always answers, in the caller's protocol; never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse>;
}

const ANONYMOUS: AwsPrincipal = {
  type: 'Anonymous',
  accountId: 'anonymous',
  arn: '',
  principalId: '',
};

export interface AwsInvocation {
  readonly service: string;
  readonly operation: string;
  readonly input: AwsInput;
  readonly caller: Pick<AwsCallContext, 'principal' | 'userAgent' | 'sourceIp'>;
}

export function createAwsDispatcher(options: AwsDispatcherOptions): AwsDispatcher {
  return {
    invoke: (call) => invoke(options, call),
    async handle(request) {
      const requestId = options.nextRequestId();
      const credentials = readCredentials(request);
      const { service, isKnown } = routeOf(request, credentials);
      let model: ServiceModel | undefined;
      try {
        const caller = authenticate(options, request, credentials, isKnown ? service : undefined);
        if (!isKnown) throw unknownService(service.name);
        model = await loadModel(service.name);
        return await call(options, { request, requestId, service, model, caller });
      } catch (error) {
        return respondError(spokenBy(service, request), model, asAwsError(error), requestId);
      }
    },
  };
}

async function invoke(options: AwsDispatcherOptions, invocation: AwsInvocation): Promise<unknown> {
  const { operation: name, input, caller } = invocation;
  const service = SERVICES.find((one) => one.name === invocation.service);
  if (service === undefined) throw unknownService(invocation.service);
  const model = await loadModel(service.name);
  const operation = own(model.operations, name);
  if (operation === undefined) throw notImplemented(`The operation ${service.name}:${name}`);
  const ctx: AwsCallContext = {
    ...caller,
    service: service.name,
    operation: name,
    region: options.defaultRegion ?? 'us-east-1',
    requestId: options.nextRequestId(),
    accessKeyId: '',
  };
  const time = options.now();
  const found: FoundOperation = { name, operation, read: () => input };
  const outcome = await attempt(options, { service, model }, found, ctx);
  record(options, recordOf(model, found, time, ctx, outcome), ctx);
  if ('output' in outcome) return outcome.output;
  throw outcome.thrown;
}

interface Caller {
  readonly accessKeyId: string;
  readonly principal: AwsPrincipal;
  readonly region: string;
  readonly isSigned: boolean;
}

function authenticate(
  options: AwsDispatcherOptions,
  request: HttpRequest,
  credentials: Credentials,
  service: ServiceEntry | undefined,
): Caller {
  const refuse = (fault: AuthFault, detail?: string): AwsError =>
    unauthenticated(service, fault, detail);
  if (credentials.kind === 'incomplete') throw refuse('incomplete', credentials.reason);
  if (credentials.kind === 'none') {
    if (service?.unsignedOperations === undefined) throw refuse('missing');
    const region = options.defaultRegion ?? 'us-east-1';
    return { accessKeyId: '', principal: ANONYMOUS, region, isSigned: false };
  }
  const known = options.authenticate(credentials.accessKeyId);
  if (known === undefined || known.sessionToken !== credentials.sessionToken) {
    throw refuse('unknown-key');
  }
  const fault = signatureFault(request, credentials, known.secretAccessKey);
  if (fault !== undefined) throw refuse('wrong-signature', fault);
  const { accessKeyId, region } = credentials;
  return { accessKeyId, principal: known.principal, region, isSigned: true };
}

interface Call {
  readonly request: HttpRequest;
  readonly requestId: string;
  readonly service: ServiceEntry;
  readonly model: ServiceModel;
  readonly caller: Caller;
}

async function call(options: AwsDispatcherOptions, call: Call): Promise<HttpResponse> {
  const { service, model, caller, requestId, request } = call;
  const found = findOperation(service, model, request);
  if (!caller.isSigned && service.unsignedOperations?.includes(found.name) !== true) {
    throw unauthenticated(service, 'missing');
  }
  const ctx: AwsCallContext = {
    service: service.name,
    operation: found.name,
    region: caller.region,
    requestId,
    principal: caller.principal,
    accessKeyId: caller.accessKeyId,
    userAgent: request.headers['user-agent'] ?? '',
    sourceIp: request.remoteAddress,
  };
  const time = options.now();
  const outcome = await attempt(options, call, found, ctx);
  const rendered = render(options, call, found, ctx, outcome);
  record(options, recordOf(model, found, time, ctx, rendered.outcome), ctx);
  return rendered.response;
}

function record(options: AwsDispatcherOptions, told: AwsCallRecord, ctx: AwsCallContext): void {
  try {
    options.onCall?.(told);
  } catch (thrown) {
    // A failing recorder must not fail a call that has already taken effect.
    options.onDefect?.(asError(thrown), ctx);
  }
}

function recordOf(
  model: ServiceModel,
  { operation }: FoundOperation,
  time: number,
  ctx: AwsCallContext,
  outcome: Outcome,
): AwsCallRecord {
  const { service, operation: name } = ctx;
  const input = redact(model, operation.input, outcome.input) as AwsInput;
  const result =
    'output' in outcome
      ? { output: redact(model, operation.output, outcome.output) }
      : { error: outcome.error };
  const moments = {
    input: momentsOf(model, operation.input),
    output: momentsOf(model, operation.output),
  };
  return { time, service, operation: name, input, ...result, moments, ctx };
}

type Outcome = { readonly input: AwsInput } & (
  | { readonly output: unknown }
  | { readonly error: NonNullable<AwsCallRecord['error']>; readonly thrown: AwsError }
);

type Spoken = Pick<Call, 'service' | 'model'>;

async function attempt(
  options: AwsDispatcherOptions,
  spoken: Spoken,
  found: FoundOperation,
  ctx: AwsCallContext,
): Promise<Outcome> {
  let input: AwsInput = {};
  try {
    input = found.read();
    return { input, output: await run(options, spoken, found, input, ctx) };
  } catch (thrown) {
    return failed(options, spoken, input, thrown, ctx);
  }
}

function failed(
  options: AwsDispatcherOptions,
  { service, model }: Spoken,
  input: AwsInput,
  cause: unknown,
  ctx: AwsCallContext,
): Outcome & { readonly thrown: AwsError } {
  if (!(cause instanceof AwsError)) options.onDefect?.(asError(cause), ctx);
  const thrown = asAwsError(cause);
  const { code, httpStatus } = resolveError(service, model, thrown);
  return { input, error: { code, message: thrown.message, httpStatus }, thrown };
}

/** An output that cannot be rendered is a defect, and is answered as an error. */
function render(
  options: AwsDispatcherOptions,
  { service, model, requestId }: Call,
  found: FoundOperation,
  ctx: AwsCallContext,
  outcome: Outcome,
): { readonly outcome: Outcome; readonly response: HttpResponse } {
  if ('thrown' in outcome) {
    return { outcome, response: respondError(service, model, outcome.thrown, requestId) };
  }
  try {
    const values = (outcome.output ?? {}) as Readonly<Record<string, unknown>>;
    const response = respond(service, model, found.name, found.operation, values, requestId);
    return { outcome, response };
  } catch (thrown) {
    const told = failed(options, { service, model }, outcome.input, thrown, ctx);
    return { outcome: told, response: respondError(service, model, told.thrown, requestId) };
  }
}

async function run(
  options: AwsDispatcherOptions,
  { service, model }: Spoken,
  found: FoundOperation,
  input: AwsInput,
  ctx: AwsCallContext,
): Promise<unknown> {
  const violations = validateInput(model, found.operation.input, input);
  if (violations.length > 0) throw invalid(service, violations);
  const handler = own(own(options.handlers, service.name), found.name);
  if (handler === undefined) throw notImplemented(`The operation ${service.name}:${found.name}`);
  const output = await handler(input, ctx);
  const defects = outputDefects(model, found.operation.output, output);
  if (defects.length > 0) {
    const summary = `${ctx.service}:${ctx.operation}: ${defects.join('; ')}`;
    options.onDefect?.(new Error(summary), ctx);
  }
  return output;
}

function unknownService(name: string): AwsError {
  const names = SERVICES.map((service) => service.signingName).join(', ');
  return new AwsError({
    code: 'NotImplemented',
    message: `The service ${abbreviate(name)} is not part of Drover's world, which has: ${names}.`,
    httpStatus: 501,
    senderFault: false,
  });
}

/**
 * SQS clients older than its JSON protocol send forms and read only XML, so their refusal is XML.
 */
function spokenBy(service: ServiceEntry, request: HttpRequest): ServiceEntry {
  return service.protocol === 'json' && isForm(request)
    ? { ...service, protocol: 'query' }
    : service;
}

function asAwsError(thrown: unknown): AwsError {
  return thrown instanceof AwsError ? thrown : internalFailure(thrown);
}

function internalFailure(cause: unknown): AwsError {
  return new AwsError({
    code: 'InternalFailure',
    message: 'The request processing has failed because of an unknown error, exception or failure.',
    httpStatus: 500,
    senderFault: false,
    cause,
  });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

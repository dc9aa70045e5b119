// Finds a request's operation by method and path, by X-Amz-Target, or by the form's Action, and how
// to read its input. Reads the input only on demand.
import type { HttpRequest } from '../api/http.ts';
import { AwsError, notImplemented } from './aws-error.ts';
import type { AwsInput } from './input.ts';
import { type Operation, own, type ServiceModel, shapeOf } from './model.ts';
import { parseForm, readForm } from './parse-form.ts';
import { parseJsonStructure, readJson, readText } from './parse-json.ts';
import { matchRest, parseRest } from './parse-rest.ts';
import { isForm } from './route.ts';
import type { ServiceEntry } from './services.ts';
import { malformed, unknownOperation } from './style.ts';

export interface FoundOperation {
  readonly name: string;
  readonly operation: Operation;
  /** Parses the input; throws AwsError when it is unreadable. */
  readonly read: () => AwsInput;
}

interface Asked {
  readonly service: ServiceEntry;
  readonly model: ServiceModel;
  readonly request: HttpRequest;
}

export function findOperation(
  service: ServiceEntry,
  model: ServiceModel,
  request: HttpRequest,
): FoundOperation {
  const asked: Asked = { service, model, request };
  if (service.protocol === 'rest-json') return findRest(asked);
  return service.protocol === 'json' ? findByTarget(asked) : findByAction(asked);
}

function findRest({ service, model, request }: Asked): FoundOperation {
  const match = matchRest(model, request.method, request.path);
  if (match === undefined) throw unknownOperation(service, `${request.method} ${request.path}`);
  const operation = operationNamed(service, model, match.operation);
  const context = { model, malformed: (message: string) => malformed(service, message) };
  const read = (): AwsInput => parseRest(context, operation.input, match, request);
  return { name: match.operation, operation, read };
}

function findByTarget({ service, model, request }: Asked): FoundOperation {
  const target = request.headers['x-amz-target'];
  if (target === undefined) {
    const spoken = isForm(request) ? ' The query protocol is not spoken here.' : '';
    throw unknownOperation(service, `without an X-Amz-Target header.${spoken}`);
  }
  const name = target.slice(target.lastIndexOf('.') + 1);
  if (request.method !== 'POST' || !target.startsWith(`${service.targetPrefix}.`)) {
    throw unknownOperation(service, `${request.method} ${target}`);
  }
  const operation = operationNamed(service, model, name);
  const context = { model, malformed: (message: string) => malformed(service, message) };
  const read = (): AwsInput => {
    const body = readJson(context, request.body);
    if (operation.input === undefined) return {};
    return parseJsonStructure(context, shapeOf(model, operation.input), body, '');
  };
  return { name, operation, read };
}

function findByAction({ service, model, request }: Asked): FoundOperation {
  const context = { model, malformed: (message: string) => malformed(service, message) };
  const body = isForm(request) ? readText(context, request.body) : '';
  const joined = [request.query, body].filter((part) => part !== '').join('&');
  const form = readForm(joined, context.malformed);
  const name = form.get('Action');
  if (name === null) {
    throw new AwsError({
      code: 'MissingAction',
      message: 'The request must contain the parameter Action',
    });
  }
  const version = form.get('Version');
  if (version !== null && version !== service.apiVersion) {
    throw new AwsError({
      code: 'NoSuchVersion',
      message: `The requested version (${version}) of service ${service.name} does not exist`,
    });
  }
  const operation = operationNamed(service, model, name);
  return { name, operation, read: () => parseForm(context, operation.input, form) };
}

function operationNamed(service: ServiceEntry, model: ServiceModel, name: string): Operation {
  const operation = own(model.operations, name);
  if (operation !== undefined) return operation;
  if (model.omittedOperations.includes(name)) {
    throw notImplemented(`The operation ${service.name}:${name}`);
  }
  throw unknownOperation(service, name);
}

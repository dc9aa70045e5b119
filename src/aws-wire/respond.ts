// Renders outputs and errors as complete HTTP answers in a service's protocol, with headers and
// exact lengths. Decides nothing about the call itself.
import type { HttpResponse } from '../api/http.ts';
import type { AwsError } from './aws-error.ts';
import {
  type ErrorTrait,
  type Operation,
  own,
  type ServiceModel,
  type Shape,
  shapeOf,
} from './model.ts';
import { jsonMembers } from './render-json.ts';
import { element, escapeXml, renderMembers } from './render-xml.ts';
import type { ServiceEntry } from './services.ts';
import { sqsErrorByCode } from './sqs-codes.ts';

type Values = Readonly<Record<string, unknown>>;

export function respond(
  service: ServiceEntry,
  model: ServiceModel,
  name: string,
  operation: Operation,
  output: Values,
  requestId: string,
): HttpResponse {
  const shape: Shape =
    operation.output === undefined ? { type: 'structure' } : shapeOf(model, operation.output);
  const status = operation.http?.responseCode ?? 200;
  if (service.protocol === 'query') {
    const result =
      operation.resultWrapper === undefined
        ? ''
        : element(operation.resultWrapper, renderMembers(model, shape, output));
    const metadata = element('ResponseMetadata', element('RequestId', escapeXml(requestId)));
    return xml(service, status, requestId, `${name}Response`, result + metadata);
  }
  if (service.protocol === 'ec2') {
    const head = element('requestId', escapeXml(requestId));
    const members = renderMembers(model, shape, output);
    return xml(service, status, requestId, `${name}Response`, head + members);
  }
  return json(service, status, requestId, jsonMembers(model, shape, output), {});
}

/** The model's entry for a thrown AwsError, by either of its two names. */
export interface ResolvedError {
  readonly code: string;
  readonly httpStatus: number;
  readonly senderFault: boolean;
  readonly shapeName: string | undefined;
  readonly shape: Shape | undefined;
}

export function resolveError(
  service: ServiceEntry,
  model: ServiceModel | undefined,
  error: AwsError,
): ResolvedError {
  const sqs = service.name === 'sqs' ? sqsErrorByCode(error.code) : undefined;
  const name = sqs?.shape ?? exceptionName(model, error.code);
  const shape = name === undefined ? undefined : own(model?.shapes, name);
  const trait: ErrorTrait = shape?.error ?? {};
  const httpStatus = error.httpStatus ?? sqs?.httpStatus ?? trait.httpStatusCode ?? 400;
  return {
    code: sqs?.code ?? trait.code ?? name ?? error.code,
    httpStatus,
    senderFault:
      error.senderFault ?? trait.senderFault ?? (shape?.fault !== true && httpStatus < 500),
    shapeName: name,
    shape,
  };
}

function exceptionName(model: ServiceModel | undefined, code: string): string | undefined {
  if (model === undefined) return undefined;
  if (own(model.shapes, code)?.exception === true) return code;
  return Object.entries(model.shapes).find(
    ([, shape]) => shape.exception === true && shape.error?.code === code,
  )?.[0];
}

export function respondError(
  service: ServiceEntry,
  model: ServiceModel | undefined,
  error: AwsError,
  requestId: string,
): HttpResponse {
  const resolved = resolveError(service, model, error);
  if (service.protocol === 'query' || service.protocol === 'ec2') {
    return xmlError(service, model, error, resolved, requestId);
  }
  return jsonError(service, model, error, resolved, requestId);
}

function xmlError(
  service: ServiceEntry,
  model: ServiceModel | undefined,
  error: AwsError,
  resolved: ResolvedError,
  requestId: string,
): HttpResponse {
  const code = element('Code', escapeXml(resolved.code));
  const message = element('Message', escapeXml(error.message));
  const id = escapeXml(requestId);
  if (service.protocol === 'ec2') {
    const errors = element('Errors', element('Error', code + message));
    const body = element('Response', errors + element('RequestID', id));
    return finish(resolved.httpStatus, 'text/xml;charset=UTF-8', requestId, XML_HEAD + body, {});
  }
  const type = element('Type', resolved.senderFault ? 'Sender' : 'Receiver');
  const members =
    model === undefined || resolved.shape === undefined
      ? ''
      : renderMembers(model, withoutMessage(resolved.shape), error.members);
  const content = element('Error', type + code + message + members) + element('RequestId', id);
  return xml(service, resolved.httpStatus, requestId, 'ErrorResponse', content, {
    'x-amzn-errortype': resolved.code,
  });
}

function withoutMessage(shape: Shape): Shape {
  const members = Object.entries(shape.members ?? {}).filter(([name]) => !isMessage(name));
  return { ...shape, members: Object.fromEntries(members) };
}

function isMessage(name: string): boolean {
  return name.toLowerCase() === 'message';
}

function jsonError(
  service: ServiceEntry,
  model: ServiceModel | undefined,
  error: AwsError,
  resolved: ResolvedError,
  requestId: string,
): HttpResponse {
  const name = resolved.shapeName ?? resolved.code;
  const messageName = Object.keys(resolved.shape?.members ?? {}).find(isMessage) ?? 'message';
  const members =
    model === undefined || resolved.shape === undefined
      ? {}
      : jsonMembers(model, withoutMessage(resolved.shape), error.members);
  // rest-json names the error in the header, the JSON protocols in the body. Clients read both.
  const type = service.name === 'sqs' ? `com.amazonaws.sqs#${name}` : name;
  const body = { __type: type, [messageName]: error.message, ...members };
  const side = resolved.senderFault ? 'Sender' : 'Receiver';
  return json(service, resolved.httpStatus, requestId, body, {
    'x-amzn-errortype': name,
    ...(service.name === 'sqs' ? { 'x-amzn-query-error': `${resolved.code};${side}` } : {}),
  });
}

const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

function xml(
  service: ServiceEntry,
  status: number,
  requestId: string,
  root: string,
  content: string,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const namespace = service.xmlNamespace === undefined ? '' : ` xmlns="${service.xmlNamespace}"`;
  const body = `${XML_HEAD}<${root}${namespace}>${content}</${root}>`;
  const type = service.protocol === 'ec2' ? 'text/xml;charset=UTF-8' : 'text/xml';
  return finish(status, type, requestId, body, headers);
}

function json(
  service: ServiceEntry,
  status: number,
  requestId: string,
  body: Values,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  const type =
    service.protocol === 'json'
      ? `application/x-amz-json-${service.jsonVersion ?? '1.1'}`
      : 'application/json';
  return finish(status, type, requestId, JSON.stringify(body), headers);
}

function finish(
  status: number,
  contentType: string,
  requestId: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  return {
    status,
    headers: {
      'content-type': contentType,
      'content-length': String(Buffer.byteLength(body)),
      'x-amzn-requestid': requestId,
      ...headers,
    },
    body,
  };
}

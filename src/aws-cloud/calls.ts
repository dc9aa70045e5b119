// Calls AWS operations for the mapping: refusals as CloudErrors, absence as a value, every page of
// a list. Never retries a call: the port tells its callers which calls they may retry.

import type { AwsOperation, AwsService } from '../api/aws-operations.ts';
import type { JsonObject } from '../api/json.ts';
import { CloudError } from '../ports/index.ts';
import { cloudErrorCodeOf, isAbsence } from './errors.ts';
import { type AwsAnswer, AwsRefusal, type AwsTransport } from './transport.ts';
import { objects, textsOf } from './values.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Above the size of every account; stops a list whose server never stops returning tokens. */
const maxPages = 10_000;

/** Each service's name for the token of the next page. */
const nextToken = (service: AwsService): 'NextToken' | 'nextToken' =>
  service === 'eks' || service === 'logs' ? 'nextToken' : 'NextToken';

export const cloudErrorFrom = (refusal: AwsRefusal, operation: string): CloudError => {
  const { codes, httpStatus, message } = refusal;
  const code = cloudErrorCodeOf({ operation, codes, message, httpStatus });
  return new CloudError(code, `${operation}: ${message}`, { cause: refusal.cause ?? refusal });
};

const isOfAbsence = ({ codes, message }: AwsRefusal): boolean =>
  codes.some((code) => isAbsence(code, message));

export class AwsCalls {
  readonly #transport: AwsTransport;
  constructor(transport: AwsTransport) {
    this.#transport = transport;
  }

  /** Throws CloudError, or the signal's reason when the caller aborts. */
  async answer<Service extends AwsService>(
    service: Service,
    operation: AwsOperation<Service>,
    input: JsonObject,
    { signal }: CallOptions,
    errorFrom: (refusal: AwsRefusal, operation: string) => Error = cloudErrorFrom,
  ): Promise<AwsAnswer> {
    try {
      return await this.#transport.invoke(service, operation, input, signal);
    } catch (error) {
      throw error instanceof AwsRefusal ? errorFrom(error, operation) : error;
    }
  }

  async send<Service extends AwsService>(
    service: Service,
    operation: AwsOperation<Service>,
    input: JsonObject,
    options: CallOptions,
  ): Promise<JsonObject> {
    return (await this.answer(service, operation, input, options)).output;
  }

  /** Undefined when `isAbsent` recognizes the refusal as a resource that does not exist. */
  async maybe<Service extends AwsService>(
    service: Service,
    operation: AwsOperation<Service>,
    input: JsonObject,
    { signal }: CallOptions,
    isAbsent: (refusal: AwsRefusal) => boolean = isOfAbsence,
  ): Promise<JsonObject | undefined> {
    try {
      return (await this.#transport.invoke(service, operation, input, signal)).output;
    } catch (error) {
      if (!(error instanceof AwsRefusal)) throw error;
      if (isAbsent(error)) return undefined;
      throw cloudErrorFrom(error, operation);
    }
  }

  /** Every object of every page. `member`: the field with a page's objects. */
  all<Service extends AwsService>(
    service: Service,
    operation: AwsOperation<Service>,
    input: JsonObject,
    member: string,
    options: CallOptions,
  ): Promise<readonly JsonObject[]> {
    return this.pages(nextToken(service), (token) =>
      this.send(service, operation, { ...input, ...token }, options),
    ).then((pages) => pages.flatMap((page) => objects(page[member])));
  }

  /** Like `all`, for a list of texts. */
  async allTexts<Service extends AwsService>(
    service: Service,
    operation: AwsOperation<Service>,
    input: JsonObject,
    member: string,
    options: CallOptions,
  ): Promise<readonly string[]> {
    const pages = await this.pages(nextToken(service), (token) =>
      this.send(service, operation, { ...input, ...token }, options),
    );
    return pages.flatMap((page) => textsOf(page[member]));
  }

  /** Every page. `ask` receives the page's token as a member, empty for the first page. */
  async pages(
    tokenName: 'NextToken' | 'nextToken',
    ask: (token: JsonObject) => Promise<JsonObject>,
    limit = maxPages,
  ): Promise<readonly JsonObject[]> {
    const pages: JsonObject[] = [];
    let before: unknown;
    let token: JsonObject = {};
    for (let count = 0; count < limit; count += 1) {
      const page = await ask(token);
      pages.push(page);
      const next = page[tokenName];
      if (typeof next !== 'string' || next === '' || next === before) break;
      before = next;
      token = { [tokenName]: next };
    }
    return pages;
  }
}

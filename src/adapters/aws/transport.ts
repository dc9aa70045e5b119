// The mapping's transport over the AWS SDK: finds the command, sends it once, converts values and
// errors. Independent of operations. Imports and connects nothing before the first call.
import { epochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import {
  type AwsAnswer,
  type AwsOperation,
  AwsRefusal,
  type AwsService,
  type AwsTransport,
} from '../../aws-cloud/index.ts';
import { askCallerIdentity } from './caller-identity.ts';
import {
  type AwsOptions,
  type Clients,
  createClients,
  type SdkOf,
  type SdkService,
} from './clients.ts';
import { refusalFrom } from './refusal.ts';
import { askServiceQuotas } from './service-quotas.ts';
import { canonical, sdkInput } from './values.ts';

interface Http {
  readonly abortSignal?: AbortSignal;
}

interface Sent {
  readonly output: JsonObject;
  /** The Date header. */
  readonly date: string | undefined;
}

/** The part of the SDK's interface that reads answer headers. */
interface Middlewares {
  add(
    middleware: (next: (args: never) => Promise<object>) => (args: never) => Promise<object>,
    options: { readonly step: string; readonly name: string; readonly priority: string },
  ): void;
}

const dateOf = (answer: object): string | undefined => {
  const response = 'response' in answer ? answer.response : undefined;
  const headers = (response as { readonly headers?: Readonly<Record<string, string>> } | undefined)
    ?.headers;
  return headers?.date ?? headers?.Date;
};

const sendBySdk = async <Service extends SdkService>(
  clients: Clients,
  service: Service,
  operation: AwsOperation<Service>,
  input: JsonObject,
  http: Http,
): Promise<Sent> => {
  const { sdk, client } = (await clients[service]()) as SdkOf<Service>;
  const Command = sdk[`${operation}Command`];
  const command = new Command(sdkInput(input) as never);
  let date: string | undefined;
  const { middlewareStack } = command as { readonly middlewareStack: Middlewares };
  const readDate = { step: 'deserialize', name: 'readDate', priority: 'low' } as const;
  middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      date = dateOf(answer);
      return answer;
    },
    readDate,
  );
  const output = canonical(await client.send(command as never, http));
  return { output, date };
};

const answerOf = ({ output, date }: Sent): AwsAnswer => {
  const at = date === undefined ? Number.NaN : Date.parse(date);
  return { output, ...defined({ servedAt: Number.isNaN(at) ? undefined : epochMs(at) }) };
};

export const createAwsTransport = (options: AwsOptions): AwsTransport => {
  const clients = createClients(options);
  const send = async (
    service: AwsService,
    operation: AwsOperation,
    input: JsonObject,
    http: Http,
  ): Promise<Sent> => {
    if (service !== 'service-quotas' && service !== 'sts') {
      return sendBySdk(clients, service, operation as AwsOperation<typeof service>, input, http);
    }
    const { endpoint } = options;
    const { client } = await clients.ssm();
    return service === 'sts'
      ? askCallerIdentity(client, endpoint, http)
      : askServiceQuotas(client, { operation, input, endpoint }, http);
  };
  return {
    invoke: async (service, operation, input, signal) => {
      signal?.throwIfAborted();
      try {
        const http = signal === undefined ? {} : { abortSignal: signal };
        return answerOf(await send(service, operation, input, http));
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        throw error instanceof AwsRefusal ? error : refusalFrom(error);
      }
    },
  };
};

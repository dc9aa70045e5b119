// The AWS endpoint of an embedded world: the world's services and the EKS face behind one
// dispatcher. Each call carries the world's time and is answered only after it is on disk.

import { cliUser, nodegroupService } from '../../world/aws/index.ts';
import type { UserInfo } from '../../world/contracts.ts';
import { type World, worldAccount, worldRegion } from '../../world/index.ts';
import { microsPerMs, uuid } from '../../world/kernel/index.ts';
import type { HttpRequest, HttpResponse } from '../api/http.ts';
import { objectOr } from '../api/json.ts';
import {
  type AwsCallContext,
  AwsError,
  type AwsHandler,
  type AwsHandlers,
  type AwsInput,
  createAwsDispatcher,
  optionalText,
  structures,
} from '../aws-wire/index.ts';
import { createEksFace } from '../eks-face/index.ts';
import type { Log } from '../ports/index.ts';
import type { Pacer } from '../serve/index.ts';
import { createInProcessPorts } from '../sim/index.ts';
import type { Settings } from './data-dir.ts';

export interface AwsFront {
  readonly handle: (request: HttpRequest) => Promise<HttpResponse>;
  /** The user of a token from `aws eks get-token`, or undefined. */
  readonly userOfToken: (token: string) => Promise<UserInfo | undefined>;
}

const tokenPrefix = 'k8s-aws-v1.';

/** Article 002's cluster creator, as identified by the API server. */
const adminUser: UserInfo = {
  username: 'kubernetes-admin',
  uid: `aws-iam-authenticator:${worldAccount}:AIDAYFMQSNSE7DQH72FL7`,
  groups: ['system:masters', 'system:authenticated'],
  extra: {
    arn: [`arn:aws:iam::${worldAccount}:user/cli`],
    canonicalArn: [`arn:aws:iam::${worldAccount}:user/cli`],
    sessionName: [''],
  },
};

const stackService = 'cloudformation.amazonaws.com';
const stackCaller = {
  principal: cliUser(worldAccount),
  userAgent: stackService,
  sourceIp: stackService,
};

/** Calls that may concern a node group or another EKS resource are distinguished by their input. */
const isAboutNodegroup = (input: AwsInput): boolean =>
  optionalText(input, 'nodegroupName') !== undefined ||
  (optionalText(input, 'resourceArn') ?? '').includes(':nodegroup/');

/** Calls about a cluster that depend on its node groups; the face forwards them to the world. */
const aboutGroupsToo: ReadonlySet<string> = new Set(['DeleteCluster', 'UpdateClusterVersion']);

/** The world's services combined with the face's node group operations. */
const withNodegroups = (services: AwsHandlers, face: AwsHandlers): AwsHandlers => {
  const merged: Record<string, Record<string, AwsHandler>> = { ...services };
  for (const [service, operations] of Object.entries(face)) {
    const own = services[service] ?? {};
    const entries = Object.entries(operations).map(([name, handler]) => {
      const other = own[name];
      const isOurs = aboutGroupsToo.has(name) || other === undefined;
      const either: AwsHandler = (input, ctx) =>
        isOurs || isAboutNodegroup(input) ? handler(input, ctx) : other(input, ctx);
      return [name, either] as const;
    });
    merged[service] = { ...own, ...Object.fromEntries(entries) };
  }
  return merged;
};

/** Every operation of the endpoint: the world's services and the EKS face. */
export const awsHandlers = (world: World): AwsHandlers => {
  const ports = createInProcessPorts(world, {
    component: 'eks-face',
    identity: {
      user: { username: 'eks:api', groups: ['system:masters', 'system:authenticated'] },
      userAgent: 'eks-api',
    },
    awsCaller: nodegroupService(worldAccount),
  });
  const face = createEksFace({
    ...ports,
    world: world.aws.handlers.eks ?? {},
  });
  return withNodegroups(world.aws.handlers, face);
};

export const createAwsFront = (options: {
  readonly world: World;
  readonly pacer: Pacer;
  readonly settings: Settings;
  readonly log: Log;
}): AwsFront => {
  const { world, pacer, settings, log } = options;
  const stamped = (handler: AwsHandler): AwsHandler => {
    return (input, ctx) => pacer.enter(() => handler(input, ctx));
  };
  const handlers = awsHandlers(world);
  const dispatcher = createAwsDispatcher({
    handlers: Object.fromEntries(
      Object.entries(handlers).map(([service, operations]) => [
        service,
        Object.fromEntries(
          Object.entries(operations).map(([name, handler]) => [name, stamped(handler)]),
        ),
      ]),
    ),
    authenticate: (accessKeyId) =>
      accessKeyId === settings.accessKeyId
        ? { secretAccessKey: settings.secretAccessKey, principal: cliUser(worldAccount) }
        : world.aws.sessionCredential(accessKeyId),
    now: () => Math.floor(world.kernel.now() / microsPerMs),
    nextRequestId: () => uuid(world.kernel.random('aws.front')),
    defaultRegion: worldRegion,
    onCall: (record) => pacer.enter(() => world.aws.recordCall(record)),
    onDefect: (error: Error, ctx: AwsCallContext) =>
      log.error('an AWS operation of the world failed', {
        operation: `${ctx.service}:${ctx.operation}`,
        error: error.stack ?? String(error),
      }),
  });
  // Stacks create node groups like a client: through the endpoint's own checks and records.
  world.aws.connect(({ service, operation, input }) =>
    dispatcher.invoke({ service, operation, input, caller: stackCaller }),
  );
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const response = await dispatcher.handle(request);
    await pacer.committed();
    return response;
  };
  const accepted = new AcceptedTokens();
  return {
    handle,
    userOfToken: async (token) => {
      const now = Date.now();
      const known = accepted.callerOf(token, now);
      if (known !== undefined) return userOf(options, known);
      const url = urlOfToken(token);
      const until = url === undefined ? undefined : endOfToken(url);
      if (url === undefined || until === undefined || now >= until) return undefined;
      const caller = await signerOf(url, world.aws.clusterNames(), handle);
      if (caller === undefined) return undefined;
      accepted.add(token, { caller, until });
      return userOf(options, caller);
    },
  };
};

/** The signer of a token, as in GetCallerIdentity. */
interface Caller {
  readonly arn: string;
  readonly userId: string;
}

const awsAuth = { namespace: 'kube-system', name: 'aws-auth' };

/** EC2's private DNS name; undefined for an instance that does not exist. */
const privateDnsName = (world: World, instanceId: string): string | undefined => {
  try {
    const answer = world.aws.call('ec2', 'DescribeInstances', { InstanceIds: [instanceId] });
    const [reservation] = structures(objectOr(answer), 'Reservations');
    const [instance] = reservation === undefined ? [] : structures(reservation, 'Instances');
    return instance === undefined ? undefined : optionalText(instance, 'PrivateDnsName');
  } catch (error) {
    if (error instanceof AwsError) return undefined;
    throw error;
  }
};

/** The cluster's creator is its admin; others map through their access entry or aws-auth. */
const userOf = async (
  { world, pacer }: { readonly world: World; readonly pacer: Pacer },
  { arn, userId }: Caller,
): Promise<UserInfo | undefined> => {
  if (arn === cliUser(worldAccount).arn) return adminUser;
  // Few tokens belong to other users, and the YAML parser would slow every start.
  const { identityOf, mappedUser, userNamed } = await import('../formats/index.ts');
  const data = world.kube.read({ group: '', resource: 'configmaps' }, awsAuth)?.data;
  const texts = Object.entries(objectOr(data)).map(([key, value]) => [key, String(value)] as const);
  const { arn: canonicalArn, session } = identityOf(arn);
  const user = await pacer.enter(() => {
    const dnsName = (id: string) => privateDnsName(world, id);
    const { entry, isAlone } = world.aws.accessOf(canonicalArn);
    if (entry !== undefined) {
      const username = userNamed(entry.username, arn, dnsName);
      return username === undefined ? undefined : { username, groups: entry.groups };
    }
    return isAlone ? undefined : mappedUser(Object.fromEntries(texts), arn, dnsName);
  });
  if (user === undefined) return undefined;
  return {
    username: user.username,
    uid: `aws-iam-authenticator:${worldAccount}:${userId.split(':')[0]}`,
    groups: [...user.groups, 'system:authenticated'],
    extra: { arn: [arn], canonicalArn: [canonicalArn], sessionName: [session] },
  };
};

/** A token is valid for this long after its signing, as in EKS. In wall time, like the signer's. */
const tokenLifeMs = 15 * 60_000;
/** A user's shells use a handful of tokens; beyond this the oldest is verified again. */
const maxAcceptedTokens = 64;

/**
 * Signers of tokens that the world's STS has accepted, until they expire: one verification each.
 */
class AcceptedTokens {
  readonly #known = new Map<string, { readonly caller: Caller; readonly until: number }>();

  callerOf(token: string, now: number): Caller | undefined {
    const known = this.#known.get(token);
    return known !== undefined && known.until > now ? known.caller : undefined;
  }

  add(token: string, known: { readonly caller: Caller; readonly until: number }): void {
    this.#known.set(token, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxAcceptedTokens && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** The presigned GetCallerIdentity in a token, or undefined. */
const urlOfToken = (token: string): URL | undefined => {
  if (!token.startsWith(tokenPrefix)) return undefined;
  try {
    const url = new URL(Buffer.from(token.slice(tokenPrefix.length), 'base64url').toString('utf8'));
    return url.searchParams.get('Action') === 'GetCallerIdentity' ? url : undefined;
  } catch {
    return undefined;
  }
};

/** When a token expires, in epoch milliseconds; undefined when it has no signing time. */
export const endOfToken = (url: URL): number | undefined => {
  const text = url.searchParams.get('X-Amz-Date') ?? '';
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + tokenLifeMs;
};

/** The signer of a token for a cluster of this world, if the world's STS accepts it. */
const signerOf = async (
  url: URL,
  clusterNames: readonly string[],
  handle: AwsFront['handle'],
): Promise<Caller | undefined> => {
  for (const clusterName of clusterNames) {
    const response = await handle({
      method: 'GET',
      path: url.pathname,
      query: url.search.slice(1),
      headers: { host: url.host, 'x-k8s-aws-id': clusterName },
      body: new Uint8Array(),
      remoteAddress: '127.0.0.1',
    });
    if (response.status !== 200) continue;
    const text = Buffer.from(response.body).toString('utf8');
    const arn = /<Arn>([^<]+)<\/Arn>/.exec(text)?.[1];
    const userId = /<UserId>([^<]+)<\/UserId>/.exec(text)?.[1];
    if (arn !== undefined && userId !== undefined) return { arn, userId };
  }
  return undefined;
};

// The controller approves a kubelet's certificate request only for the node that asks. Its names
// must belong to a running instance by EC2's record. It denies none.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { parseCertificateRequest } from '../../../src/formats/index.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { ObjectEntry, Request } from '../state/book.ts';
import type { InstanceState } from '../state/cloud.ts';
import { textOf } from '../state/read.ts';

const resource = 'certificatesigningrequests';
const prefix = 'system:node:';

const pemOf = (spec: JsonObject): string => {
  try {
    return atob(textOf(spec.request));
  } catch {
    return '';
  }
};

const isApproval = (body: unknown): boolean => {
  const { conditions } = objectOr(objectOr(body).status);
  return Array.isArray(conditions) && conditions.some((one) => objectOr(one).type === 'Approved');
};

const isDenial = (body: unknown): boolean => {
  const { conditions } = objectOr(objectOr(body).status);
  return Array.isArray(conditions) && conditions.some((one) => objectOr(one).type === 'Denied');
};

class Certificates {
  readonly #context: Context;
  readonly #specs = new Map<string, JsonObject>();

  constructor(context: Context) {
    this.#context = context;
  }

  object({ resource: of, object }: ObjectEntry): void {
    if (of !== resource) return;
    this.#specs.set(textOf(objectOr(object.metadata).name), objectOr(object.spec));
  }

  request(request: Request): void {
    const { resource: of, name = '', code, dryRun, body } = request;
    if (of !== resource || code >= 300 || dryRun || !this.#context.book.isOurs(request)) return;
    const { saw, report } = this.#context;
    if (isDenial(body)) report({ subject: name, message: 'was denied, which is final' });
    // Without EC2 states in the trace there is nothing to compare with.
    if (!isApproval(body) || !this.#context.book.cloud.seesInstances) return;
    saw();
    const wrong = this.#wrongIn(this.#specs.get(name) ?? {});
    if (wrong !== undefined) report({ subject: name, message: `was approved: ${wrong}` });
  }

  #wrongIn(spec: JsonObject): string | undefined {
    const parsed = parseCertificateRequest(pemOf(spec));
    if (parsed.kind === 'error') return parsed.message;
    const { commonName, dnsNames, ipAddresses, emailAddresses, uris } = parsed.request;
    const node = commonName.startsWith(prefix) ? commonName.slice(prefix.length) : '';
    if (node === '') return `${commonName} is no node`;
    const user = textOf(spec.username);
    if (user !== commonName && !user.startsWith('system:bootstrap:')) {
      return `${user} asked to be ${commonName}`;
    }
    const instance = this.#living(node);
    if (instance === undefined) return `no living instance is ${node}`;
    const names = [node, node.split('.')[0], instance.instanceId];
    const name = dnsNames.find((one) => !names.includes(one.toLowerCase().replace(/\.$/, '')));
    if (name !== undefined) return `${name} is no name of ${instance.instanceId}`;
    const address = ipAddresses.find((one) => !instance.addresses.includes(one));
    if (address !== undefined) return `${address} is no address of ${instance.instanceId}`;
    return emailAddresses.length + uris.length > 0 ? 'it has e-mail addresses or URIs' : undefined;
  }

  #living(node: string): InstanceState | undefined {
    for (const instance of this.#context.book.cloud.instances.values()) {
      const isIt = instance.privateDnsName === node || instance.instanceId === node;
      if (isIt && instance.deadAt === undefined) return instance;
    }
    return undefined;
  }
}

export const certificates: Oracle = {
  name: 'certificates-name-their-instance',
  what:
    'the controller approves only certificate requests whose names are those of the kubelet’s ' +
    'instance, and denies none',
  strategies: both,
  needs: ['object', 'request'],
  watch: (context) => {
    const watched = new Certificates(context);
    return {
      object: (entry) => watched.object(entry),
      request: (entry) => watched.request(entry),
    };
  },
};

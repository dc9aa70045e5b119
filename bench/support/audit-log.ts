// Writes a large audit log: the request mix of a busy cluster, about 1,500 bytes per event, one in
// 958 by the node manager's agent. The same size gives the same bytes.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { SeededRandom } from '../../world/kernel/random.ts';

const agents = [
  'kubelet/v1.32.9-eks-113cf36 (linux/amd64) kubernetes/113cf36',
  'kube-controller-manager/v1.32.9 (linux/amd64) kubernetes/113cf36/system:serviceaccount:kube-system:node-controller',
  'kube-scheduler/v1.32.9 (linux/amd64) kubernetes/113cf36/scheduler',
  'aws-node/v1.19.0 (linux/amd64) kubernetes/$Format',
  'coredns/v0.0.0 (linux/amd64) kubernetes/$Format',
  'kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07',
];
const lambda = 'vpcLambda/v0.0.0 (linux/amd64) kubernetes/$Format';
const resources = ['pods', 'nodes', 'leases', 'events', 'configmaps', 'endpointslices', 'secrets'];
const verbs = ['get', 'get', 'list', 'watch', 'update', 'patch', 'create'];
const everyLambda = 958;
const variants = 2000;

/** An event without id and times, which differ per line. */
const eventOf = (random: SeededRandom, isLambda: boolean): string => {
  const pick = <T>(items: readonly [T, ...T[]] | readonly T[]): T =>
    items[random.below(items.length)] as T;
  const verb = isLambda ? pick(['get', 'list', 'patch', 'create', 'patch']) : pick(verbs);
  const resource = isLambda ? pick(['nodes', 'pods']) : pick(resources);
  const name = `${resource}-${random.below(5000)}`;
  const withBody = ['update', 'patch', 'create'].includes(verb);
  const labels = Object.fromEntries(
    Array.from({ length: 6 + random.below(6) }, (_, index) => [
      `app.kubernetes.io/part-${index}`,
      `value-${random.below(1_000_000)}`,
    ]),
  );
  const body = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'demo', labels, annotations: { note: 'a \u003c b & c' } },
    spec: {
      nodeName: `ip-192-168-${random.below(256)}-${random.below(256)}.eu-west-1.compute.internal`,
    },
    status: { phase: 'Running', podIP: `192.168.0.${random.below(256)}`, qosClass: 'Burstable' },
  };
  return JSON.stringify({
    requestURI: `/api/v1/namespaces/demo/${resource}/${name}?limit=500\u0026resourceVersion=0`,
    verb,
    user: {
      username: isLambda
        ? 'eks:node-manager'
        : `system:node:ip-192-168-${random.below(256)}-7.eu-west-1.compute.internal`,
      groups: ['system:nodes', 'system:authenticated'],
    },
    sourceIPs: [`10.0.${random.below(256)}.${random.below(256)}`],
    userAgent: isLambda ? lambda : pick(agents),
    objectRef: { resource, namespace: 'demo', name, apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: pick([200, 200, 200, 201, 404, 409]) },
    ...(withBody ? { requestObject: body, responseObject: body } : {}),
    annotations: {
      'authorization.k8s.io/decision': 'allow',
      'authorization.k8s.io/reason': 'x'.repeat(300),
    },
  }).slice(1);
};

/** Returns the number of events written. */
export const writeAuditLog = async (file: string, bytes: number): Promise<number> => {
  const random = new SeededRandom(1);
  const common = Array.from({ length: variants }, () => eventOf(random, false));
  const rare = Array.from({ length: 200 }, () => eventOf(random, true));
  const out = createWriteStream(file);
  let written = 0;
  let count = 0;
  while (written < bytes) {
    const lines: string[] = [];
    for (let index = 0; index < 1000; index++, count++) {
      const from = count % everyLambda === 0 ? rare : common;
      const id = `${String(count).padStart(8, '0')}-0000-4000-8000-000000000000`;
      const at = new Date(Date.UTC(2022, 8, 25) + count * 7).toISOString().replace('Z', '123Z');
      const head = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"${id}","stage":"ResponseComplete","requestReceivedTimestamp":"${at}","stageTimestamp":"${at}",`;
      lines.push(head + (from[random.below(from.length)] ?? ''));
    }
    const text = `${lines.join('\n')}\n`;
    written += Buffer.byteLength(text);
    if (!out.write(text)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  return count;
};

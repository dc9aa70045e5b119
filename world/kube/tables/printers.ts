// Server-side tables: the columns that kubectl shows for each built-in kind. Columns with priority
// 1 appear with `-o wide`. A kind without a printer gets NAME and AGE.
import type { JsonObject } from '../../../src/api/json.ts';
import {
  age,
  type Cell,
  count,
  name,
  orNone,
  type Printer,
  templateColumns,
  text,
  wide,
} from './columns.ts';
import { ageOf } from './human.ts';
import { summarizePod } from './pod-row.ts';
import { batchAndStorage } from './printers-batch-storage.ts';
import { certificatePrinters } from './printers-certificates.ts';
import { devices } from './printers-devices.ts';
import { policiesAndEndpoints } from './printers-policies.ts';
import { labelText, mapAt, numberAt, objectsAt, textAt } from './read.ts';

const workloadColumns = templateColumns('spec');

const nodeStatus: Cell = (node) => {
  const ready = objectsAt(node, 'status', 'conditions').find((c) => c.type === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return mapAt(node, 'spec').unschedulable === true ? `${word},SchedulingDisabled` : word;
};
const nodeRoles: Cell = (node) => {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(mapAt(node, 'metadata', 'labels'))
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length));
  return orNone(roles.sort().join(','));
};
const nodeAddress =
  (type: string): Cell =>
  (node) => {
    const found = objectsAt(node, 'status', 'addresses').find((a) => a.type === type);
    return orNone(found === undefined ? '' : textAt(found, 'address'));
  };

const servicePorts: Cell = (service) =>
  orNone(
    objectsAt(service, 'spec', 'ports')
      .map((port) => {
        const nodePort = numberAt(port, 'nodePort');
        const middle = nodePort === 0 ? '' : `:${nodePort}`;
        return `${numberAt(port, 'port')}${middle}/${textAt(port, 'protocol')}`;
      })
      .join(','),
  );
const serviceExternal: Cell = (service) => {
  const ingress = objectsAt(service, 'status', 'loadBalancer', 'ingress').map(
    (entry) => textAt(entry, 'hostname') || textAt(entry, 'ip'),
  );
  if (ingress.length > 0) return ingress.join(',');
  return textAt(service, 'spec', 'type') === 'LoadBalancer' ? '<pending>' : '<none>';
};

const eventTime = (event: JsonObject): string =>
  textAt(event, 'series', 'lastObservedTime') ||
  textAt(event, 'lastTimestamp') ||
  textAt(event, 'eventTime') ||
  textAt(event, 'metadata', 'creationTimestamp');
const eventObject: Cell = (event) =>
  `${textAt(event, 'involvedObject', 'kind').toLowerCase()}/${textAt(event, 'involvedObject', 'name')}`;

const dataCount: Cell = (object) =>
  Object.keys(mapAt(object, 'data')).length + Object.keys(mapAt(object, 'binaryData')).length;
const budgetBound =
  (field: string): Cell =>
  (budget) =>
    textAt(budget, 'spec', field) || 'N/A';

const pods: Printer = [
  name,
  text('Ready', (pod, now) => summarizePod(pod, now).ready),
  text('Status', (pod, now) => summarizePod(pod, now).status),
  text('Restarts', (pod, now) => summarizePod(pod, now).restarts),
  age,
  wide('IP', (pod) => orNone(textAt(pod, 'status', 'podIP'))),
  wide('Node', (pod) => orNone(textAt(pod, 'spec', 'nodeName'))),
  wide('Nominated Node', (pod) => orNone(textAt(pod, 'status', 'nominatedNodeName'))),
  wide('Readiness Gates', () => '<none>'),
];
const nodes: Printer = [
  name,
  text('Status', nodeStatus),
  text('Roles', nodeRoles),
  age,
  text('Version', (node) => textAt(node, 'status', 'nodeInfo', 'kubeletVersion')),
  wide('Internal-IP', nodeAddress('InternalIP')),
  wide('External-IP', nodeAddress('ExternalIP')),
  wide('OS-Image', (node) => textAt(node, 'status', 'nodeInfo', 'osImage')),
  wide('Kernel-Version', (node) => textAt(node, 'status', 'nodeInfo', 'kernelVersion')),
  wide('Container-Runtime', (n) => textAt(n, 'status', 'nodeInfo', 'containerRuntimeVersion')),
];
const ratio =
  (ready: string, wanted: readonly string[]): Cell =>
  (object) =>
    `${numberAt(object, 'status', ready)}/${numberAt(object, ...wanted)}`;

/** By `group/resource`; the core group is the empty string. */
export const printers: Readonly<Record<string, Printer>> = {
  ...batchAndStorage,
  ...certificatePrinters,
  ...devices,
  ...policiesAndEndpoints,
  '/pods': pods,
  '/nodes': nodes,
  '/namespaces': [name, text('Status', (n) => textAt(n, 'status', 'phase')), age],
  '/services': [
    name,
    text('Type', (service) => textAt(service, 'spec', 'type')),
    text('Cluster-IP', (service) => orNone(textAt(service, 'spec', 'clusterIP'))),
    text('External-IP', serviceExternal),
    text('Port(s)', servicePorts),
    age,
    wide('Selector', (service) => labelText(mapAt(service, 'spec', 'selector'))),
  ],
  '/configmaps': [name, text('Data', dataCount), age],
  '/secrets': [
    name,
    text('Type', (secret) => textAt(secret, 'type')),
    text('Data', dataCount),
    age,
  ],
  '/serviceaccounts': [name, text('Secrets', (sa) => objectsAt(sa, 'secrets').length), age],
  '/events': [
    text('Last Seen', (event, now) => ageOf(eventTime(event), now)),
    text('Type', (event) => textAt(event, 'type')),
    text('Reason', (event) => textAt(event, 'reason')),
    text('Object', eventObject),
    wide('Subobject', (event) => textAt(event, 'involvedObject', 'fieldPath')),
    wide('Source', (e) => textAt(e, 'source', 'component') || textAt(e, 'reportingComponent')),
    text('Message', (event) => textAt(event, 'message').trim()),
    wide('First Seen', (e, now) => ageOf(textAt(e, 'firstTimestamp') || eventTime(e), now)),
    wide('Count', (event) => numberAt(event, 'count') || 1),
    wide('Name', (event) => textAt(event, 'metadata', 'name')),
  ],
  'apps/deployments': [
    name,
    text('Ready', ratio('readyReplicas', ['spec', 'replicas'])),
    count('Up-to-date', 'status', 'updatedReplicas'),
    count('Available', 'status', 'availableReplicas'),
    age,
    ...workloadColumns,
  ],
  'apps/replicasets': [
    name,
    count('Desired', 'spec', 'replicas'),
    count('Current', 'status', 'replicas'),
    count('Ready', 'status', 'readyReplicas'),
    age,
    ...workloadColumns,
  ],
  '/replicationcontrollers': [
    name,
    count('Desired', 'spec', 'replicas'),
    count('Current', 'status', 'replicas'),
    count('Ready', 'status', 'readyReplicas'),
    age,
    ...workloadColumns.slice(0, 2),
    wide('Selector', (controller) => labelText(mapAt(controller, 'spec', 'selector'))),
  ],
  'apps/statefulsets': [
    name,
    text('Ready', ratio('readyReplicas', ['spec', 'replicas'])),
    age,
    ...workloadColumns.slice(0, 2),
  ],
  'apps/daemonsets': [
    name,
    count('Desired', 'status', 'desiredNumberScheduled'),
    count('Current', 'status', 'currentNumberScheduled'),
    count('Ready', 'status', 'numberReady'),
    count('Up-to-date', 'status', 'updatedNumberScheduled'),
    count('Available', 'status', 'numberAvailable'),
    text('Node Selector', (set) =>
      labelText(mapAt(set, 'spec', 'template', 'spec', 'nodeSelector')),
    ),
    age,
    ...workloadColumns,
  ],
  'policy/poddisruptionbudgets': [
    name,
    text('Min Available', budgetBound('minAvailable')),
    text('Max Unavailable', budgetBound('maxUnavailable')),
    count('Allowed Disruptions', 'status', 'disruptionsAllowed'),
    age,
  ],
  'coordination.k8s.io/leases': [
    name,
    text('Holder', (lease) => textAt(lease, 'spec', 'holderIdentity')),
    age,
  ],
  'scheduling.k8s.io/priorityclasses': [
    name,
    count('Value', 'value'),
    text('Global-Default', (object) => String(object.globalDefault === true)),
    age,
    text('PreemptionPolicy', (object) => textAt(object, 'preemptionPolicy')),
  ],
  'apiextensions.k8s.io/customresourcedefinitions': [
    name,
    text('Created At', (object) => textAt(object, 'metadata', 'creationTimestamp')),
  ],
};

export const defaultPrinter: Printer = [name, age];

// What an instance's user data makes of it, by the one evaluation that render and lint use: node
// labels, taints, pods, the cluster that is meant, and why it does not join. Never runs anything.
import {
  evaluateUserData,
  exampleFacts,
  type Family,
  guessFamily,
  type NodeFacts,
} from '../../../src/formats/index.ts';

export interface Bootstrap {
  /** True when the user data starts a kubelet that registers. */
  readonly joins: boolean;
  /** Why it starts none although it was meant to: the rule and a sentence. */
  readonly fault?: string;
  /** As it is written there; undefined where it is put together when the script runs. */
  readonly clusterName?: string;
  readonly endpoint?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly {
    readonly key: string;
    readonly value?: string;
    readonly effect: string;
  }[];
  readonly maxPods?: number;
}

/** UTF-8 text as base64, the form that EC2 takes and gives. */
export const encodeBase64 = (text: string): string => {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
};

/** Raw bytes of what EC2 holds; a text that is no base64 is taken as it is. */
const bytesOf = (base64: string): Uint8Array => {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return new TextEncoder().encode(base64);
  }
};

/** The instance was never meant to be a node: nothing is wrong with it. */
const notMeant: ReadonlySet<string> = new Set(['SH007', 'CI001', 'WIN003', 'WIN004']);

const nothing: Bootstrap = { joins: false, labels: {}, taints: [] };

type Known = Pick<NodeFacts, 'instanceId' | 'lifecycle' | 'kubernetesVersion'> &
  Partial<NodeFacts> & {
    /** The image's; undefined where nobody knows it: as the text looks. */
    readonly family?: Family | undefined;
  };

/** A machine's user data is asked for at each step of its start; few texts are in use at a time. */
const mostTexts = 16;
const mostInstances = 1024;
const known = new Map<string, Text>();

interface Text {
  readonly bytes: Uint8Array;
  readonly ofInstance: Map<string, Bootstrap>;
}

/** `userData` in base64; `instance` fills what the script would ask the metadata service for. */
export const readUserData = (userData: string | undefined, instance: Known): Bootstrap => {
  if (userData === undefined) return nothing;
  let text = known.get(userData);
  if (text === undefined) {
    if (known.size >= mostTexts) known.clear();
    text = { bytes: bytesOf(userData), ofInstance: new Map() };
    known.set(userData, text);
  }
  const { bytes, ofInstance } = text;
  const key = JSON.stringify(instance);
  const before = ofInstance.get(key);
  if (before !== undefined) return before;
  if (ofInstance.size >= mostInstances) ofInstance.clear();
  const read = evaluate(bytes, instance);
  ofInstance.set(key, read);
  return read;
};

/** With all that the instance itself knows: asked alike by all, it is evaluated once. */
export const bootstrapOf = (
  instance: Pick<
    NodeFacts,
    'instanceId' | 'instanceType' | 'privateIp' | 'privateDnsName' | 'zone'
  > & {
    readonly capacityType: 'ON_DEMAND' | 'SPOT';
    readonly userData?: string;
  },
  system: Partial<Known> & Pick<Known, 'kubernetesVersion'>,
  region: string,
): Bootstrap => {
  const { instanceId, instanceType, privateIp, privateDnsName, zone } = instance;
  const lifecycle = instance.capacityType === 'SPOT' ? 'spot' : 'on-demand';
  return readUserData(instance.userData, {
    ...system,
    instanceId,
    lifecycle,
    instanceType,
    privateIp,
    privateDnsName,
    zone,
    region,
  });
};

const evaluate = (bytes: Uint8Array, instance: Known): Bootstrap => {
  const { family, ...own } = instance;
  const facts = { ...exampleFacts, ...own };
  const { data, node, bootstrap } = evaluateUserData(bytes, facts, family);
  const { cluster, labels, taints, kubelet, obstacles } = node;
  const isMeant =
    obstacles.some(({ rule }) => rule === 'FAM001') ||
    (!obstacles.some(({ rule }) => notMeant.has(rule)) &&
      (node.family !== 'al2023' ||
        bootstrap.nodeConfigs.length > 0 ||
        // It speaks of nodes, where none reads it.
        guessFamily(data.decoded.text) === 'al2023') &&
      (node.family !== 'bottlerocket' || cluster.name !== undefined || obstacles.length > 0));
  const fault = isMeant ? obstacles[0] : undefined;
  const said =
    bootstrap.settings !== undefined || kubelet.flags.some((one) => one.name === 'max-pods');
  // Windows' script counts for itself: one interface, whatever the type's others could have.
  const counts = node.family === 'windows';
  const written = counts || kubelet.dropIn?.maxPods !== undefined || said;
  return {
    joins: isMeant && fault === undefined,
    ...(fault === undefined ? {} : { fault: `${fault.rule}: ${fault.message}` }),
    ...(cluster.name === undefined || cluster.name === '' ? {} : { clusterName: cluster.name }),
    ...(cluster.endpoint === undefined || cluster.endpoint === ''
      ? {}
      : { endpoint: cluster.endpoint }),
    labels,
    taints,
    ...(written ? { maxPods: node.maxPods } : {}),
  };
};

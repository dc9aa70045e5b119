// The node that an instance's user data describes: labels, taints, maxPods, the cluster, and why it
// does not join. Uses the same evaluation as render and lint; never runs anything.
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
  /** Why no kubelet starts although one was intended: the rule and a sentence. */
  readonly fault?: string;
  /** As written in the user data; undefined if the script computes it. */
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

/** UTF-8 text as base64, EC2's form of user data. */
export const encodeBase64 = (text: string): string => {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
};

/** The raw bytes of EC2's user data; text that is not base64 is taken as it is. */
const bytesOf = (base64: string): Uint8Array => {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return new TextEncoder().encode(base64);
  }
};

/** Rules that show that the instance was never meant to be a node: not an error. */
const notMeant: ReadonlySet<string> = new Set(['SH007', 'CI001', 'WIN003', 'WIN004']);

const nothing: Bootstrap = { joins: false, labels: {}, taints: [] };

type Known = Pick<NodeFacts, 'instanceId' | 'lifecycle' | 'kubernetesVersion'> &
  Partial<NodeFacts> & {
    /** Family of the image; undefined if unknown: guessed from the text. */
    readonly family?: Family | undefined;
  };

/** The machine reads its user data at each step of its start; few texts are in use at a time. */
const mostTexts = 16;
const mostInstances = 1024;
const known = new Map<string, Text>();

interface Text {
  readonly bytes: Uint8Array;
  readonly ofInstance: Map<string, Bootstrap>;
}

/**
 * `userData` in base64; `instance` provides the values that the script would get from the metadata
 * service.
 */
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

/** The bootstrap with the facts of the instance; cached, so each input is evaluated once. */
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
        // The text describes a node, but no component of the image reads it.
        guessFamily(data.decoded.text) === 'al2023') &&
      (node.family !== 'bottlerocket' || cluster.name !== undefined || obstacles.length > 0));
  const fault = isMeant ? obstacles[0] : undefined;
  const said =
    bootstrap.settings !== undefined || kubelet.flags.some((one) => one.name === 'max-pods');
  // The Windows script computes the value itself, from one interface whatever the instance type.
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

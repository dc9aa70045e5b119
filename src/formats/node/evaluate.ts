// Evaluates user data with the facts of an instance: kubelet, labels, taints, files, and why the
// node does not join. Shared by render, lint, explain, diff and the embedded world.
import { begin } from '../position.ts';
import { type Bootstrap, readBootstrap } from '../user-data/bootstrap.ts';
import { readLimitBytes, sizeLimitBytes } from '../user-data/decode.ts';
import { readUserData, readUserDataText, type UserData } from '../user-data/document.ts';
import type { Family } from '../user-data/families.ts';
import { evaluateBootstrapScript } from './bootstrap-sh.ts';
import { evaluateBottlerocket } from './bottlerocket.ts';
import type { EvaluatedNode } from './evaluated.ts';
import { metadataCommand, type NodeFacts } from './facts.ts';
import { evaluateKubeadm } from './kubeadm-join.ts';
import { evaluateNodeadm } from './nodeadm.ts';
import { otherFamilyProblems } from './other-family.ts';
import { type Obstacle, obstacle } from './problem.ts';
import { evaluateWindows } from './windows.ts';

const evaluators: Readonly<
  Record<Family, (bootstrap: Bootstrap, facts: NodeFacts) => EvaluatedNode>
> = {
  al2: evaluateBootstrapScript,
  ubuntu: evaluateBootstrapScript,
  al2023: evaluateNodeadm,
  bottlerocket: evaluateBottlerocket,
  windows: evaluateWindows,
  'cloud-init': evaluateKubeadm,
};

/** Windows' EC2Launch does not support gzip; the other families' readers do. */
export const takesGzip = (family: Family): boolean => family !== 'windows';

const sizeMessage = (sizeBytes: number): string =>
  `${sizeBytes} bytes: "User data is limited to ${sizeLimitBytes} bytes"${
    sizeBytes > readLimitBytes ? `; Drover reads no more than ${readLimitBytes}` : ''
  }`;

const encodingProblems = ({ decoded, family, parts }: UserData): readonly Obstacle[] => [
  // User data over the limit is not read, so it is not known how it is encoded.
  ...(decoded.sizeBytes > readLimitBytes ? [] : decoded.faults).map(({ at, message }) =>
    obstacle('ENC001', at, `the user data is ${message}`),
  ),
  // A NodeConfig's faults are NC006: nodeadm then ignores all of the user data.
  ...parts
    .filter(({ kind }) => kind !== 'node-config')
    .flatMap(({ index, faults }) =>
      faults.map(({ at, message }) => obstacle('ENC001', at, `part ${index} is ${message}`)),
    ),
  ...(decoded.layers.includes('gzip') && !takesGzip(family)
    ? [obstacle('ENC001', begin, 'the user data is gzip, which EC2Launch does not read')]
    : []),
  ...(decoded.sizeBytes > sizeLimitBytes
    ? [obstacle('SIZE001', begin, sizeMessage(decoded.sizeBytes))]
    : []),
];

export interface Evaluation {
  readonly data: UserData;
  readonly bootstrap: Bootstrap;
  readonly node: EvaluatedNode;
}

export const evaluateData = (data: UserData, facts: NodeFacts): Evaluation => {
  const bootstrap = readBootstrap(data, metadataCommand(facts));
  const node = evaluators[data.family](bootstrap, facts);
  const obstacles = [
    ...encodingProblems(data),
    ...otherFamilyProblems(bootstrap),
    ...node.obstacles,
  ];
  return { data, bootstrap, node: { ...node, obstacles } };
};

/** `family` undefined: detected from the text. */
export const evaluateUserData = (
  userData: Uint8Array | string,
  facts: NodeFacts,
  family?: Family,
): Evaluation =>
  evaluateData(
    typeof userData === 'string'
      ? readUserDataText(userData, family)
      : readUserData(userData, family),
    facts,
  );

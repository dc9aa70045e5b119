// The user data of a new node of a managed group: its labels, taints and pod limit, in the format
// of its image family. A user's own parts are kept, in EKS' order. Pure.
import type { Taint } from '../../api/kube.ts';
import {
  evaluateUserData,
  exampleFacts,
  type Family as UserDataFamily,
  type Written,
  writeUserData,
} from '../../formats/index.ts';
import type { Family } from './images.ts';

export interface BootstrapFacts {
  readonly family: Family;
  readonly clusterName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods: number | undefined;
  /** nodeadm calls no API, so its nodes need these to find their cluster. */
  readonly cluster: ClusterFacts;
  /** User data of the user's launch template, decoded. */
  readonly userParts: string | undefined;
}

export interface ClusterFacts {
  readonly endpoint?: string;
  /** PEM in base64. */
  readonly certificateAuthority?: string;
  readonly serviceCidr?: string;
}

const families: Readonly<Record<Family['bootstrap'], UserDataFamily>> = {
  'bootstrap.sh': 'al2',
  nodeadm: 'al2023',
  settings: 'bottlerocket',
  powershell: 'windows',
};

/** An error if EKS would refuse the user's own parts. */
export const bootstrapUserData = (facts: BootstrapFacts): Written => {
  const { family, clusterName, cluster, labels, taints, maxPods, userParts } = facts;
  const isWindows = family.bootstrap === 'powershell';
  return writeUserData(
    {
      family: families[family.bootstrap],
      cluster: { name: clusterName, ...cluster },
      labels,
      taints,
      // The Windows script computes its own number, from one interface and not by the formula of
      // Linux.
      maxPods: isWindows ? undefined : maxPods,
    },
    userParts,
  );
};

const sorted = (values: readonly string[]): string => values.toSorted().join('\n');

/** Labels and taints of a node started with this user data, ignoring all other differences. */
const marksOf = (userData: string): string => {
  const { labels, taints } = evaluateUserData(userData, exampleFacts).node;
  return JSON.stringify([
    sorted(Object.entries(labels).map(([key, value]) => `${key}=${value}`)),
    sorted(taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`)),
  ]);
};

/** Whether nodes started with `a` and with `b` get the same labels and taints. */
export const sameNodes = (a: string, b: string): boolean => marksOf(a) === marksOf(b);

// EKS' rule for how far nodes of managed groups may be behind their cluster, checked before the
// cluster moves to its next minor version. Pure: the caller reads cluster and groups.
import type { Complaint } from './validate.ts';

/** `1.33` -> 33; undefined if it is not a version of that form. */
const minorOf = (version: string): number | undefined => {
  const minor = /^1\.(\d+)$/.exec(version)?.[1];
  return minor === undefined ? undefined : Number(minor);
};

/** From this minor version on, a kubelet may be three versions older than the API server. */
const longSkewFrom = 25;

/**
 * EKS user guide, "Update existing cluster to new Kubernetes version"; Kubernetes version skew
 * policy.
 */
const maxMinorsBehind = (kubeletMinor: number): number => (kubeletMinor >= longSkewFrom ? 3 : 2);

/** The next minor version, e.g. `1.33` after `1.32`; undefined if it is not a version. */
export const nextMinor = (version: string): string | undefined => {
  const minor = minorOf(version);
  return minor === undefined ? undefined : `1.${minor + 1}`;
};

/**
 * In EKS' words, why the cluster cannot be updated to `to`: node groups would be too far behind.
 * Undefined if it can.
 */
export const clusterSkewComplaint = (
  move: { readonly from: string; readonly to: string },
  groups: readonly { readonly name: string; readonly version: string }[],
): Complaint => {
  const target = minorOf(move.to);
  if (target === undefined) return undefined;
  const late = groups.filter(({ version }) => {
    const minor = minorOf(version);
    return minor !== undefined && target - minor > maxMinorsBehind(minor);
  });
  if (late.length === 0) return undefined;
  const names = late.map(({ name }) => name).join(', ');
  return (
    `Nodegroups ${names} must be updated to match cluster version ${move.from} before ` +
    'updating cluster version'
  );
};

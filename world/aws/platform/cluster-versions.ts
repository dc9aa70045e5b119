// EKS' Kubernetes versions with their support dates (EKS user guide, "kubernetes-versions"), in the
// form of DescribeClusterVersions at a given world time, and the images of each.

import type { Images } from '../ec2/images.ts';

interface VersionFacts {
  readonly version: string;
  /** Newest patch version of the world's images. */
  readonly patch: string;
  readonly platform: string;
  readonly released: string;
  readonly endOfStandard: string;
  readonly endOfExtended: string;
}

const facts = (
  version: string,
  patch: string,
  platform: string,
  dates: readonly [released: string, endOfStandard: string, endOfExtended: string],
): VersionFacts => ({
  version,
  patch: `${version}.${patch}`,
  platform,
  released: dates[0],
  endOfStandard: dates[1],
  endOfExtended: dates[2],
});

export const clusterVersions: readonly VersionFacts[] = [
  facts('1.34', '1', 'eks.9', ['2025-10-02', '2026-12-02', '2027-12-02']),
  facts('1.33', '5', 'eks.16', ['2025-05-29', '2026-07-29', '2027-07-29']),
  facts('1.32', '9', 'eks.17', ['2025-01-23', '2026-03-23', '2027-03-23']),
  facts('1.31', '13', 'eks.41', ['2024-09-26', '2025-11-26', '2026-11-26']),
  facts('1.30', '14', 'eks.50', ['2024-05-23', '2025-07-23', '2026-07-23']),
];

export const findVersion = (version: string): VersionFacts | undefined =>
  clusterVersions.find((one) => one.version === version);

/**
 * Publishes images of a cluster's minor version and of the adjacent ones, to which the cluster or
 * its node groups may move. Existing images stay.
 */
export const ensureImages = (images: Pick<Images, 'ensure'>, version: string): void => {
  const own = clusterVersions.findIndex((one) => one.version === version);
  if (own === -1) return;
  for (const index of [own, own - 1, own + 1]) {
    const patch = clusterVersions[index]?.patch;
    if (patch !== undefined) images.ensure(patch);
  }
};

const supportAt = (version: VersionFacts, now: number) => {
  if (now < Date.parse(version.endOfStandard)) return 'standard-support';
  return now < Date.parse(version.endOfExtended) ? 'extended-support' : 'unsupported';
};

export const renderVersions = (versions: readonly string[], now: number, standard: string) =>
  clusterVersions
    .filter((one) => versions.length === 0 || versions.includes(one.version))
    .map((one) => {
      const status = supportAt(one, now);
      return {
        clusterVersion: one.version,
        clusterType: 'eks',
        defaultPlatformVersion: one.platform,
        defaultVersion: one.version === standard,
        releaseDate: Date.parse(one.released),
        endOfStandardSupportDate: Date.parse(one.endOfStandard),
        endOfExtendedSupportDate: Date.parse(one.endOfExtended),
        status,
        versionStatus: status.toUpperCase().replace('-', '_'),
        kubernetesPatchVersion: one.patch,
      };
    });

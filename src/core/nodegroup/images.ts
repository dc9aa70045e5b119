// EKS' image families: their EC2 names, architectures and releases. Facts: EKS user guide,
// "retrieve-ami-id" and the AMI change logs.

export interface Family {
  readonly architecture: 'x86_64' | 'arm64';
  /** The image's name. `%` is replaced by the Kubernetes version, `#` by the release. */
  readonly imageName: string;
  /** The program that reads the user data, which determines its format. */
  readonly bootstrap: 'bootstrap.sh' | 'nodeadm' | 'settings' | 'powershell';
  /** The volume for images and pods, whose size a group sets. */
  readonly dataDevice: string;
}

const al2 = (architecture: Family['architecture'], name: string): Family => ({
  architecture,
  imageName: `${name}-%-v#`,
  bootstrap: 'bootstrap.sh',
  dataDevice: '/dev/xvda',
});
const al2023 = (architecture: Family['architecture'], variant: string): Family => ({
  architecture,
  imageName: `amazon-eks-node-al2023-${architecture}-${variant}-%-v#`,
  bootstrap: 'nodeadm',
  dataDevice: '/dev/xvda',
});
const bottlerocket = (architecture: Family['architecture'], variant: string): Family => ({
  architecture,
  imageName: `bottlerocket-aws-k8s-%${variant}-${architecture}-v#`,
  bootstrap: 'settings',
  dataDevice: '/dev/xvdb',
});
const windows = (year: string, edition: 'Core' | 'Full'): Family => ({
  architecture: 'x86_64',
  imageName: `Windows_Server-${year}-English-${edition}-EKS_Optimized-%-#`,
  bootstrap: 'powershell',
  dataDevice: '/dev/sda1',
});

const families: Readonly<Record<string, Family>> = {
  AL2_x86_64: al2('x86_64', 'amazon-eks-node'),
  AL2_x86_64_GPU: al2('x86_64', 'amazon-eks-gpu-node'),
  AL2_ARM_64: al2('arm64', 'amazon-eks-arm64-node'),
  AL2023_x86_64_STANDARD: al2023('x86_64', 'standard'),
  AL2023_ARM_64_STANDARD: al2023('arm64', 'standard'),
  AL2023_x86_64_NEURON: al2023('x86_64', 'neuron'),
  AL2023_x86_64_NVIDIA: al2023('x86_64', 'nvidia'),
  AL2023_ARM_64_NVIDIA: al2023('arm64', 'nvidia'),
  BOTTLEROCKET_x86_64: bottlerocket('x86_64', ''),
  BOTTLEROCKET_ARM_64: bottlerocket('arm64', ''),
  BOTTLEROCKET_x86_64_NVIDIA: bottlerocket('x86_64', '-nvidia'),
  BOTTLEROCKET_ARM_64_NVIDIA: bottlerocket('arm64', '-nvidia'),
  BOTTLEROCKET_x86_64_FIPS: bottlerocket('x86_64', '-fips'),
  BOTTLEROCKET_ARM_64_FIPS: bottlerocket('arm64', '-fips'),
  WINDOWS_CORE_2019_x86_64: windows('2019', 'Core'),
  WINDOWS_FULL_2019_x86_64: windows('2019', 'Full'),
  WINDOWS_CORE_2022_x86_64: windows('2022', 'Core'),
  WINDOWS_FULL_2022_x86_64: windows('2022', 'Full'),
  WINDOWS_CORE_2025_x86_64: windows('2025', 'Core'),
  WINDOWS_FULL_2025_x86_64: windows('2025', 'Full'),
};

/** Undefined for families that this version of Drover cannot bootstrap. */
export const familyOf = (amiType: string): Family | undefined =>
  Object.hasOwn(families, amiType) ? families[amiType] : undefined;

export const supportedAmiTypes: readonly string[] = Object.keys(families);

/** The last Kubernetes minor version with Amazon Linux 2 images. */
const lastMinorWithAl2 = 32;

/** EKS' default (Amazon Linux 2023 since 1.30). */
export const defaultAmiType = (version: string, architecture: 'x86_64' | 'arm64'): string => {
  const minor = Number(version.split('.')[1] ?? 0);
  if (minor >= 30) {
    return architecture === 'arm64' ? 'AL2023_ARM_64_STANDARD' : 'AL2023_x86_64_STANDARD';
  }
  return architecture === 'arm64' ? 'AL2_ARM_64' : 'AL2_x86_64';
};

export const hasImages = (amiType: string, version: string): boolean =>
  familyOf(amiType)?.bootstrap !== 'bootstrap.sh' ||
  Number(version.split('.')[1] ?? 0) <= lastMinorWithAl2;

/** The release part of the image's name, after the Kubernetes version. */
const releaseInName = ({ bootstrap }: Family, releaseVersion: string): string =>
  bootstrap === 'settings' ? releaseVersion : (releaseVersion.split(/-(.*)/)[1] ?? '');

/** Pattern of the image names for a release, `1.32.9-20260905`, or for all releases. */
export const imagePattern = (
  family: Family,
  version: string,
  releaseVersion: string | undefined,
): string =>
  family.imageName
    .replace('%', version)
    .replace('#', releaseVersion === undefined ? '*' : releaseInName(family, releaseVersion));

interface NamedImage {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** The newest image of a family; its release is at the end of its name. */
export const newestImage = <I extends NamedImage>(images: readonly I[]): I | undefined =>
  images.toSorted((a, b) => b.name.localeCompare(a.name, 'en', { numeric: true }))[0];

/**
 * The release in EKS' form. `1.32.9-20260905`: the kubelet's version from the description and the
 * date from the name. Bottlerocket: its own version. Windows: only the Kubernetes version and the
 * release.
 */
export const releaseOf = (family: Family, image: NamedImage, version: string): string => {
  const [before = '', after = ''] = family.imageName.replace('%', version).split('#');
  const release = image.name.slice(before.length, image.name.length - after.length);
  if (family.bootstrap === 'settings') return release;
  if (family.bootstrap === 'powershell') return `${version}-${release}`;
  const kubelet = /k8s: (\d+\.\d+\.\d+)/.exec(image.description)?.[1] ?? `${version}.0`;
  return `${kubelet}-${release}`;
};

interface ReleaseAsked {
  readonly amiType: string;
  readonly version: string;
  /** Undefined: the newest. */
  readonly release: string | undefined;
}

/** The image name pattern to search for; undefined if the family has no images for the version. */
export const releaseImages = ({ amiType, version, release }: ReleaseAsked): string | undefined => {
  const family = familyOf(amiType);
  return family !== undefined && hasImages(amiType, version)
    ? imagePattern(family, version, release)
    : undefined;
};

/** The release among the images found; undefined: there is none. */
export const releaseAmong = (
  { amiType, version, release }: ReleaseAsked,
  images: readonly NamedImage[],
): string | undefined => {
  const family = familyOf(amiType);
  const image = newestImage(images);
  if (family === undefined || image === undefined) return undefined;
  const found = releaseOf(family, image, version);
  return release === undefined || release === found ? found : undefined;
};

/** EKS' message. */
export const releaseComplaint = ({ version, release = 'latest' }: ReleaseAsked): string =>
  `Requested release version ${release} is not valid for kubernetes version ${version}.`;

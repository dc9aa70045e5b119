// EKS' image families: what each is called in EC2, on which architecture it runs, which release an
// image is. Facts: EKS user guide, "retrieve-ami-id" and the AMI change logs.

export interface Family {
  readonly architecture: 'x86_64' | 'arm64';
  /** The image's name up to the Kubernetes version. */
  readonly imageName: string;
  readonly bootstrap: 'bootstrap.sh' | 'nodeadm';
}

const al2 = (architecture: Family['architecture'], imageName: string): Family => ({
  architecture,
  imageName,
  bootstrap: 'bootstrap.sh',
});
const al2023 = (architecture: Family['architecture'], variant: string): Family => ({
  architecture,
  imageName: `amazon-eks-node-al2023-${architecture}-${variant}`,
  bootstrap: 'nodeadm',
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
};

/** Undefined for families that this version cannot bootstrap. */
export const familyOf = (amiType: string): Family | undefined =>
  Object.hasOwn(families, amiType) ? families[amiType] : undefined;

export const supportedAmiTypes: readonly string[] = Object.keys(families);

/** The last Kubernetes minor with Amazon Linux 2 images. */
const lastMinorWithAl2 = 32;

/** What EKS chooses where nothing is said (since 1.30 Amazon Linux 2023). */
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

/** The pattern of the image names for a release, `1.32.9-20260905`, or for all of them. */
export const imagePattern = (
  family: Family,
  version: string,
  releaseVersion: string | undefined,
): string => `${family.imageName}-${version}-v${releaseVersion?.split('-')[1] ?? '*'}`;

interface NamedImage {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** The newest of a family; the day of its release stands at the end of its name. */
export const newestImage = <I extends NamedImage>(images: readonly I[]): I | undefined =>
  images.toSorted((a, b) => b.name.localeCompare(a.name))[0];

/** `1.32.9-20260905`: the kubelet's version from the description, the day from the name. */
export const releaseOf = (image: NamedImage, version: string): string => {
  const kubelet = /k8s: (\d+\.\d+\.\d+)/.exec(image.description)?.[1] ?? `${version}.0`;
  return `${kubelet}-${/-v(\d+)$/.exec(image.name)?.[1] ?? ''}`;
};

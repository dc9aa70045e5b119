// EKS' image families: architecture, image name, the public parameters that name the newest image,
// and what a node of it says of its system. Facts of the EKS user guide ("retrieve-ami-id",
// "retrieve-ami-id-bottlerocket", "retrieve-windows-ami-id"); no behaviour.

type WindowsYear = '2019' | '2022' | '2025';
type Architecture = 'x86_64' | 'arm64';

export interface ImageFamily {
  /** EKS' amiType. */
  readonly amiType: string;
  readonly architecture: Architecture;
  /** `%` stands for the Kubernetes minor, `#` for the release's day. */
  readonly imageName: string;
  /** Parameter of the image id below which others stand; `%` as above. */
  readonly parameters: {
    readonly base: string;
    /** `recommended` has a summary and names; the others only what stands here. */
    readonly leaves: readonly (
      | 'summary'
      | 'image_id'
      | 'image_name'
      | 'release_version'
      | 'image_version'
    )[];
  };
  readonly system: 'al2' | 'al2023' | 'bottlerocket' | 'windows';
  /** Of Windows Server. */
  readonly year?: WindowsYear;
  /** Last Kubernetes minor (the number after `1.`) with such images. */
  readonly lastMinor?: number;
}

const recommended = (path: string): ImageFamily['parameters'] => ({
  base: `/aws/service/eks/optimized-ami/%/${path}/recommended`,
  leaves: ['summary', 'image_id', 'image_name', 'release_version'],
});

const al2 = (
  amiType: string,
  architecture: Architecture,
  variant: { readonly name: string; readonly path: string },
): ImageFamily => ({
  amiType,
  architecture,
  imageName: `amazon-eks-${variant.name}-%-v#`,
  parameters: recommended(variant.path),
  system: 'al2',
  lastMinor: 32,
});

const al2023 = (amiType: string, architecture: Architecture, variant: string): ImageFamily => ({
  amiType,
  architecture,
  imageName: `amazon-eks-node-al2023-${architecture}-${variant}-%-v#`,
  parameters: recommended(`amazon-linux-2023/${architecture}/${variant}`),
  system: 'al2023',
});

const bottlerocket = (architecture: Architecture, suffix: string): ImageFamily => {
  const name = `aws-k8s-%${suffix.toLowerCase().replaceAll('_', '-')}`;
  return {
    amiType: `BOTTLEROCKET_${architecture === 'arm64' ? 'ARM_64' : 'x86_64'}${suffix}`,
    architecture,
    imageName: `bottlerocket-${name}-${architecture}-v1.49.#`,
    parameters: {
      base: `/aws/service/bottlerocket/${name}/${architecture}/latest`,
      leaves: ['image_id', 'image_version'],
    },
    system: 'bottlerocket',
  };
};

const windows = (year: WindowsYear, edition: 'Core' | 'Full'): ImageFamily => {
  const name = `Windows_Server-${year}-English-${edition}-EKS_Optimized-%`;
  return {
    amiType: `WINDOWS_${edition.toUpperCase()}_${year}_x86_64`,
    architecture: 'x86_64',
    imageName: `${name}-#`,
    parameters: {
      base: `/aws/service/ami-windows-latest/${name}`,
      leaves: ['image_id', 'release_version'],
    },
    system: 'windows',
    year,
  };
};

/** The first four in the order in which earlier worlds drew their ids. */
export const imageFamilies: readonly ImageFamily[] = [
  al2('AL2_x86_64', 'x86_64', { name: 'node', path: 'amazon-linux-2' }),
  al2('AL2_ARM_64', 'arm64', { name: 'arm64-node', path: 'amazon-linux-2-arm64' }),
  al2023('AL2023_x86_64_STANDARD', 'x86_64', 'standard'),
  al2023('AL2023_ARM_64_STANDARD', 'arm64', 'standard'),
  al2('AL2_x86_64_GPU', 'x86_64', { name: 'gpu-node', path: 'amazon-linux-2-gpu' }),
  al2023('AL2023_x86_64_NVIDIA', 'x86_64', 'nvidia'),
  al2023('AL2023_x86_64_NEURON', 'x86_64', 'neuron'),
  al2023('AL2023_ARM_64_NVIDIA', 'arm64', 'nvidia'),
  ...(['x86_64', 'arm64'] as const).flatMap((architecture) =>
    ['', '_NVIDIA', '_FIPS'].map((suffix) => bottlerocket(architecture, suffix)),
  ),
  ...(['2019', '2022', '2025'] as const).flatMap((year) => [
    windows(year, 'Core'),
    windows(year, 'Full'),
  ]),
];

/** How many of them draw their ids from the images' own stream of chance. */
export const firstFamilies = 4;

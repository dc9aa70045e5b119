// EKS' image families: architecture, image name, the public parameters that name the newest image,
// and the system facts that a node reports. Facts of the EKS user guide ("retrieve-ami-id",
// "retrieve-ami-id-bottlerocket", "retrieve-windows-ami-id"); no behaviour.

type WindowsYear = '2019' | '2022' | '2025';
type Architecture = 'x86_64' | 'arm64';

export interface ImageFamily {
  /** EKS' amiType. */
  readonly amiType: string;
  readonly architecture: Architecture;
  /** `%` stands for the Kubernetes minor version, `#` for the release date. */
  readonly imageName: string;
  /** Base path of the SSM parameters; `%` as above. */
  readonly parameters: {
    readonly base: string;
    /** The parameters below the base; `recommended` also has a summary and names. */
    readonly leaves: readonly (
      | 'summary'
      | 'image_id'
      | 'image_name'
      | 'release_version'
      | 'image_version'
    )[];
  };
  readonly system: 'al2' | 'al2023' | 'bottlerocket' | 'windows';
  /** Year of the Windows Server version. */
  readonly year?: WindowsYear;
  /** Last Kubernetes minor version (the number after `1.`) with such images. */
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

/** The first four keep their order: stored worlds drew their ids in it. */
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

/** Number of families that draw their ids from the images' own random stream. */
export const firstFamilies = 4;

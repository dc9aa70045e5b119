// The plain Amazon Linux images and the public parameters that name the newest of each (AWS Systems
// Manager user guide, "Calling AMI public parameters"). They contain no kubelet of EKS. Facts only.

export interface PlainImage {
  /** The parameter below /aws/service/ami-amazon-linux-latest. */
  readonly parameter: string;
  readonly architecture: 'x86_64' | 'arm64';
  /** `#` stands for the release date. */
  readonly imageName: string;
}

export const plainFamily = 'AMAZON_LINUX';
export const plainParameters = '/aws/service/ami-amazon-linux-latest';
/** The account that publishes them. */
export const plainOwner = '137112412989';

const architectures = ['x86_64', 'arm64'] as const;

const al2023 = (variant: string, kernel: string, alias = kernel): readonly PlainImage[] =>
  architectures.map((architecture) => ({
    parameter: `${variant}-kernel-${alias}-${architecture}`,
    architecture,
    imageName: `${variant}-2023.9.#.0-kernel-${kernel}-${architecture}`,
  }));

const al2 = (variant: string, volume: string): readonly PlainImage[] =>
  architectures.map((architecture) => ({
    parameter: `${variant}-hvm-${architecture}-${volume}`,
    architecture,
    imageName: `${variant}-hvm-2.0.#.0-${architecture}-${volume}`,
  }));

export const plainImages: readonly PlainImage[] = [
  ...['al2023-ami', 'al2023-ami-minimal'].flatMap((variant) => [
    ...al2023(variant, '6.1', 'default'),
    ...al2023(variant, '6.1'),
    ...al2023(variant, '6.12'),
  ]),
  ...al2('amzn2-ami', 'gp2'),
  ...al2('amzn2-ami-kernel-5.10', 'gp2'),
];

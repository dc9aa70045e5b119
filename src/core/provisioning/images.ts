// The image of a node group: eksctl's family names, EKS' AMI types, and the public SSM parameters
// with the newest image. Facts: awsdocs (eks-optimized AMIs), bottlerocket, eksctl.

/** Instance types with a Graviton processor: a `g` follows the digit (m6g, c7gn, t4g). */
const graviton = /^[a-z]+\d+g[a-z]*\./;

export type Architecture = 'x86_64' | 'arm64';

export const architectureOf = (instanceType: string): Architecture =>
  graviton.test(instanceType) || instanceType.startsWith('a1.') ? 'arm64' : 'x86_64';

const minorOf = (version: string): number => Number(version.split('.')[1] ?? 0);

/** EKS publishes no Amazon Linux 2 image after 1.32. */
const lastOfAmazonLinux2 = 32;

/** eksctl's default for the version, as article 002 prints it. */
export const defaultFamily = (version: string): string =>
  minorOf(version) <= lastOfAmazonLinux2 ? 'AmazonLinux2' : 'AmazonLinux2023';

interface Family {
  /** EKS' amiType per architecture; absent: EKS has none, so the user must name the image. */
  readonly amiType?: Readonly<Partial<Record<Architecture, string>>>;
  /** Name of the SSM parameter; absent: unknown. */
  readonly parameter?: (version: string, architecture: Architecture) => string;
  /** Format of its user data; absent: Drover cannot write it yet. */
  readonly userData?: 'shell' | 'node-config' | 'settings' | 'powershell';
  readonly rootDevice: string;
}

const windows = (year: string, edition: 'Core' | 'Full'): Family => ({
  amiType: { x86_64: `WINDOWS_${edition.toUpperCase()}_${year}_x86_64` },
  parameter: (version) =>
    `/aws/service/ami-windows-latest/Windows_Server-${year}-English-${edition}-EKS_Optimized-${version}/image_id`,
  userData: 'powershell',
  rootDevice: '/dev/sda1',
});

const ubuntu: Family = { rootDevice: '/dev/sda1' };

const families: Readonly<Record<string, Family>> = {
  AmazonLinux2: {
    amiType: { x86_64: 'AL2_x86_64', arm64: 'AL2_ARM_64' },
    parameter: (version, architecture) =>
      `/aws/service/eks/optimized-ami/${version}/amazon-linux-2${
        architecture === 'arm64' ? '-arm64' : ''
      }/recommended/image_id`,
    userData: 'shell',
    rootDevice: '/dev/xvda',
  },
  AmazonLinux2023: {
    amiType: { x86_64: 'AL2023_x86_64_STANDARD', arm64: 'AL2023_ARM_64_STANDARD' },
    parameter: (version, architecture) =>
      `/aws/service/eks/optimized-ami/${version}/amazon-linux-2023/${architecture}/standard/recommended/image_id`,
    userData: 'node-config',
    rootDevice: '/dev/xvda',
  },
  Bottlerocket: {
    amiType: { x86_64: 'BOTTLEROCKET_x86_64', arm64: 'BOTTLEROCKET_ARM_64' },
    parameter: (version, architecture) =>
      `/aws/service/bottlerocket/aws-k8s-${version}/${architecture}/latest/image_id`,
    userData: 'settings',
    rootDevice: '/dev/xvdb',
  },
  WindowsServer2019CoreContainer: windows('2019', 'Core'),
  WindowsServer2019FullContainer: windows('2019', 'Full'),
  WindowsServer2022CoreContainer: windows('2022', 'Core'),
  WindowsServer2022FullContainer: windows('2022', 'Full'),
  WindowsServer2025CoreContainer: windows('2025', 'Core'),
  WindowsServer2025FullContainer: windows('2025', 'Full'),
  Ubuntu2004: ubuntu,
  Ubuntu2204: ubuntu,
  Ubuntu2404: ubuntu,
  UbuntuPro2204: ubuntu,
  UbuntuPro2404: ubuntu,
};

/** Facts of a family by eksctl's name; undefined for an unknown name. */
export const familyNamed = (name: string): Family | undefined =>
  Object.hasOwn(families, name) ? families[name] : undefined;

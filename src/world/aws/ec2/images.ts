// Machine images of EKS' optimized families, per Kubernetes minor and release, and the SSM names
// under which they are published. Which release is newest is decided by the release date alone.
import type { Table } from '../../kernel/index.ts';
import { isoSeconds, type Scope } from '../scope.ts';

export type ImageRow = {
  readonly imageId: string;
  readonly name: string;
  readonly family: string;
  readonly architecture: 'x86_64' | 'arm64';
  readonly kubernetesVersion: string;
  /** `1.32.9-20260918` */
  readonly releaseVersion: string;
  readonly createdAt: number;
};

interface Family {
  /** EKS' amiType. */
  readonly amiType: string;
  readonly architecture: 'x86_64' | 'arm64';
  readonly imageName: string;
  /** Below /aws/service/eks/optimized-ami/<version>/. */
  readonly parameter: string;
}

const families: readonly Family[] = [
  {
    amiType: 'AL2_x86_64',
    architecture: 'x86_64',
    imageName: 'amazon-eks-node',
    parameter: 'amazon-linux-2',
  },
  {
    amiType: 'AL2_ARM_64',
    architecture: 'arm64',
    imageName: 'amazon-eks-arm64-node',
    parameter: 'amazon-linux-2-arm64',
  },
  {
    amiType: 'AL2023_x86_64_STANDARD',
    architecture: 'x86_64',
    imageName: 'amazon-eks-node-al2023-x86_64-standard',
    parameter: 'amazon-linux-2023/x86_64/standard',
  },
  {
    amiType: 'AL2023_ARM_64_STANDARD',
    architecture: 'arm64',
    imageName: 'amazon-eks-node-al2023-arm64-standard',
    parameter: 'amazon-linux-2023/arm64/standard',
  },
];

export interface PublishedParameter {
  readonly name: string;
  readonly value: string;
  readonly modifiedAt: number;
}

const component = 'aws.ec2.images';
const dayMs = 86_400_000;
/** Ages of the two releases that a new version comes with. */
const releaseAgesDays = [20, 6];

export class Images {
  readonly #scope: Scope;
  readonly #images: Table<ImageRow>;

  constructor(scope: Scope) {
    this.#scope = scope;
    this.#images = scope.kernel.tables.open<ImageRow>('aws/ec2/images');
  }

  all(): readonly ImageRow[] {
    return [...this.#images.values()];
  }
  get(imageId: string): ImageRow | undefined {
    return this.#images.get(imageId);
  }

  /** Publishes one release of every family for a full version such as `1.32.9`. */
  publish(fullVersion: string, releasedAt: number): void {
    const minor = fullVersion.split('.').slice(0, 2).join('.');
    const day = isoSeconds(releasedAt).slice(0, 10).replaceAll('-', '');
    for (const family of families) {
      const imageId = this.#scope.id(component, 'ami');
      this.#images.put(imageId, {
        imageId,
        name: `${family.imageName}-${minor}-v${day}`,
        family: family.amiType,
        architecture: family.architecture,
        kubernetesVersion: minor,
        releaseVersion: `${fullVersion}-${day}`,
        createdAt: releasedAt,
      });
    }
  }

  /** Publishes two releases of that version unless its minor has some. */
  ensure(fullVersion: string): void {
    const minor = fullVersion.split('.').slice(0, 2).join('.');
    if (this.all().some((row) => row.kubernetesVersion === minor)) return;
    for (const age of releaseAgesDays) this.publish(fullVersion, this.#scope.now() - age * dayMs);
  }

  /** Releases of a family, newest first. */
  releases(amiType: string, kubernetesVersion: string): readonly ImageRow[] {
    return this.all()
      .filter((row) => row.family === amiType && row.kubernetesVersion === kubernetesVersion)
      .sort((a, b) => b.createdAt - a.createdAt);
  }

  /** The public SSM parameters, as EKS publishes them (EKS user guide, "retrieve-ami-id"). */
  parameters(): readonly PublishedParameter[] {
    const versions = [...new Set(this.all().map((row) => row.kubernetesVersion))];
    return versions.flatMap((version) =>
      families.flatMap((family) => {
        const newest = this.releases(family.amiType, version)[0];
        return newest === undefined ? [] : parametersOf(newest, family, version);
      }),
    );
  }
}

const parametersOf = (
  image: ImageRow,
  family: Family,
  version: string,
): readonly PublishedParameter[] => {
  const base = `/aws/service/eks/optimized-ami/${version}/${family.parameter}/recommended`;
  const summary = {
    schema_version: '2',
    image_id: image.imageId,
    image_name: image.name,
    release_version: image.releaseVersion,
  };
  return [
    { name: base, value: JSON.stringify(summary) },
    { name: `${base}/image_id`, value: image.imageId },
    { name: `${base}/image_name`, value: image.name },
    { name: `${base}/release_version`, value: image.releaseVersion },
  ].map((parameter) => ({ ...parameter, modifiedAt: image.createdAt }));
};

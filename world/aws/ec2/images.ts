// Machine images of EKS' optimized families, per Kubernetes minor version and release, the plain
// Amazon Linux images, and their SSM parameters. The release date alone decides which release is
// the newest.
import { type Family, familyCalled } from '../../../src/formats/index.ts';
import type { Table } from '../../kernel/index.ts';
import { isoSeconds, type Scope } from '../scope.ts';
import { plainFamily, plainImages, plainParameters } from './amazon-linux.ts';
import { firstFamilies, type ImageFamily, imageFamilies } from './image-families.ts';

export type ImageRow = {
  readonly imageId: string;
  readonly name: string;
  readonly family: string;
  readonly architecture: 'x86_64' | 'arm64';
  /** Minor version; empty for images that are not EKS', as is the release version. */
  readonly kubernetesVersion: string;
  /** `1.32.9-20260918` */
  readonly releaseVersion: string;
  readonly createdAt: number;
};

export interface ImageSystem {
  readonly family: Family | undefined;
  /** `1.32.9` */
  readonly kubernetesVersion: string;
}

export interface PublishedParameter {
  readonly name: string;
  readonly value: string;
  readonly modifiedAt: number;
  /** Default `text`. */
  readonly dataType?: string;
}

const component = 'aws.ec2.images';
const dayMs = 86_400_000;
/** Ages in days of the two releases that are published for a new version. */
const releaseAgesDays = [20, 6];

export class Images {
  readonly #scope: Scope;
  readonly #images: Table<ImageRow>;
  /** By the last part of the parameter's name. */
  readonly #plain: Table<{ readonly imageId: string }>;
  readonly #clusterVersion: string;

  /** `clusterVersion`: the Kubernetes version assumed for images that are not EKS'. */
  constructor(scope: Scope, clusterVersion: string) {
    this.#scope = scope;
    this.#clusterVersion = clusterVersion;
    this.#images = scope.kernel.tables.open<ImageRow>('aws/ec2/images');
    this.#plain = scope.kernel.tables.open<{ imageId: string }>('aws/ec2/plain-images');
  }

  all(): readonly ImageRow[] {
    return [...this.#images.values()];
  }
  get(imageId: string): ImageRow | undefined {
    return this.#images.get(imageId);
  }

  /** EC2's refusal to start from the image. An SSM parameter is assumed to name an image. */
  refusal(
    imageId: string | undefined,
  ): { readonly code: string; readonly message: string } | undefined {
    const isNamed = imageId !== undefined && imageId !== '' && !imageId.startsWith('resolve:ssm:');
    if (!isNamed || this.#images.get(imageId) !== undefined) return undefined;
    const message = `The image id '[${imageId}]' does not exist`;
    return { code: 'InvalidAMIID.NotFound', message };
  }

  /** Publishes one release of every family for a full version such as `1.32.9`. */
  publish(fullVersion: string, releasedAt: number): void {
    const minor = fullVersion.split('.').slice(0, 2).join('.');
    const day = isoSeconds(releasedAt).slice(0, 10).replaceAll('-', '');
    imageFamilies.forEach((family, index) => {
      if (Number(minor.split('.')[1]) > (family.lastMinor ?? Number.POSITIVE_INFINITY)) return;
      const stream = index < firstFamilies ? component : `${component}.${family.amiType}`;
      const imageId = this.#scope.id(stream, 'ami');
      this.#images.put(imageId, {
        imageId,
        name: family.imageName.replace('%', minor).replace('#', day),
        family: family.amiType,
        architecture: family.architecture,
        kubernetesVersion: minor,
        releaseVersion: `${fullVersion}-${day}`,
        createdAt: releasedAt,
      });
    });
    if (!this.all().some((row) => row.family === plainFamily)) this.#publishPlain(releasedAt);
  }

  #publishPlain(releasedAt: number): void {
    const day = isoSeconds(releasedAt).slice(0, 10).replaceAll('-', '');
    for (const { parameter, architecture, imageName } of plainImages) {
      const known = this.all().find((row) => row.name === imageName.replace('#', day));
      const imageId = known?.imageId ?? this.#scope.id(`${component}.${plainFamily}`, 'ami');
      const name = imageName.replace('#', day);
      const facts = { name, family: plainFamily, architecture, createdAt: releasedAt };
      const row = { imageId, ...facts, kubernetesVersion: '', releaseVersion: '' };
      this.#images.put(imageId, row);
      this.#plain.put(parameter, { imageId });
    }
  }

  /** Publishes two releases of that version, unless its minor version has releases already. */
  ensure(fullVersion: string): void {
    const minor = fullVersion.split('.').slice(0, 2).join('.');
    if (this.all().some((row) => row.kubernetesVersion === minor)) return;
    for (const age of releaseAgesDays) this.publish(fullVersion, this.#scope.now() - age * dayMs);
  }

  /** The system of an image; the family of an image that is not EKS' is unknown. */
  systemOf(imageId: string): ImageSystem {
    const row = this.#images.get(imageId);
    return row === undefined || row.kubernetesVersion === ''
      ? { family: undefined, kubernetesVersion: this.#clusterVersion }
      : {
          family: familyCalled(row.family),
          kubernetesVersion: row.releaseVersion.split('-')[0] ?? row.kubernetesVersion,
        };
  }

  /** Releases of a family, newest first. */
  releases(amiType: string, kubernetesVersion: string): readonly ImageRow[] {
    return this.all()
      .filter((row) => row.family === amiType && row.kubernetesVersion === kubernetesVersion)
      .sort((a, b) => b.createdAt - a.createdAt);
  }

  /** The public SSM parameters, as EKS (user guide, "retrieve-ami-id") and EC2 publish them. */
  parameters(): readonly PublishedParameter[] {
    const versions = [...new Set(this.all().map((row) => row.kubernetesVersion))];
    const ofEks = versions.flatMap((version) =>
      imageFamilies.flatMap((family) => {
        const newest = this.releases(family.amiType, version)[0];
        return newest === undefined ? [] : parametersOf(newest, family, version);
      }),
    );
    const plain = [...this.#plain.entries()].map(([parameter, { imageId }]) => ({
      name: `${plainParameters}/${parameter}`,
      value: imageId,
      modifiedAt: this.get(imageId)?.createdAt ?? 0,
      dataType: 'aws:ec2:image',
    }));
    return [...ofEks, ...plain];
  }
}

const parametersOf = (
  image: ImageRow,
  family: ImageFamily,
  version: string,
): readonly PublishedParameter[] => {
  const base = family.parameters.base.replace('%', version);
  const summary = {
    schema_version: '2',
    image_id: image.imageId,
    image_name: image.name,
    release_version: image.releaseVersion,
  };
  const values = {
    summary: JSON.stringify(summary),
    image_id: image.imageId,
    image_name: image.name,
    release_version: image.releaseVersion,
    image_version: image.name.slice(image.name.lastIndexOf('-v') + 2),
  };
  return family.parameters.leaves.map((leaf) => ({
    name: leaf === 'summary' ? base : `${base}/${leaf}`,
    value: values[leaf],
    modifiedAt: image.createdAt,
  }));
};

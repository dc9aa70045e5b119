// Image names in containerd's form, and which images a machine must pull. Pure; pulls nothing.
import type { ContainerView } from '../actors/index.ts';

/** What a pod's images need: nothing, a registry check, or the layers. */
export type Pull = 'none' | 'check' | 'full';

/** `missing`: images that the machine does not have, without duplicates. */
export const neededPull = (
  containers: readonly ContainerView[],
  images: readonly string[],
): { readonly pull: Pull; readonly missing: readonly string[] } => {
  const missing = new Set<string>();
  let pull: Pull = 'none';
  for (const { image, imagePullPolicy } of containers) {
    if (!images.includes(image)) missing.add(image);
    else if (imagePullPolicy === 'Always') pull = 'check';
  }
  return { pull: missing.size > 0 ? 'full' : pull, missing: [...missing] };
};

/** 64 hex digits derived from the text alone: the digest of a tag. */
const digestOf = (text: string): string => {
  let digest = '';
  for (let round = 0; round < 8; round++) {
    let hash = (0x811c9dc5 + round * 0x9e3779b1) >>> 0;
    for (let i = 0; i < text.length; i++) {
      hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
    }
    digest += hash.toString(16).padStart(8, '0');
  }
  return digest;
};

/** nginx:latest -> docker.io/library/nginx:latest, as containerd names it. */
export const fullImageName = (image: string): string => {
  const first = image.split('/')[0] ?? '';
  const tagged = image.includes('@') || /:[^/]+$/.test(image) ? image : `${image}:latest`;
  if (!image.includes('/')) return `docker.io/library/${tagged}`;
  return first.includes('.') || first.includes(':') ? tagged : `docker.io/${tagged}`;
};

export const imageId = (image: string): string => {
  const name = fullImageName(image);
  const repository = name.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
  return `${repository}@sha256:${digestOf(name)}`;
};

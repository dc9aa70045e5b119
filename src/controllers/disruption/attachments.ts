// VolumeAttachments by node, from one informer for all drains, trimmed to names. Reports changes;
// decides nothing.
import { resourceTypes, type VolumeAttachment } from '../../api/kube.ts';
import { Informer } from '../../runtime/index.ts';
import type { DisruptionDeps } from './deps.ts';

const byNode = 'node';

export class Attachments {
  readonly #informer: Informer<VolumeAttachment>;

  constructor(
    { kube, clock, random, log }: Pick<DisruptionDeps, 'kube' | 'clock' | 'random' | 'log'>,
    onNode: (node: string) => void,
  ) {
    this.#informer = new Informer<VolumeAttachment>({
      kube,
      clock,
      random,
      log,
      type: resourceTypes.volumeattachments,
      project: ({ apiVersion, kind, metadata, spec }) => ({
        apiVersion,
        kind,
        metadata: {
          name: metadata.name,
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
          creationTimestamp: metadata.creationTimestamp,
        },
        spec: { nodeName: spec.nodeName, source: spec.source },
      }),
      indexes: { [byNode]: ({ spec }) => [spec.nodeName] },
    });
    this.#informer.onChange(({ object }) => onNode(object.spec.nodeName));
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#informer.run(signal);
  }

  /** PersistentVolumes attached to the node, attachments being deleted included. */
  of(node: string): readonly string[] | 'unknown' {
    if (!this.#informer.hasSynced()) return 'unknown';
    return this.#informer
      .index(byNode, node)
      .flatMap(({ spec }) => spec.source.persistentVolumeName ?? []);
  }
}

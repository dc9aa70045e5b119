// The objects of `drover top`: each kind is listed once and then watched, and listed again after
// its watch fails or expires. Stores only the fields that are shown.

import { completeNodeGroup } from '../../api/adopted.ts';
import type { DurationMs } from '../../api/brand.ts';
import { durationMs } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { type KubeObject, type Node, type ResourceType, resourceTypes } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import { type Clock, type KubeApi, KubeError } from '../../ports/index.ts';

/** Delay before a kind is listed again after a failure. */
const againMs = durationMs(2_000);
/** The same if the kind is not defined: Drover's definitions may be installed while `top` runs. */
const missingMs = durationMs(15_000);

export interface TopObjects {
  readonly nodes: readonly Node[];
  readonly groups: readonly NodeGroup[];
  readonly disruptions: readonly NodeDisruption[];
  readonly repairs: readonly NodeRepair[];
  readonly updates: readonly NodeGroupUpdate[];
}

export interface TopFeed {
  objects(): TopObjects;
  /** Why the data may be outdated; undefined if it is current. */
  fault(): string | undefined;
  /** Resolves when each kind has been listed, or has failed, once. */
  readonly first: Promise<void>;
  /** Resolves after the signal aborts. Never rejects. */
  readonly ended: Promise<void>;
}

/** Omits a node's images and managedFields, which are most of its size. */
const slimNode = (node: Node): Node => {
  const { metadata, spec, status } = node;
  const { managedFields: _fields, ...rest } = metadata as typeof metadata & {
    readonly managedFields?: unknown;
  };
  const { images: _images, ...kept } = status as typeof status & { readonly images?: unknown };
  return { ...node, metadata: rest, spec, status: kept };
};

const slim = <T extends KubeObject>(object: T): T => {
  const { managedFields: _fields, ...metadata } = object.metadata as T['metadata'] & {
    readonly managedFields?: unknown;
  };
  return { ...object, metadata };
};

interface Options {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly changed: () => void;
}

class Collection<T extends KubeObject> {
  readonly items = new Map<string, T>();
  fault: string | undefined;
  readonly #options: Options;
  readonly #type: ResourceType;
  readonly #keep: (object: T) => T;
  #listed = (): void => undefined;
  readonly listed = new Promise<void>((resolve) => {
    this.#listed = resolve;
  });

  constructor(options: Options, type: ResourceType, keep: (object: T) => T) {
    this.#options = options;
    this.#type = type;
    this.#keep = keep;
  }

  async run(): Promise<void> {
    const { signal, changed } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#follow();
      } catch (error) {
        if (signal.aborted) break;
        if (!(error instanceof KubeError)) throw error;
        const isMissing = error.code === 'NotFound';
        this.fault = isMissing || error.code === 'Expired' ? undefined : error.message;
        this.#listed();
        changed();
        await this.#pause(isMissing ? missingMs : againMs);
      }
    }
    this.#listed();
  }

  #pause(ms: DurationMs): Promise<void> {
    const { clock, signal } = this.#options;
    return clock.sleep(ms, signal).then(
      () => undefined,
      () => undefined,
    );
  }

  /** Lists once, then watches, and resumes the watch until the server refuses. */
  async #follow(): Promise<void> {
    const { kube, signal, changed } = this.#options;
    const trim = this.#keep;
    const list = await kube.list<T>(this.#type, { signal, trim });
    this.items.clear();
    for (const item of list.items) this.items.set(item.metadata.name, item);
    this.fault = undefined;
    this.#listed();
    changed();
    let { resourceVersion } = list;
    while (!signal.aborted) {
      const from = resourceVersion;
      for await (const event of kube.watch<T>(this.#type, { resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') {
          resourceVersion = event.resourceVersion;
          continue;
        }
        const { name, resourceVersion: seen } = event.object.metadata;
        resourceVersion = seen;
        if (event.type === 'DELETED') this.items.delete(name);
        else this.items.set(name, this.#keep(event.object));
        changed();
      }
      // Waits before resuming, because a server may close every watch immediately.
      if (from === resourceVersion) await this.#pause(againMs);
    }
  }
}

export const startFeed = (options: Options): TopFeed => {
  const nodes = new Collection<Node>(options, resourceTypes.nodes, slimNode);
  const groups = new Collection<NodeGroup>(options, resourceTypes.nodegroups, slim);
  const disruptions = new Collection<NodeDisruption>(options, resourceTypes.nodedisruptions, slim);
  const repairs = new Collection<NodeRepair>(options, resourceTypes.noderepairs, slim);
  const updates = new Collection<NodeGroupUpdate>(options, resourceTypes.nodegroupupdates, slim);
  const all = [nodes, groups, disruptions, repairs, updates];
  return {
    objects: () => ({
      nodes: [...nodes.items.values()],
      groups: [...groups.items.values()].map((group) => completeNodeGroup(group)),
      disruptions: [...disruptions.items.values()],
      repairs: [...repairs.items.values()],
      updates: [...updates.items.values()],
    }),
    fault: () => all.find(({ fault }) => fault !== undefined)?.fault,
    first: Promise.all(all.map(({ listed }) => listed)).then(() => undefined),
    ended: Promise.all(all.map((one) => one.run())).then(() => undefined),
  };
};

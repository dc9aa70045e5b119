// Reads that may be refused: data that an identity may not read becomes a note in the snapshot
// instead of ending the plan. Any other failure is an error.

import type { ResourceType } from '../../api/kube.ts';
import { type KubeObject, resourceTypes } from '../../api/kube.ts';
import type { Snapshot } from '../../core/update/preflight/index.ts';
import { CloudError, type KubeApi, KubeError } from '../../ports/index.ts';

type Part = keyof Snapshot['unread'];

/** Why a read was refused; undefined when it failed for another reason. */
const refusal = (error: unknown): string | undefined => {
  if (error instanceof KubeError) {
    return error.code === 'Forbidden' || error.code === 'NotFound' ? error.message : undefined;
  }
  if (error instanceof CloudError) {
    return error.code === 'AccessDenied' || error.code === 'Unsupported'
      ? error.message
      : undefined;
  }
  return undefined;
};

export class Collector {
  readonly unread: Partial<Record<Part, string>> = {};

  note(part: Part, why: string): void {
    this.unread[part] ??= why;
  }

  async read<T>(part: Part, fallback: T, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      const why = refusal(error);
      if (why === undefined) throw error;
      this.note(part, why);
      return fallback;
    }
  }

  /** All items of a collection, page by page; items of a list have no kind. */
  list<T extends KubeObject>(part: Part, kube: KubeApi, type: ResourceType): Promise<readonly T[]> {
    return this.read<readonly T[]>(part, [], async () => {
      const { items } = await kube.list<T>(type);
      return items.map((item) => ({ ...item, kind: type.kind }));
    });
  }

  /** A collection that some clusters do not serve: then it is empty. */
  listIfServed<T extends KubeObject>(
    part: Part,
    kube: KubeApi,
    type: ResourceType,
  ): Promise<readonly T[]> {
    return this.read<readonly T[]>(part, [], async () => {
      try {
        const { items } = await kube.list<T>(type);
        return items.map((item) => ({ ...item, kind: type.kind }));
      } catch (error) {
        if (error instanceof KubeError && error.code === 'NotFound') return [];
        throw error;
      }
    });
  }
}

export const planTypes = {
  nodes: resourceTypes.nodes,
  pods: resourceTypes.pods,
  budgets: resourceTypes.poddisruptionbudgets,
  disruptions: resourceTypes.nodedisruptions,
  replicasets: resourceTypes.replicasets,
  daemonsets: resourceTypes.daemonsets,
} as const;

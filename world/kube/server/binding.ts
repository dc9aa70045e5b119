// POST pods/NAME/binding: the scheduler's one write. Sets the node once, copies the binding's
// annotations and labels, and marks the pod as scheduled.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { Kernel } from '../../kernel/index.ts';
import type { ResourceDefinition } from './definition.ts';
import {
  kubeTime,
  metadataOf,
  objectsOf,
  specOf,
  statusOf,
  textOf,
  withFields,
  withMetadata,
} from './objects.ts';
import { badRequest, conflict, notFound, uidMismatch } from './status.ts';
import { objectKey, type Store } from './store.ts';

export interface BindingRequest {
  readonly pods: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly body: Json | undefined;
  readonly dryRun: boolean;
}

export function bindPod(kernel: Kernel, store: Store, request: BindingRequest): void {
  const { pods, namespace, name, body } = request;
  if (!isObject(body)) throw badRequest('the body of the request must be a Binding');
  const target = objectOr(body.target);
  const kind = textOf(target.kind) ?? '';
  const node = textOf(target.name) ?? '';
  if ((kind !== '' && kind !== 'Node') || node === '') {
    throw badRequest('invalid binding: target must name a Node');
  }
  const pod = store.get(pods.storage, objectKey(namespace, name));
  const of = { group: '', resource: 'pods/binding' };
  if (pod === undefined) throw notFound(pods, name);
  const uid = textOf(metadataOf(body).uid) ?? '';
  if (uid !== '' && uid !== pod.metadata.uid) {
    throw conflict(of, name, uidMismatch(uid, pod.metadata.uid));
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(of, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const bound = textOf(specOf(pod).nodeName) ?? '';
  if (bound !== '') {
    throw conflict(of, name, `pod ${name} is already assigned to node "${bound}"`);
  }
  if (request.dryRun) return;
  const annotations = objectOr(metadataOf(body).annotations);
  const annotated =
    Object.keys(annotations).length === 0
      ? pod
      : withMetadata(pod, {
          annotations: { ...objectOr(metadataOf(pod).annotations), ...annotations },
        });
  store.put(
    pods.storage,
    withFields(annotated, {
      spec: { ...specOf(pod), nodeName: node },
      status: withScheduled(statusOf(pod), kubeTime(kernel.now())),
    }),
  );
}

function withScheduled(status: JsonObject, time: string): JsonObject {
  const others = objectsOf(status.conditions).filter(
    (condition) => condition.type !== 'PodScheduled',
  );
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: time,
  };
  return { ...status, conditions: [...others, scheduled] };
}

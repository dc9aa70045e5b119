// NamespaceLifecycle admission: refuses creation in a missing or terminating namespace.
import type { ResourceDefinition } from './definition.ts';
import { statusOf } from './objects.ts';
import { forbidden, notFound } from './status.ts';
import type { Store } from './store.ts';

const namespaces = { group: '', resource: 'namespaces' };

export function admitNamespace(
  store: Store,
  definition: ResourceDefinition,
  namespace: string,
  name: string,
): void {
  const object = store.get(namespaces, namespace);
  if (object === undefined) throw notFound(namespaces, namespace);
  if (object.metadata.deletionTimestamp === undefined && statusOf(object).phase !== 'Terminating') {
    return;
  }
  const where = `in namespace ${namespace} because it is being terminated`;
  const why = `unable to create new content ${where}`;
  throw forbidden(definition, name, why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}

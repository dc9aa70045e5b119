// Columns of resource.k8s.io and of storage capacities. Upstream: pkg/printers/internalversion
// (Kubernetes 1.36).
import { age, type Cell, name, type Printer, text } from './columns.ts';
import { mapAt, objectsAt, textAt } from './read.ts';

const claimState: Cell = (claim) => {
  const deleted = textAt(claim, 'metadata', 'deletionTimestamp') !== '';
  const allocated = Object.keys(mapAt(claim, 'status', 'allocation')).length > 0;
  const states = deleted ? ['deleted'] : [];
  if (!allocated && !deleted) states.push('pending');
  if (allocated) states.push('allocated');
  if (allocated && objectsAt(claim, 'status', 'reservedFor').length > 0) states.push('reserved');
  return states.join(',');
};

export const devices: Readonly<Record<string, Printer>> = {
  'resource.k8s.io/resourceclaims': [name, text('State', claimState), age],
  'resource.k8s.io/resourceslices': [
    name,
    text('Node', (slice) => textAt(slice, 'spec', 'nodeName')),
    text('Driver', (slice) => textAt(slice, 'spec', 'driver')),
    text('Pool', (slice) => textAt(slice, 'spec', 'pool', 'name')),
    age,
  ],
  'storage.k8s.io/csistoragecapacities': [
    name,
    text('StorageClassName', (capacity) => textAt(capacity, 'storageClassName')),
    text('Capacity', (capacity) => textAt(capacity, 'capacity') || '<unset>'),
  ],
};

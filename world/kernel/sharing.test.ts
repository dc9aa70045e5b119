// Equal parts of rows become one object, and no row changes its content.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { Sharing } from './sharing.ts';
import { Tables } from './tables.ts';

const pod = (name: string): JsonObject => ({
  kind: 'Pod',
  metadata: {
    name,
    labels: { app: 'web' },
    managedFields: [{ manager: 'kubelet', time: name, fieldsV1: { 'f:status': {} } }],
  },
  spec: { nodeName: name, containers: [{ name: 'app', image: 'nginx' }] },
});

interface Parts {
  readonly metadata: { readonly labels: object; readonly managedFields: { fieldsV1: object }[] };
  readonly spec: { readonly containers: object };
}

const partsOf = (row: JsonObject | undefined): Parts => row as JsonObject & Parts;

describe('sharing', () => {
  it('leaves what a row says as it is', () => {
    const sharing = new Sharing();
    sharing.share(pod('a'));
    expect(sharing.share(pod('b'))).toEqual(pod('b'));
  });

  it('gives equal parts of two rows as one object', () => {
    const sharing = new Sharing();
    const [a, b] = [pod('a'), pod('b')].map((row) => partsOf(sharing.share(row)));
    expect(b?.spec.containers).toBe(a?.spec.containers);
    expect(b?.metadata.labels).toBe(a?.metadata.labels);
    expect(b?.metadata.managedFields[0]?.fieldsV1).toBe(a?.metadata.managedFields[0]?.fieldsV1);
  });

  it('holds for rows that are saved and for rows that are loaded', () => {
    const tables = new Tables();
    tables.restore('kube//pods', 'a', pod('a'));
    const table = tables.open('kube//pods');
    table.put('b', pod('b'));
    const changes = tables.takeChanges();
    expect(partsOf(table.get('b')).spec.containers).toBe(partsOf(table.get('a')).spec.containers);
    expect(changes).toEqual([{ table: 'kube//pods', key: 'b', value: pod('b') }]);
    expect(tables.takeChanges()).toEqual([]);
  });
});

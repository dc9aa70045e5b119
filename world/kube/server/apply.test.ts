// Field management without HTTP: cases that the contract with real servers does not reach.
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { type Answer, named, TestWorld } from '../../../test/builders/world-kube-server.ts';
import { Kernel } from '../../kernel/index.ts';
import { metadataOf } from './objects.ts';

const items = '/api/v1/namespaces/demo/configmaps';

const entries = ({ body }: Answer): readonly JsonObject[] =>
  (JSON.parse(JSON.stringify(metadataOf(body))) as JsonObject).managedFields as JsonObject[];

describe('managedFields', () => {
  it('are kept by writers inside the world as by those outside', () => {
    const world = new TestWorld();
    const user = { username: 'system:node:n1', groups: ['system:nodes'] };
    const kubelet = world.api.as({ user, userAgent: 'kubelet/v1.32' });
    world.aPod('p', { node: 'n1' });
    const status = { status: { message: 'hello' } };
    const patch = { type: 'merge', body: status, subresource: 'status' } as const;
    kubelet.patch({ group: '', resource: 'pods' }, { namespace: 'demo', name: 'p' }, patch);
    const mine = entries(world.get('/api/v1/namespaces/demo/pods/p')).find(
      ({ manager }) => manager === 'kubelet',
    );
    expect(mine).toMatchObject({
      operation: 'Update',
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:message': {} } },
    });
  });

  it('do not exist in a world that keeps none', () => {
    const world = new TestWorld({ managers: false });
    world.post(`${items}?fieldManager=maker`, named('c', { data: { a: '1' } }));
    world.patch(`${items}/c?fieldManager=other`, { data: { b: '2' } });
    const { body } = world.get(`${items}/c`);
    expect(body).toMatchObject({ data: { a: '1', b: '2' } });
    expect(metadataOf(body)).not.toHaveProperty('managedFields');
  });

  it('never hold more than ten updaters: the oldest become one', () => {
    const world = new TestWorld();
    world.post(`${items}?fieldManager=m0`, named('c', { data: { k0: '0' } }));
    for (let i = 1; i <= 14; i++) {
      world.advance(1);
      world.patch(`${items}/c?fieldManager=m${i}`, { data: { [`k${i}`]: '1' } });
    }
    const list = entries(world.get(`${items}/c`));
    expect(list).toHaveLength(10);
    expect(list.map(({ manager }) => manager)).toContain('ancient-changes');
    expect(list.at(-1)).toMatchObject({ manager: 'm14' });
  });

  it('survive a restart of the world as they were', () => {
    const world = new TestWorld();
    world.post(`${items}?fieldManager=maker`, named('c', { data: { a: '1' } }));
    const before = JSON.stringify(world.get(`${items}/c`).body);
    const kernel = new Kernel({ seed: 7, startAt: world.kernel.now() });
    for (const { table, key, value } of world.kernel.tables.takeChanges()) {
      const row = JSON.parse(JSON.stringify(value ?? null)) as Json;
      if (row !== null) kernel.tables.restore(table, key, row);
    }
    const again = new TestWorld({ kernel });
    expect(JSON.stringify(again.get(`${items}/c`).body)).toBe(before);
  });

  it('are left out of the audit log', () => {
    const world = new TestWorld();
    world.post(`${items}?fieldManager=maker`, named('c', { data: { a: '1' } }));
    expect(JSON.stringify(world.audit.at(-1))).not.toContain('managedFields');
  });

  it('of an object that was read between two writes are the same as of one that was not', () => {
    const last = (read: boolean): readonly JsonObject[] => {
      const world = new TestWorld();
      world.post(`${items}?fieldManager=a`, named('c', { data: { x: '1', y: '1' } }));
      for (const [manager, data] of [
        ['b', { x: '2' }],
        ['c', { y: '2', z: '1' }],
        ['b', { z: null }],
        ['a', { x: '3' }],
      ] as const) {
        world.patch(`${items}/c?fieldManager=${manager}`, { data });
        if (read) entries(world.get(`${items}/c`));
      }
      return entries(world.get(`${items}/c`));
    };
    expect(last(false)).toEqual(last(true));
  });
});

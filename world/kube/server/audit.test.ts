import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { named, TestWorld } from '../../../test/builders/world-kube-server.ts';

const last = (world: TestWorld): JsonObject => world.audit.at(-1) ?? {};

describe('the audit log', () => {
  it('records an eviction as article 001 prints it', () => {
    const world = new TestWorld();
    world.aPod('p1');
    const requestObject = {
      kind: 'Eviction',
      apiVersion: 'policy/v1beta1',
      metadata: { name: 'p1', namespace: 'demo', creationTimestamp: null },
    };
    world.post('/api/v1/namespaces/demo/pods/p1/eviction', requestObject);
    const event = last(world);
    expect(event).toMatchObject({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      stage: 'ResponseComplete',
      requestURI: '/api/v1/namespaces/demo/pods/p1/eviction',
      verb: 'create',
      user: { username: 'tester', groups: ['system:masters'] },
      sourceIPs: ['127.0.0.1'],
      userAgent: 'test/1',
      annotations: { 'authorization.k8s.io/decision': 'allow' },
    });
    expect(event.objectRef).toEqual({
      resource: 'pods',
      namespace: 'demo',
      name: 'p1',
      apiVersion: 'v1',
      subresource: 'eviction',
    });
    expect(event.responseStatus).toEqual({ metadata: {}, status: 'Success', code: 201 });
    expect(event.requestObject).toBe(requestObject);
    expect(event.requestReceivedTimestamp).toBe('2026-01-01T00:00:00.000000Z');
    expect(event.stageTimestamp).toMatch(/^2026-01-01T00:00:00\.0[0-2]\d{4}Z$/);
  });

  it('records a node patch with its body and a bare code', () => {
    const world = new TestWorld();
    world.post('/api/v1/nodes', named('n1'));
    world.patch('/api/v1/nodes/n1', { spec: { unschedulable: true } }, 'strategic');
    expect(last(world)).toMatchObject({
      verb: 'patch',
      requestObject: { spec: { unschedulable: true } },
      responseStatus: { metadata: {}, code: 200 },
    });
    expect(last(world).objectRef).toEqual({ resource: 'nodes', name: 'n1', apiVersion: 'v1' });
  });

  it('records refusals with reason and message', () => {
    const world = new TestWorld();
    world.get('/api/v1/namespaces/demo/pods/nobody');
    expect(last(world)).toMatchObject({
      level: 'Metadata',
      verb: 'get',
      responseStatus: { status: 'Failure', reason: 'NotFound', code: 404 },
    });
  });

  it('records reads and watches without bodies, groups by name', () => {
    const world = new TestWorld();
    world.get('/apis/apps/v1/deployments?limit=500');
    expect(last(world)).toMatchObject({
      level: 'Metadata',
      verb: 'list',
      requestURI: '/apis/apps/v1/deployments?limit=500',
      objectRef: { resource: 'deployments', apiGroup: 'apps', apiVersion: 'v1' },
    });
    world.watch('/api/v1/pods?watch=true');
    expect(last(world)).toMatchObject({ verb: 'watch', stage: 'ResponseStarted' });
    expect(last(world).responseObject).toBeUndefined();
  });

  it('names what generateName made, and a delete by its verb', () => {
    const world = new TestWorld();
    const { body } = world.post('/api/v1/namespaces/demo/configmaps', {
      metadata: { generateName: 'c-' },
    });
    const { name } = body.metadata as { name: string };
    expect(last(world).objectRef).toMatchObject({ name });
    world.delete('/api/v1/namespaces/demo/configmaps');
    expect(last(world).verb).toBe('deletecollection');
  });

  it("writes a deletion's options as a real API server does", () => {
    const world = new TestWorld();
    world.aPod('p1');
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
    world.delete('/api/v1/namespaces/demo/pods/p1', options);
    expect(last(world)).toMatchObject({
      verb: 'delete',
      requestObject: { ...options, apiVersion: 'meta.k8s.io/__internal' },
    });
  });

  it('keeps bodies of secrets out, and heartbeats of kubelets out altogether', () => {
    const world = new TestWorld();
    const secret = named('s', { stringData: { password: 'hidden' } });
    world.post('/api/v1/namespaces/demo/secrets', secret);
    expect(JSON.stringify(last(world))).not.toContain('hidden');
    world.post('/api/v1/namespaces', named('kube-node-lease'));
    const before = world.audit.length;
    const user = { username: 'system:node:n1', groups: ['system:nodes'] };
    const kubelet = world.api.as({ user, userAgent: 'kubelet' });
    const leases = { group: 'coordination.k8s.io', resource: 'leases' };
    expect(kubelet.create(leases, 'kube-node-lease', named('n1')).kind).toBe('ok');
    expect(world.audit.length).toBe(before);
  });

  it('sees in-world clients as it sees those over HTTP', () => {
    const world = new TestWorld();
    const user = {
      username: 'system:serviceaccount:kube-system:replicaset-controller',
      groups: [],
    };
    const client = world.api.as({ user, userAgent: 'kube-controller-manager' });
    client.create({ group: '', resource: 'configmaps' }, 'demo', named('c'));
    expect(last(world)).toMatchObject({
      requestURI: '/api/v1/namespaces/demo/configmaps',
      verb: 'create',
      userAgent: 'kube-controller-manager',
      user: { username: user.username },
      objectRef: { name: 'c' },
    });
  });
});

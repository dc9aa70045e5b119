import { describe, expect, it } from 'vitest';
import type { Recorded } from './history.ts';
import type { Stored } from './objects.ts';
import { Subscribers } from './subscribers.ts';

const pod = (node?: string): Stored => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: node === undefined ? {} : { nodeName: node },
});

const change = (object: Stored, previous?: Stored): Recorded => ({
  revision: 1,
  type: previous === undefined ? 'ADDED' : 'MODIFIED',
  key: 'default/p',
  object,
  previous,
});

const following = (...nodes: (string | undefined)[]) => {
  const subscribers = new Subscribers();
  const told: string[] = [];
  const ends = nodes.map((node, i) =>
    subscribers.add(() => void told.push(`${i}:${node ?? 'all'}`), node),
  );
  return { subscribers, told, ends };
};

describe('who is told of a change', () => {
  it('who follows one node is told of its pods alone, in the order of subscribing', () => {
    const { subscribers, told } = following('n1', undefined, 'n2', 'n1');
    subscribers.tell(change(pod('n1'), pod()));
    expect(told).toEqual(['0:n1', '1:all', '3:n1']);
    told.length = 0;
    subscribers.tell(change(pod()));
    expect(told).toEqual(['1:all']);
  });

  it('a pod that leaves a node is told to those who follow the node that it left', () => {
    const { subscribers, told } = following('n2', 'n1');
    subscribers.tell(change(pod('n2'), pod('n1')));
    expect(told).toEqual(['0:n2', '1:n1']);
  });

  it('who has ended hears nothing more, nor who is ended by one before', () => {
    const { subscribers, told, ends } = following('n1', 'n1', undefined);
    ends[0]?.();
    subscribers.tell(change(pod('n1')));
    expect(told).toEqual(['1:n1', '2:all']);
    told.length = 0;
    const stopOthers = subscribers.add(() => {
      for (const end of ends) end();
    }, 'n3');
    const last = subscribers.add(() => void told.push('last'), 'n3');
    subscribers.tell(change(pod('n3')));
    expect(told).toEqual(['2:all', 'last']);
    stopOthers();
    last();
    told.length = 0;
    subscribers.tell(change(pod('n1')));
    expect(told).toEqual([]);
  });
});

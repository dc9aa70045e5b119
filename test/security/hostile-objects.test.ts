// Malformed annotations and node conditions delay at most their own object. Other groups are
// scaled, drained and updated as usual, and no controller stops (in Argo Workflows CVE-2026-40886,
// one annotation stopped the controller for good).
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  latest,
  makeGroup,
  namesOf,
  newest,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

/**
 * Values that have broken other parsers: wrong types, depth, size, prototype keys, control
 * characters.
 */
const hostile: readonly (readonly [string, string])[] = [
  ['an empty text', ''],
  ['no JSON', '{"owned":'],
  ['JSON of another type', '[null,1,"x"]'],
  ['null', 'null'],
  ['a number beyond all', '1e400'],
  ['a prototype', '{"__proto__":{"owned":{"unschedulable":true}},"constructor":1}'],
  ['depth', `${'['.repeat(2_000)}${']'.repeat(2_000)}`],
  ['controls and another direction', '\u001b[2J\u202e\u0000\r\nnode'],
  ['14 kB each, all that 256 KiB of annotations hold', 'x'.repeat(14_000)],
  ['a date that is none', '9999-99-99T99:99:99Z'],
];

/** Removed at the end of each update, so it is set only while one runs. */
const byUpdates = 'drover.dev/scale-down-disabled-by';

/** Every other annotation that Drover reads from objects that other users may edit. */
const annotationsRead = [
  'drover.dev/marks',
  'drover.dev/turn',
  'drover.dev/followed-generation',
  'drover.dev/by-generation',
  'drover.dev/approved',
  'drover.dev/approved-by',
  'drover.dev/approved-wave',
  'drover.dev/approved-wave-by',
  'drover.dev/delete-again',
  'drover.dev/do-not-evict',
  'drover.dev/force',
  'drover.dev/request-digest',
  'drover.dev/paused-by-sequence',
  'karpenter.sh/do-not-disrupt',
  'cluster-autoscaler.kubernetes.io/scale-down-disabled',
  'cluster-autoscaler.kubernetes.io/safe-to-evict',
] as const;

const annotationsOf = (value: string): JsonObject =>
  Object.fromEntries(annotationsRead.map((name) => [name, value]));

type Kind = 'nodes' | 'nodegroups';

const annotate = (life: GroupLife, kind: Kind, name: string, annotations: JsonObject): void => {
  const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
  const answer = life.user.patch(resourceTypes[kind], { name }, patch);
  if (answer.kind === 'error') throw new Error(JSON.stringify(answer));
};

/** Status that a kubelet, or the holder of its key, may write into its own Node. */
const lieInStatus = (life: GroupLife, name: string, message: string): void => {
  const conditions = ['Ready', 'KernelReady', message.slice(0, 50)].map((type) => ({
    type,
    status: type === 'Ready' ? 'True' : message.slice(0, 50),
    reason: message,
    message,
  }));
  const body = { status: { conditions, nodeInfo: { kubeletVersion: message } } };
  const patch = { type: 'strategic', body, subresource: 'status' } as const;
  life.user.patch(resourceTypes.nodes, { name }, patch);
};

describe('hostile annotations', () => {
  it.each(hostile)('%s on a node and its group: both groups still shrink', async (_, value) => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    await runApp(life, 4, 1);
    for (const node of namesOf(life)) {
      annotate(life, 'nodes', node, annotationsOf(value));
      lieInStatus(life, node, value);
    }
    annotate(life, 'nodegroups', 'ng', annotationsOf(value));
    await life.driver.advance(60);
    life.patch({ spec: { scaling: { desired: 1 } } });
    life.patch({ spec: { scaling: { desired: 0 } } }, 'base');
    await life.until('the other group is empty', () => life.isActive(0, 'base'), 1800);
    await life.until('the group is smaller', () => life.isActive(1), 1800);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('on a node while it is updated: the update ends, and nothing of ours is left', async () => {
    for (const [, value] of hostile.slice(0, 6)) {
      const life = await GroupLife.begin();
      await makeGroup(life);
      await runApp(life, 4, 1);
      const planted = { ...annotationsOf(value), [byUpdates]: value };
      for (const node of namesOf(life)) annotate(life, 'nodes', node, planted);
      askFor(life, newest);
      await untilOver(life);
      expect(latest(life)?.status?.status).toBe('Successful');
      await untilAtRest(life, 2);
      expect(life.check().violations).toEqual([]);
      await life.end();
    }
  });
});

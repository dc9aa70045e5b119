// The API server's audit log of an update agrees with the journals of its nodes. The same nodes are
// marked, drained of as many pods, and deleted, at the same times.
import { describe, expect, it } from 'vitest';
import type { NodeDisruption } from '../../src/api/disruption.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { type NodeStory, StoryReader, tellStory } from '../../src/core/story/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];
const nodes = 3;
const pods = 12;

/**
 * Records how each episode ended: a journal is deleted with its node, and starts a new episode when
 * a lifecycle hook follows its end.
 */
const journalsOf = (life: GroupLife, known: Map<string, NodeDisruption>): void => {
  for (const row of life.world.kube.readAll(resourceTypes.nodedisruptions)) {
    const journal = row as unknown as NodeDisruption;
    known.set(`${journal.metadata.name} ${journal.status?.episode}`, journal);
  }
};

const times = (story: NodeStory, kind: string): readonly number[] =>
  story.steps.filter((step) => step.kind === kind).map(({ at }) => at);

describe('the story of an update', () => {
  it('equals the journals of its NodeDisruptions', async () => {
    const reader = new StoryReader();
    const life = await GroupLife.begin({
      audit: (event) => reader.add(event, Date.parse(String(event.stageTimestamp))),
    });
    await life.create({
      releaseVersion: older,
      scalingConfig: { minSize: 0, maxSize: 6, desiredSize: nodes },
      updateConfig: { maxUnavailable: 2 },
    });
    await life.until('the group is ACTIVE', () => life.isActive(nodes));
    life.deploy(pods, 3);
    await life.driver.advance(60);
    expect(life.patch({ spec: { releaseVersion: newest } }).kind).not.toBe('error');
    const journals = new Map<string, NodeDisruption>();
    const isOver = (): boolean => {
      journalsOf(life, journals);
      const status = life.updates()[0]?.status?.status;
      return status !== undefined && status !== 'InProgress';
    };
    await life.until('the update is over', isOver, 7200);
    // The last Node is deleted when its instance is terminated.
    await life.driver.advance(300);
    const stories = new Map(
      reader.nodes().map((record) => [record.name, tellStory(record)] as const),
    );
    const all = [...journals.values()].filter(({ status }) => status?.drainedAt !== undefined);
    const ended = all.filter(({ status }) => status?.episode === 1);
    // The nodes of the old release, and the surplus of the update.
    expect(ended.length).toBeGreaterThanOrEqual(nodes);
    let evicted = 0;
    for (const { status } of ended) {
      const story = stories.get(status?.node?.name ?? '');
      if (story === undefined || status === undefined) throw new Error('a journal has no story');
      const [cordoned = Number.NaN] = times(story, 'cordoned');
      const [deleted = Number.NaN] = times(story, 'deleted');
      const away = times(story, 'evicted');
      const later = all.filter((one) => one.status?.node?.name === story.node);
      const counted = later.map((one) => one.status?.podsTotal);
      expect([story.node, counted[0]]).toEqual([story.node, away.length]);
      expect(counted.slice(1).every((count) => count === 0)).toBe(true);
      expect(story.findings.filter(({ kind }) => kind === 'order')).toEqual([]);
      expect(cordoned).toBeGreaterThanOrEqual(Date.parse(status.startedAt ?? ''));
      // The audit log has microseconds; the story rounds to milliseconds.
      expect(cordoned).toBeLessThanOrEqual(Date.parse(status.markedAt ?? '') + 1);
      expect(deleted).toBeGreaterThanOrEqual(Date.parse(status.drainedAt ?? ''));
      for (const at of away) {
        expect(at).toBeGreaterThanOrEqual(Date.parse(status.markedAt ?? ''));
        expect(at).toBeLessThanOrEqual(Date.parse(status.drainedAt ?? ''));
      }
      evicted += away.length;
    }
    expect(evicted).toBeGreaterThanOrEqual(pods);
    // The audit log reports no node that has no journal.
    const marked = [...stories.values()].filter((one) => times(one, 'cordoned').length > 0);
    const known = new Set(all.map(({ status }) => status?.node?.name));
    expect(marked.map(({ node }) => node).sort()).toEqual([...known].sort());
    expect(life.updates()[0]?.status?.status).toBe('Successful');
    await life.end();
  });
});

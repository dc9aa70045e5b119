// Updates of a group with an old node whose kubelet is dead: its pods never stop, and the update
// still ends.
import { describe, expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import { updateStrategies } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { planOfLife } from '../support/plan-of-life.ts';
import {
  askFor,
  imageOf,
  latest,
  makeGroup,
  namesOf,
  newest,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const isUnreachable = (life: GroupLife, name: string): boolean =>
  life
    .nodes()
    .filter(({ metadata }) => objectOr(metadata).name === name)
    .some(({ status }) =>
      (objectOr(status).conditions as readonly { type: string; status: string }[]).some(
        (one) => one.type === 'Ready' && one.status === 'Unknown',
      ),
    );

const nodeOfApp = (life: GroupLife): string => {
  const pods = [...life.world.kube.readAll({ group: '', resource: 'pods' })];
  const web = pods.find(({ metadata }) => metadata.name.startsWith('web-'));
  return String(objectOr(web?.spec).nodeName);
};

describe('an update of a group with a node whose kubelet is dead', () => {
  it.each(updateStrategies)(
    'by %s ends when its plan says, 30 s for the pods of the dead kubelet included',
    async (strategy) => {
      const life = await GroupLife.begin();
      await makeGroup(life, { desired: 3, maxSize: 9 });
      const blueGreen = strategy === 'BLUE_GREEN' ? { blueGreen: { soakSeconds: 30 } } : {};
      life.patch({ spec: { updateConfig: { updateStrategy: strategy, ...blueGreen } } });
      await runApp(life, 6, 2);
      const [dead = ''] = namesOf(life);
      life.world.faults.inject('kubelet-stop', { node: dead });
      await life.until('its node is NotReady', () => isUnreachable(life, dead), 120);
      const asked = { releaseVersion: newest };
      const { minutes } = await planOfLife(life, asked, { isEmbedded: true });
      const since = life.seconds;
      askFor(life, newest);
      await untilOver(life);
      expect(latest(life)?.status).toMatchObject({ status: 'Successful' });
      const took = (life.seconds - since) / 60;
      expect(took).toBeGreaterThan(0.9 * minutes.p50);
      expect(took).toBeLessThan(1.05 * minutes.p90);
      // A Node object exists for a moment after its instance is terminated.
      await untilAtRest(life, 3);
      expect(namesOf(life)).not.toContain(dead);
      expect(new Set(life.nodes().map(imageOf)).size).toBe(1);
      await life.driver.advance(2.3);
      expect(life.check().violations).toEqual([]);
      await life.end();
    },
  );

  it.each(updateStrategies)('by %s does not evict against a budget', async (strategy) => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 3, maxSize: 9 });
    const blueGreen = strategy === 'BLUE_GREEN' ? { blueGreen: { soakSeconds: 30 } } : {};
    life.patch({ spec: { updateConfig: { updateStrategy: strategy, ...blueGreen } } });
    await runApp(life, 1, 0);
    const dead = nodeOfApp(life);
    life.world.faults.inject('kubelet-stop', { node: dead });
    await life.until('its node is NotReady', () => isUnreachable(life, dead), 120);
    const since = life.seconds;
    askFor(life, newest);
    // Kubernetes deletes the pod after 300 s because of its node's taint; until then its budget
    // holds it.
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful' });
    expect(life.seconds - since).toBeGreaterThan(300);
    await life.driver.advance(2.3);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

// Applications that move themselves when an eviction is requested, in the embedded world: a
// validating webhook denies the evictions, or the budget is 0 by design.
import { describe, expect, it } from 'vitest';
import { explainDisruption } from '../../src/core/explain/index.ts';
import { TerminationLife } from '../support/termination-world.ts';

const selector = { podSelector: { matchLabels: { app: 'web' } } };
const preferred = {
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          preference: {
            matchExpressions: [
              { key: 'eks.amazonaws.com/nodegroup', operator: 'In', values: ['demo-ng'] },
            ],
          },
        },
      ],
    },
  },
};
const begin = async (): Promise<{ life: TerminationLife; pod: string }> => {
  const life = await TerminationLife.begin();
  life.deploy(1, preferred);
  await life.driver.advance(30);
  const [pod] = life.podsOn(life.node, 'web');
  if (pod === undefined) throw new Error('no pod of web on the node');
  return { life, pod };
};
const requests = (life: TerminationLife, pod: string) =>
  life.writes('pods', 'eviction').filter(({ name }) => name === pod);
const explained = (life: TerminationLife): string => {
  const disruption = life.disruption();
  return disruption === undefined ? '' : explainDisruption(disruption).join('\n');
};

describe('applications that move themselves', () => {
  it('behind a webhook that denies: asked once a minute, the webhook and its words named', async () => {
    const { life, pod } = await begin();
    life.denyEvictions('movers.example.com', { code: 429, message: 'the operator moves it' });
    life.terminate();
    await life.until(() => explained(life).includes('movers.example.com'), 30);
    expect(explained(life)).toMatch(
      /is moved by its own application: 1 request to evict it denied by webhook movers.example.com \(the operator moves it\)/,
    );
    await life.driver.advance(150);
    expect(requests(life, pod).map(({ code }) => code)).toEqual([429, 429, 429]);
    const [a, b, c] = requests(life, pod).map(({ seconds }) => seconds);
    expect([(b ?? 0) - (a ?? 0), (c ?? 0) - (b ?? 0)].map(Math.round)).toEqual([60, 60]);
    for (const name of life.podsOn(life.node)) life.movePodIfThere(name);
    await life.ended(600);
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    await life.end();
  });

  it('with a budget of 0: the policy names them, a request reaches them, none is forced', async () => {
    const { life, pod } = await begin();
    life.budget('web', { maxUnavailable: 0 });
    life.drainPolicy({ selfMoving: { ...selector, requestEverySeconds: 30 } });
    await life.driver.advance(5);
    life.terminate();
    await life.driver.advance(80);
    expect(requests(life, pod).map(({ code }) => code)).toEqual([429, 429, 429]);
    expect(explained(life)).toMatch(
      /moved by its own application: \d requests? to evict it refused/,
    );
    life.movePodIfThere(pod);
    await life.ended(600);
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    await life.end();
  });
});

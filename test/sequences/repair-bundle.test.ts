// The log bundle before a replacement, with the real controller in the embedded world: an agent
// that answers, refuses or is silent, and a controller that dies meanwhile.
import { describe, expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import { bundleAnnotation, bundleAnswer } from '../../src/api/log-bundle.ts';
import type { NodeRepairStatus } from '../../src/api/node-repair.ts';
import type { GroupLife } from '../support/nodegroup-world.ts';
import {
  disruptionOf,
  instanceOf,
  minutes,
  nodeName,
  repaired,
  repairsOf,
  setCondition,
  terminations,
} from '../support/repair-world.ts';

const own = {
  rules: [{ condition: 'KernelReady', waitSeconds: 60, actions: ['Replace'] }],
  collectBundle: true,
};
const broken = { type: 'KernelReady', status: 'False', reason: 'ForkFailedOutOfPIDs' };

/** A sick node in the moment in which its agent is asked. */
const asked = async () => {
  const life = await repaired(2, { own });
  const node = nodeName(life, 0);
  const instance = instanceOf(life, node);
  setCondition(life, node, broken);
  const request = () => annotationOf(life, node);
  await life.until('its agent is asked', () => request() !== undefined, minutes(5));
  const status = () => repairsOf(life)[0]?.status;
  return { life, node, instance, request, status };
};

const annotationOf = (life: GroupLife, name: string): string | undefined => {
  const node = life.nodes().find((one) => objectOr(one.metadata).name === name);
  const value = objectOr(objectOr(node?.metadata).annotations)[bundleAnnotation];
  return value === undefined ? undefined : String(value);
};

const eventReasons = (life: GroupLife): readonly string[] =>
  [...life.world.kube.readAll({ group: '', resource: 'events' })].map((one) =>
    String(objectOr(one).reason),
  );

const bundleOf = (status: NodeRepairStatus | undefined) => status?.attempts?.[0]?.bundle;
const helped = (status: NodeRepairStatus | undefined): boolean => status?.phase === 'Succeeded';

describe('a repair that asks for logs', () => {
  it.each([
    [true, '/bundles/a.tar.gz (12 KiB)', 'NodeLogsCollected'],
    [false, 'write /bundles: no space left', 'NodeLogsNotCollected'],
  ])(
    'acts after the answer of the agent, collected: %s',
    async (isCollected, message, reason) => {
      const { life, node, instance, request, status } = await asked();
      expect(disruptionOf(life, instance)).toBeUndefined();
      setCondition(life, node, bundleAnswer(request() ?? '', { isCollected, message }));
      await life.until('it drains', () => disruptionOf(life, instance) !== undefined, 10);
      expect(bundleOf(status())).toMatchObject({ message });
      expect(request()).toBeUndefined();
      expect(eventReasons(life)).toContain(reason);
      await life.until('it has helped', () => helped(status()), minutes(20));
      expect(terminations(life)).toHaveLength(1);
      await life.end();
    },
    60_000,
  );

  it('acts after a minute where the agent is silent', async () => {
    const { life, instance, status } = await asked();
    await life.driver.advance(55);
    expect(disruptionOf(life, instance)).toBeUndefined();
    await life.driver.advance(10);
    expect(disruptionOf(life, instance)).toBeDefined();
    expect(bundleOf(status())?.message).toBe('no node agent answered within 60 s');
    await life.until('it has helped', () => helped(status()), minutes(20));
    await life.end();
  }, 60_000);

  it.each([
    ['after it was asked', false],
    ['before it saw the answer', true],
  ])(
    'goes on when the controller dies %s',
    async (_, answers) => {
      const { life, node, request, status } = await asked();
      const asking = request() ?? '';
      life.killFor(30);
      if (answers) {
        setCondition(life, node, bundleAnswer(asking, { isCollected: true, message: 'here' }));
      }
      await life.until('it has helped', () => helped(status()), minutes(20));
      const message = answers ? 'here' : 'no node agent answered within 60 s';
      expect(bundleOf(status())?.message).toBe(message);
      expect(terminations(life)).toHaveLength(1);
      expect(status()?.attempts).toHaveLength(1);
      await life.end();
    },
    60_000,
  );
});

// Evictions of an update, counted in the audit log: each pod gets one, even if a later pod has the
// same name.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { updateStrategies } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { areOver, askFor, latest, makeGroup, newest } from '../support/update-world.ts';

interface Sent {
  readonly name: string;
  readonly uid: string;
  readonly code: number;
  readonly isDry: boolean;
}

const evictionOf = (event: JsonObject): Sent | undefined => {
  const { resource, subresource, name } = objectOr(event.objectRef);
  if (resource !== 'pods' || subresource !== 'eviction') return undefined;
  if (event.stage !== 'ResponseComplete') return undefined;
  const { deleteOptions } = objectOr(event.requestObject);
  const { preconditions, dryRun } = objectOr(deleteOptions);
  return {
    name: String(name),
    uid: String(objectOr(preconditions).uid),
    code: Number(objectOr(event.responseStatus).code),
    isDry: dryRun !== undefined || String(event.requestURI).includes('dryRun'),
  };
};

const runSet = (life: GroupLife, replicas: number): void => {
  const labels = { app: 'db' };
  const selector = { matchLabels: labels };
  const containers = [{ name: 'db', image: 'db:1' }];
  life.make({ group: 'apps', resource: 'statefulsets' }, 'default', {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'default' },
    spec: {
      replicas,
      selector,
      serviceName: 'db',
      podManagementPolicy: 'Parallel',
      template: {
        metadata: { labels },
        spec: { containers, nodeSelector: { 'eks.amazonaws.com/nodegroup': 'ng' } },
      },
    },
  });
  life.make({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'db', namespace: 'default' },
    spec: { maxUnavailable: replicas, selector },
  });
};

describe('the evictions of an update', () => {
  it.each(updateStrategies)('by %s are one for each pod', async (strategy) => {
    const sent: Sent[] = [];
    const life = await GroupLife.begin({
      audit: (event) => {
        const one = evictionOf(event);
        if (one !== undefined) sent.push(one);
      },
    });
    await makeGroup(life, { desired: 2, maxSize: 9 });
    const blueGreen = strategy === 'BLUE_GREEN' ? { blueGreen: { soakSeconds: 30 } } : {};
    life.patch({ spec: { updateConfig: { updateStrategy: strategy, ...blueGreen } } });
    life.deploy(4, 4);
    runSet(life, 4);
    await life.until('its pods run', () => life.runningPods('db') + life.runningPods('web') === 8);
    askFor(life, newest);
    await life.until('it is over', () => areOver(life), 4 * 3600);
    expect(latest(life)?.status?.status).toBe('Successful');
    expect(sent.length).toBeGreaterThanOrEqual(8);
    expect(sent.map(({ uid }) => uid).toSorted()).toEqual([
      ...new Set(sent.map(({ uid }) => uid).toSorted()),
    ]);
    expect(sent.filter(({ isDry, code }) => isDry || code >= 300)).toEqual([]);
    await life.driver.advance(600);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

// A drain waits until the volumes of its pods are detached before it lets the instance end, in the
// embedded world with its attach and detach controller.
import { describe, expect, it } from 'vitest';
import type { NodeDisruption } from '../../src/api/disruption.ts';
import { TerminationLife } from '../support/termination-world.ts';

const attachments = { group: 'storage.k8s.io', resource: 'volumeattachments' } as const;
const disruptions = { group: 'drover.dev', resource: 'nodedisruptions' } as const;
const attached = ({ world }: TerminationLife): number =>
  [...world.kube.readAll(attachments)].length;

/** A pod with an EBS volume on the node. */
const begin = async (): Promise<TerminationLife> => {
  const life = await TerminationLife.begin();
  const metadata = { name: 'data' };
  life.create('', 'persistentvolumeclaims', {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {
      storageClassName: 'gp2',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '4Gi' } },
    },
  });
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  const nodeSelector = { 'kubernetes.io/hostname': life.node };
  const annotations = { 'world.drover.dev/stop-seconds': '20' };
  life.pod('db', { annotations }, { volumes, nodeSelector, nodeName: '' });
  await life.until(() => attached(life) === 1, 120);
  await life.driver.advance(30);
  life.audited.length = 0;
  return life;
};

/** Attachments at the moment when Auto Scaling no longer waits in the hook. */
const attachedAtEnd = async (life: TerminationLife): Promise<number> => {
  life.terminate();
  await life.until(() => life.instanceState() === 'Terminating:Wait', 60);
  await life.until(() => life.instanceState() !== 'Terminating:Wait', 600);
  const left = attached(life);
  await life.ended(60);
  expect(life.disruption()?.status?.outcome).toBe('Drained');
  return left;
};

describe('volumes of a drained node', () => {
  it('are detached before the hook is completed; the status named them', async () => {
    const life = await begin();
    const named: string[] = [];
    life.world.kube.onChange(disruptions, ({ object }) => {
      const { waitingOn = [] } = (object as unknown as NodeDisruption).status ?? {};
      for (const one of waitingOn) if (one.kind === 'volumes') named.push(...one.volumes);
    });
    expect(await attachedAtEnd(life)).toBe(0);
    expect(named).toEqual([expect.stringMatching(/^pvc-/)]);
    await life.end();
  });

  it('are still attached where the policy does not wait', async () => {
    const life = await begin();
    life.drainPolicy({ volumes: { waitSeconds: 0 } });
    expect(await attachedAtEnd(life)).toBe(1);
    await life.end();
  });
});

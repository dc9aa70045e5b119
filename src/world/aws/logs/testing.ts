// For tests: a world with a cluster that sends its audit log, and a log that the test writes.
import type { KeptLog } from '../../contracts.ts';
import { aTestWorld, type TestWorld } from '../testing.ts';

export const group = '/aws/eks/c/cluster';
export const startAt = Date.UTC(2026, 8, 25, 13);

export class MemoryLog implements KeptLog {
  #bytes = Buffer.alloc(0);
  /** What was given up from the front. */
  dropped = 0;
  add(...lines: readonly string[]): void {
    this.#bytes = Buffer.concat([
      this.#bytes,
      Buffer.from(lines.map((line) => `${line}\n`).join('')),
    ]);
  }
  extent() {
    return { start: this.dropped, end: this.#bytes.length };
  }
  read(from: number, length: number): Uint8Array {
    return Buffer.from(this.#bytes.subarray(from, from + length));
  }
}

export const event = (second: number, more: object): string =>
  JSON.stringify({
    kind: 'Event',
    verb: 'get',
    userAgent: 'kubectl/v1.32',
    objectRef: { resource: 'pods', name: `p${second}` },
    ...more,
    stageTimestamp: new Date(startAt - 60_000 + second * 1000).toISOString(),
  });

export const worldWith = (log: MemoryLog): TestWorld => {
  const world = aTestWorld({
    auditLog: log,
    clusterAccess: () => ({ endpoint: 'https://e', certificateAuthorityData: 'Y2E=' }),
  });
  world.call('eks', 'CreateCluster', {
    name: 'c',
    roleArn: 'arn:aws:iam::111111111111:role/eks',
    resourcesVpcConfig: { subnetIds: world.foundation.publicSubnets.map((one) => one.subnetId) },
    logging: { clusterLogging: [{ types: ['audit', 'api'], enabled: true }] },
  });
  world.advance(180);
  return world;
};

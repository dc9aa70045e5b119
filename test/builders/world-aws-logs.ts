// For tests: a world with a cluster that sends its audit log, and a log that the test writes.

import type { AwsInput } from '../../src/aws-wire/index.ts';
import type { KeptLog } from '../../world/contracts.ts';
import { type Answer, aTestWorld, type TestWorld } from './world-aws.ts';

export const group = '/aws/eks/c/cluster';
export const startAt = Date.UTC(2026, 8, 25, 13);

export class MemoryLog implements KeptLog {
  #bytes = Buffer.alloc(0);
  /** Bytes dropped from the front. */
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

/** A client's log query calls in the current world of a test. */
export const queriesIn = (world: () => TestWorld) => {
  const logs = (operation: string, input: AwsInput = {}): Answer =>
    world().call('logs', operation, input);
  const start = (queryString: string, more: AwsInput = {}): string =>
    String(
      logs('StartQuery', {
        logGroupName: group,
        startTime: startAt / 1000 - 3600,
        endTime: startAt / 1000,
        queryString,
        ...more,
      }).queryId,
    );
  const finished = (queryString: string, more: AwsInput = {}): Answer => {
    const queryId = start(queryString, more);
    world().advance(1);
    return logs('GetQueryResults', { queryId });
  };
  return { logs, start, finished };
};

export const cells = (answer: Answer): readonly (readonly (readonly [string, string])[])[] =>
  [...(answer.results ?? [])].map((row) =>
    [...row].map(({ field, value }) => [String(field), String(value)] as const),
  );

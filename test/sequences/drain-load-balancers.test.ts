// A drain evicts nothing while load balancers send to the node, and lets the instance end only when
// they have let it go, in the embedded world with a load balancer of a Service.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { explainDisruption } from '../../src/core/explain/index.ts';
import { TerminationLife } from '../support/termination-world.ts';

const states = ({ world, instanceId }: TerminationLife): readonly string[] => {
  const call = (operation: string, input: JsonObject): JsonObject =>
    world.aws.call('elbv2', operation, input) as JsonObject;
  const groups = call('DescribeTargetGroups', {}).TargetGroups as readonly JsonObject[];
  return groups.flatMap(({ TargetGroupArn }) => {
    const health = call('DescribeTargetHealth', { TargetGroupArn: TargetGroupArn ?? '' });
    return (health.TargetHealthDescriptions as readonly JsonObject[])
      .filter(({ Target }) => (Target as JsonObject).Id === instanceId)
      .map(({ TargetHealth }) => String((TargetHealth as JsonObject).State));
  });
};

/** Two target groups in which every node is healthy. */
const begin = async (): Promise<TerminationLife> => {
  const life = await TerminationLife.begin();
  life.deploy(2);
  const ports = [80, 443].map((port) => ({ name: `p${port}`, port }));
  life.create('', 'services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports },
  });
  await life.until(() => states(life).join() === 'healthy,healthy', 120);
  life.pod('app');
  await life.driver.advance(20);
  life.audited.length = 0;
  return life;
};

describe('load balancers of a drained node', () => {
  it('stop sending before the first eviction, and have let it go before the hook is completed', async () => {
    const life = await begin();
    life.drainPolicy({ loadBalancers: { beforeSeconds: 30, afterSeconds: 400 } });
    const calls: string[] = [];
    let atFirst: readonly string[] | undefined;
    life.faults = {
      cloudCall: (operation) => {
        calls.push(operation);
        return { kind: 'ok' };
      },
      kubeCall: ({ verb, resource }) => {
        if (resource === 'pods/eviction' && verb === 'create') atFirst ??= states(life);
        return { kind: 'ok' };
      },
    };
    life.terminate();
    await life.until(() => life.writes('pods', 'eviction').length > 0, 60);
    expect(atFirst).toEqual(['draining', 'draining']);
    await life.until(() => {
      const [waiting] = life.disruption()?.status?.waitingOn ?? [];
      return waiting?.kind === 'deregistration' && waiting.stage === 'end';
    }, 90);
    const disruption = life.disruption();
    expect(disruption === undefined ? [] : explainDisruption(disruption).join('\n')).toMatch(
      /load balancers still drain connections of node .* \(target groups k8s-default-web-\w+, k8s-/,
    );
    await life.until(() => life.instanceState() !== 'Terminating:Wait', 600);
    expect(states(life)).toEqual([]);
    // Once, and again after five minutes.
    expect(calls.filter((name) => name === 'DescribeTargetGroups')).toHaveLength(2);
    await life.ended(60);
    await life.end();
  });

  it('are asked again only where a target group lists the node; a denial holds nothing up', async () => {
    const life = await begin();
    life.drainPolicy({ loadBalancers: { beforeSeconds: 30, afterSeconds: 400 } });
    const elb = (operation: string, input: JsonObject): JsonObject =>
      life.world.aws.call('elbv2', operation, input) as JsonObject;
    const [first] = elb('DescribeTargetGroups', {}).TargetGroups as readonly JsonObject[];
    const Tags = [{ Key: 'kubernetes.io/cluster/c', Value: 'owned' }];
    const more = { Protocol: 'TCP', Port: 80, VpcId: first?.VpcId ?? '', TargetType: 'instance' };
    elb('CreateTargetGroup', { Name: 'empty', ...more, Tags });
    const asked: number[] = [];
    let isDenied = false;
    life.faults = {
      cloudCall: (operation) => {
        if (operation !== 'DescribeTargetHealth') return { kind: 'ok' };
        asked.push(Math.round(life.seconds));
        return isDenied ? { kind: 'refused', code: 'AccessDenied' } : { kind: 'ok' };
      },
    };
    life.terminate();
    await life.until(() => asked.length > 0, 60);
    await life.driver.advance(20);
    const times = [...new Set(asked)];
    const counts = times.map((time) => asked.filter((one) => one === time).length);
    expect(counts.slice(0, 3)).toEqual([3, 2, 2]);
    isDenied = true;
    await life.until(() => life.instanceState() !== 'Terminating:Wait', 60);
    await life.ended(60);
    await life.end();
  });

  it('are not asked about with the marks of EKS, and hold nothing up', async () => {
    const life = await begin();
    const calls: string[] = [];
    life.faults = {
      cloudCall: (operation) => {
        calls.push(operation);
        return { kind: 'ok' };
      },
    };
    life.terminate();
    await life.until(() => life.instanceState() === 'Terminating:Wait', 60);
    await life.until(() => life.instanceState() !== 'Terminating:Wait', 120);
    expect(states(life)).toEqual(['draining', 'draining']);
    expect(calls.filter((name) => name.startsWith('DescribeTarget'))).toEqual([]);
    await life.ended(60);
    await life.end();
  });
});

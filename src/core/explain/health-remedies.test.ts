// Which remedy fits which message of an issue, as a table.
import { describe, expect, it } from 'vitest';
import { healthRemedy } from './health-remedies.ts';

const remedy = (message: string, isLeaving = false): string =>
  healthRemedy({ code: 'PodEvictionFailure', message }, { name: 'ng', isLeaving });

describe('the remedy of a drain that was not over in time', () => {
  it.each([
    ['Held by a/b (budget a/c)', /let the budget allow an eviction, or update with --force/],
    ['Held by a/b (budget a/c, a/d)', /one budget: Kubernetes evicts none/],
    [
      'Held by a/b (budget a/c). Budget a/c: The disruption budget c needs 3 healthy pods and has 3 currently',
      /^let the budget need fewer pods, .*one replica more helps only where minAvailable/,
    ],
    ['Held by a/b of ReplicaSet/b, which tolerates every taint and comes back', /toleration/],
    [
      'Held by a/b (budget a/c). Budget a/c waits for a/e, not Ready since t on node n (subnet-1): ' +
        'FailedCreatePodSandBox: failed to assign an IP address to container',
      /free addresses in the subnet/,
    ],
    [
      'Held by a/b (budget a/c). Budget a/c waits for a/e, not Ready since t: ImagePullBackOff: x',
      /make the pod Ready/,
    ],
  ])('%s', (message, expected) => {
    expect(remedy(message)).toMatch(expected);
  });

  it('asks for no update of a group that is being deleted', () => {
    expect(remedy('Held by a/b (budget a/c)', true)).toContain('drover delete nodegroup ng');
  });
});

describe('the remedy of new nodes that do not come', () => {
  it.each([
    ['Could not launch. There are not enough free addresses in subnet s', /free addresses in the/],
    ['VcpuLimitExceeded - You have requested more', /higher quota/],
    [
      'Hook postReady of node n (webhook https://a/b) failed: it answered 404',
      /what the hook reports/,
    ],
    ['i-1: it never became a node', /drover explain nodegroup ng/],
    [
      'A launch in a fails since t: AsgInstanceLaunchFailures: We currently do not have sufficient m5.large capacity',
      /add instance types or zones .*nodegroup ng --strategy SURGE --on-shortage Minimal/,
    ],
    [
      'i-1 in a: its node n is not Ready (NodeStatusUnknown: Kubelet stopped',
      /kubectl describe no/,
    ],
    [
      'i-1 in a: its instance runs and has not become a node: its console ends with "x"',
      /console's last line/,
    ],
  ])('%s', (message, expected) => {
    const issue = { code: 'NodeCreationFailure', message };
    expect(healthRemedy(issue, { name: 'ng' })).toMatch(expected);
  });
});

describe('the remedy of an update that failed otherwise', () => {
  it('is none where its group is being deleted', () => {
    const issue = { code: 'OperationNotPermitted', message: 'Node group ng is being deleted.' };
    expect(healthRemedy(issue, { name: 'ng' })).toBe('none is needed: the node group goes');
  });

  it.each(['OperationNotPermitted', 'HookFailed', 'HealthProbeFailed'])('%s', (code) => {
    const text = healthRemedy({ code, message: 'm' }, { name: 'ng' });
    expect(text).toContain('`drover update nodegroup ng`');
    expect(text).not.toContain('{name}');
  });
});

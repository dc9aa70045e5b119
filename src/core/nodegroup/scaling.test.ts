// Decisions about node groups as tables: whose size counts, which instances are terminated, user
// data, refusals.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { codeOfRefusal, launchIssues } from './health.ts';
import { familyOf } from './images.ts';
import { nodePatch } from './nodes.ts';
import { decideSizes, sizeChange } from './sizes.ts';
import { statusOf } from './status.ts';
import { type BootstrapFacts, bootstrapUserData, sameNodes } from './user-data.ts';
import {
  labelsComplaint,
  nameComplaint,
  sizeComplaint,
  taintsComplaint,
  updateConfigComplaint,
} from './validate.ts';
import { isOfRequest, nextCauseId, victimState } from './victims.ts';

const renderUserData = (facts: BootstrapFacts): string | undefined => {
  const written = bootstrapUserData(facts);
  return written.kind === 'ok' ? written.text : undefined;
};

const sizes = (minSize: number, desired: number, maxSize: number) => ({
  minSize,
  maxSize,
  desired,
});

describe('whose size it is', () => {
  const decide = (
    [asked, noted, last, actual]: readonly [number, number | undefined, number | undefined, number],
    followed = false,
  ) =>
    decideSizes({
      spec: sizes(0, asked, 10),
      actual: sizes(0, actual, 10),
      last: last === undefined ? undefined : sizes(0, last, 10),
      noted: noted === undefined ? undefined : sizes(0, noted, 10),
      followed,
    });

  it.each([
    ['nothing happened', [3, 3, 3, 3], 3],
    ['a request', [5, 3, 3, 3], 5],
    ['a request and an outside change at once', [5, 3, 3, 2], 5],
    ['a request under way', [1, 1, 3, 2], 1],
    ['a request that nobody has begun', [1, 1, 3, 3], 1],
    ['an outside change', [3, 3, 3, 5], 5],
    ['an outside change away from a request under way', [1, 1, 3, 4], 4],
    ['an outside change past a request under way', [2, 2, 4, 1], 1],
    ['a first look', [3, undefined, undefined, 1], 3],
  ] as const)('%s', (_, facts, desired) => {
    expect(decide(facts)).toEqual({ scaling: sizes(0, desired, 10), target: desired });
  });

  it('takes no write-back of its own for a request, whatever was never written after it', () => {
    expect(decide([5, 3, 3, 5], true).target).toBe(5);
    expect(decide([5, 3, 3, 6], true).target).toBe(6);
    expect(decide([5, 3, 3, 3], true).target).toBe(3);
    expect(decide([5, 3, 3, 6], false).target).toBe(5);
  });

  it('takes a spec that was changed after a write-back of ours for a request, where no status was written since', () => {
    const facts = { spec: sizes(0, 4, 10), actual: sizes(0, 0, 10), last: sizes(0, 4, 10) };
    const noted = { ...facts, noted: sizes(0, 4, 10), followed: false };
    expect(decideSizes({ ...noted, asksAnew: true }).target).toBe(4);
    expect(decideSizes({ ...noted, asksAnew: false }).target).toBe(0);
  });

  it('leaves a field out that was left out, and keeps within bounds that a user changed', () => {
    const actual = sizes(0, 15, 20);
    const noted = { minSize: 0, maxSize: 10 };
    const left = decideSizes({
      spec: noted,
      actual,
      last: sizes(0, 1, 10),
      noted,
      followed: false,
    });
    expect(left).toEqual({ scaling: { minSize: 0, maxSize: 20 }, target: 15 });
  });

  it('never lowers desired or the maximum itself', () => {
    const wanted = { minSize: 0, maxSize: 2, target: 2 };
    expect(sizeChange(wanted, sizes(0, 5, 10))).toEqual({ maxSize: 5 });
    expect(sizeChange(wanted, sizes(0, 2, 10))).toEqual({ maxSize: 2 });
    expect(sizeChange({ ...wanted, minSize: 2 }, sizes(0, 1, 2))).toEqual({
      minSize: 2,
      desiredCapacity: 2,
    });
    expect(sizeChange(wanted, sizes(0, 2, 2))).toBeUndefined();
  });
});

describe('the cause of a scale-in', () => {
  it('has another id where the first was withdrawn: a withdrawn cause asks for nothing', () => {
    const id = 'scale-in/ng/t';
    const withCauses = (...ids: readonly string[]) =>
      ({
        spec: { causes: ids.map((one) => ({ id: one, cancelledAt: 't' })) },
      }) as unknown as NodeDisruption;
    expect(nextCauseId(undefined, id)).toBe(id);
    expect(nextCauseId(withCauses(id), id)).toBe(`${id}/2`);
    expect(nextCauseId(withCauses(id, `${id}/2`), id)).toBe(`${id}/3`);
    expect(nextCauseId(withCauses(`${id}/2`), id)).toBe(`${id}/3`);
    expect(isOfRequest(`${id}/2`, id)).toBe(true);
    expect(isOfRequest('scale-in/ng/t2', id)).toBe(false);
  });
});

describe('the drain that a scale-in asked for', () => {
  const id = 'scale-in/ng/t';
  const deadline = Date.parse('2022-09-25T13:00:00Z');
  interface At {
    readonly hasNode: boolean;
    readonly after?: number;
  }
  const rows: readonly (readonly [string, object, At, string | undefined])[] = [
    ['drained', { outcome: 'Drained' }, { hasNode: true }, 'drained'],
    ['failed', { outcome: 'Failed' }, { hasNode: true }, 'failed'],
    ['never joined', { outcome: 'NothingToDrain' }, { hasNode: false }, 'drained'],
    ['joined since: asked again', { outcome: 'NothingToDrain' }, { hasNode: true }, undefined],
    ['taken back by others: asked again', { outcome: 'Cancelled' }, { hasNode: true }, undefined],
    [
      'past its deadline',
      { phase: 'Draining', handledCauses: [] },
      { hasNode: true, after: 181 },
      'failed',
    ],
    ['still open', { phase: 'Draining', handledCauses: [] }, { hasNode: true }, 'draining'],
  ];
  it.each(rows)('%s', (_name, status, { hasNode, after = 180 }, kind) => {
    const disruption = {
      spec: { causes: [{ id, deadline: '2022-09-25T13:00:00Z' }] },
      status: { phase: 'Ended', handledCauses: [id], ...status },
    } as unknown as NodeDisruption;
    const now = epochMs(deadline + (after - 60) * 1000);
    expect(victimState(disruption, { id, hasNode, now })?.kind).toBe(kind);
  });

  const completing = { phase: 'Completing', drainedAt: '2022-09-25T12:59:00Z' };
  it.each([
    [
      'cools down for longer than a drain is late',
      { cooldownSeconds: 600 },
      completing,
      659,
      'draining',
    ],
    ['should have cooled down', { cooldownSeconds: 600 }, completing, 661, 'failed'],
    [
      'was let go late',
      { terminationFreeAt: '2022-09-25T14:00:00Z' },
      { phase: 'Pending' },
      3_719,
      'draining',
    ],
    [
      'was let go late, and stays',
      { terminationFreeAt: '2022-09-25T14:00:00Z' },
      completing,
      3_721,
      'failed',
    ],
  ])('%s', (_name, cause, status, after, kind) => {
    const disruption = {
      spec: { causes: [{ id, deadline: '2022-09-25T13:00:00Z', ...cause }] },
      status: { handledCauses: [], ...status },
    } as unknown as NodeDisruption;
    const now = epochMs(deadline + after * 1000);
    expect(victimState(disruption, { id, hasNode: true, now })?.kind).toBe(kind);
  });
});

describe('what a node receives', () => {
  const facts = (amiType: string, userParts?: string) => {
    const family = familyOf(amiType);
    if (family === undefined) throw new Error(amiType);
    return {
      family,
      clusterName: 'c',
      labels: { a: 'b' },
      taints: [{ key: 'k', effect: 'NoSchedule' as const }],
      maxPods: 29,
      cluster: {
        endpoint: 'https://e',
        certificateAuthority: 'QQ==',
        serviceCidr: '10.100.0.0/16',
      },
      userParts,
    };
  };

  it('by bootstrap.sh on Amazon Linux 2, by a NodeConfig on 2023', () => {
    expect(renderUserData(facts('AL2_x86_64'))).toContain(
      "KUBELET_ARGS='--node-labels=a=b --register-with-taints=k=:NoSchedule --max-pods=29'\n" +
        '/etc/eks/bootstrap.sh c --kubelet-extra-args "$KUBELET_ARGS"',
    );
    const text = renderUserData(facts('AL2023_x86_64_STANDARD')) ?? '';
    expect(text).toMatch(
      /^MIME-Version: 1\.0\nContent-Type: multipart\/mixed; boundary="\/\/"\n\n/,
    );
    for (const line of ['apiServerEndpoint: https://e', 'cidr: 10.100.0.0/16', 'maxPods: 29']) {
      expect(text).toContain(line);
    }
  });

  it('with the user’s parts before the script and after the NodeConfig, and no others', () => {
    const mine =
      'Content-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/x-shellscript\n\n#!/bin/sh\nmine\n--B--\n';
    const order = (amiType: string) => {
      const text = renderUserData(facts(amiType, mine)) ?? '';
      return text.indexOf('mine') < text.indexOf('--node-labels');
    };
    expect([order('AL2_x86_64'), order('AL2023_x86_64_STANDARD')]).toEqual([true, false]);
    expect(renderUserData(facts('AL2_x86_64', '#!/bin/sh\nmine'))).toBeUndefined();
  });

  it('is the same for the same labels in another order', () => {
    const told = (labels: string): string =>
      `#!/bin/sh\n/etc/eks/bootstrap.sh c --kubelet-extra-args '--node-labels=${labels}'\n`;
    expect(sameNodes(told('a=1,b=2'), told('b=2,a=1'))).toBe(true);
    expect(sameNodes(told('a=1'), told('a=2'))).toBe(false);
  });
});

describe('labels and taints on a node that is there', () => {
  const node = (labels: Record<string, string>, taints: readonly string[] = []) =>
    ({
      metadata: { name: 'n', uid: 'u', resourceVersion: '7', labels },
      spec: { taints: taints.map((key) => ({ key, effect: 'NoSchedule' })) },
    }) as unknown as Node;
  const taint = { key: 'k', effect: 'NoSchedule' as const };

  it('changes what is missing and what has left the spec, nothing of others', () => {
    expect(
      nodePatch(
        node({ a: '1', b: '2', c: '3' }),
        { labels: { a: '9' } },
        { nodeLabels: ['a', 'b'] },
      ),
    ).toEqual({
      metadata: { uid: 'u', labels: { a: '9', b: null } },
    });
    const patch = nodePatch(
      node({}, ['other', 'old']),
      { taints: [taint] },
      {
        nodeTaints: [{ key: 'old', effect: 'NoSchedule' }],
      },
    );
    expect(patch).toMatchObject({
      metadata: { uid: 'u', resourceVersion: '7' },
      spec: { taints: [{ key: 'other' }, { key: 'k' }] },
    });
    expect(
      nodePatch(node({ a: '1' }, ['k']), { labels: { a: '1' }, taints: [taint] }, {}),
    ).toBeUndefined();
  });
});

describe('what is wrong, in EKS’ codes', () => {
  it.each([
    ['InsufficientInstanceCapacity - We currently do not have', 'AsgInstanceLaunchFailures'],
    [
      'InsufficientFreeAddressesInSubnet - There are not enough free addresses',
      'InsufficientFreeAddresses',
    ],
    ["The subnet ID 'subnet-1' does not exist", 'Ec2SubnetNotFound'],
    ['VcpuLimitExceeded - You have requested more', 'InstanceLimitExceeded'],
  ])('%s', (message, code) => {
    expect(codeOfRefusal(message, 'AsgInstanceLaunchFailures')).toBe(code);
  });

  it('forgets what failed before the last launch that succeeded', () => {
    const activity = (
      status: string,
      message = '',
      description = 'Launching a new EC2 instance: i-1',
    ) => ({ status, message, description, startedAt: '' });
    const failed = activity('Failed', 'no capacity');
    expect(launchIssues([failed, activity('Successful')], 'g')).toHaveLength(1);
    expect(launchIssues([activity('Successful'), failed], 'g')).toEqual([]);
    const gone = activity('Successful', '', 'Terminating EC2 instance: i-2');
    expect(launchIssues([gone, failed], 'g')).toHaveLength(1);
    const stuck = activity('Failed', 'busy', 'Terminating EC2 instance: i-2');
    expect(launchIssues([stuck], 'g')).toEqual([]);
    const warm = activity('Successful', '', 'Launching a new EC2 instance from warm pool: i-3');
    expect(launchIssues([warm, failed], 'g')).toEqual([]);
  });
});

describe('a status', () => {
  const issue = (n: number, length: number) => ({
    code: `Code${n}`,
    message: 'ä'.repeat(length),
    resourceIds: Array.from({ length: 30 }, (_, i) => `${n}-${i}-`.padEnd(250, 'x')),
  });
  const told = (
    issues: readonly ReturnType<typeof issue>[],
    more: Partial<Parameters<typeof statusOf>[0]> = {},
  ) =>
    statusOf({
      group: {
        metadata: { name: 'ng', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
        spec: { scaling: { minSize: 0, maxSize: 1 } },
      } as NodeGroup,
      scaling: undefined,
      isMissing: false,
      isReady: () => false,
      isInService: () => false,
      issues,
      surge: { desired: 0, maxSize: 0 },
      sizeCalls: [],
      requestedRevision: undefined,
      requested: { minSize: 0, maxSize: 1 },
      target: 0,
      scaleIn: undefined,
      failure: { ...issue(99, 5000), generation: 1, at: '2026-01-01T00:00:00Z' },
      isUpdating: false,
      marked: {},
      templateGeneration: undefined,
      now: epochMs(Date.parse('2026-01-01T00:00:00Z')),
      ...more,
    });

  it('is ACTIVE once its nodes have joined, although one is drained already', () => {
    const scaling = {
      desiredCapacity: 1,
      minSize: 0,
      maxSize: 1,
      instances: [{ instanceId: 'i-1', lifecycleState: 'InService', availabilityZone: 'a' }],
    };
    const status = told([], { scaling, failure: undefined, target: 1, isReady: () => true });
    expect(status).toMatchObject({ state: 'ACTIVE', ready: 0 });
    const unjoined = told([], { scaling, failure: undefined, target: 1 });
    expect(unjoined).toMatchObject({ state: 'CREATING', ready: 0 });
  });

  it('is at most 16 KB, however much is wrong, and names what is', () => {
    const many = Array.from({ length: 40 }, (_, n) => issue(n, 5000));
    const status = told(many);
    expect(new TextEncoder().encode(JSON.stringify(status)).length).toBeLessThanOrEqual(16_384);
    expect(status.health?.[0]?.code).toBe('Code0');
    expect(status.failure?.code).toBe('Code99');
    expect(status.health?.length).toBeGreaterThan(5);
  });

  it('tells what fits in full', () => {
    const small = { code: 'C', message: 'm'.repeat(400), resourceIds: ['i-1', 'i-2'] };
    expect(told([small]).health).toEqual([small]);
  });
});

describe('the name of a node group', () => {
  it.each(['a', '0', 'demo-ng', 'a'.repeat(63)])('%s is taken', (name) => {
    expect(nameComplaint(name)).toBeUndefined();
  });
  it.each([
    ['Demo_NG', 'demo-ng'],
    ['workers_', 'workers'],
  ])('%s, which EKS takes, is refused with %s beside it', (name, near) => {
    expect(nameComplaint(name)).toContain(
      `EKS would take it; here a node group is a Kubernetes object of its name: use ${near}`,
    );
  });
  it.each(['', '-a', '_a', 'a.b', 'a b', 'a'.repeat(64)])('%j is refused, as EKS does', (name) => {
    expect(nameComplaint(name)).toMatch(/is not a Kubernetes name: .* at both ends$/);
  });
});

describe('what EKS refuses', () => {
  it.each([
    [
      sizeComplaint(sizes(2, 1, 3), 'update'),
      "Minimum capacity 2 can't be greater than desired size 1",
    ],
    [sizeComplaint(sizes(2, 1, 3), 'create'), "minSize can't be greater than desiredSize"],
    [sizeComplaint(sizes(0, 4, 3), 'create'), "desiredSize can't be greater than maxSize"],
    [sizeComplaint(sizes(0, 0, 0), 'create'), 'maxSize must be at least 1'],
    [
      updateConfigComplaint({ maxUnavailable: 4 }, 3),
      'max-unavailable must be within the range 1 and max size of the node group',
    ],
  ])('%s', (complaint, words) => {
    expect(complaint).toBe(words);
  });

  it.each([
    [{ 'a/b/c': 'd' }, 'Invalid value: a/b/c :'],
    [{ a: '' }, 'Invalid value:  :'],
    [{ a: '-x' }, 'Invalid value: -x :'],
    [{ 'kubernetes.io/x': 'y' }, 'Label cannot contain reserved prefixes'],
  ])('labels %j', (labels, words) => {
    expect(labelsComplaint(labels)).toContain(words);
  });

  it('two taints of one key and effect', () => {
    const taint = { key: 'k', effect: 'NoSchedule' as const };
    expect(taintsComplaint([taint, taint])).toContain('Duplicate taint');
    expect(taintsComplaint([taint])).toBeUndefined();
  });
});

// The fence of a leader: what it allows, what it refuses, and when it checks.
import { describe, expect, it } from 'vitest';
import { FakeCloud } from '../../test/builders/controllers-cloud.ts';
import { VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { resourceTypes } from '../api/kube.ts';
import type { Http } from '../ports/index.ts';
import { fencedCloud, fencedHttp, fencedKube, NotLeader } from './fence.ts';

const { nodes } = resourceTypes;
const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;

const setUp = (isLeader: () => boolean) => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const cloud = new FakeCloud(clock);
  kube.put(nodes, { name: 'n1' });
  cloud.putGroup('asg-1', { desiredCapacity: 1 });
  return {
    kube,
    cloud,
    fenced: fencedKube(kube, isLeader),
    cloudToo: fencedCloud(cloud, isLeader),
  };
};

describe('the fence of a process that does not lead', () => {
  it('lets reads pass', async () => {
    const { fenced, cloudToo } = setUp(() => false);
    expect(await fenced.get(nodes, { name: 'n1' })).toMatchObject({ kind: 'found' });
    expect((await fenced.list(nodes)).items).toHaveLength(1);
    expect(await cloudToo.describeGroups(['asg-1'])).toHaveLength(1);
  });

  it('rejects every write to the Kubernetes API, and sends none', async () => {
    const { fenced, kube } = setUp(() => false);
    const pod = { namespace: 'default', name: 'p1', uid: 'u1' };
    for (const write of [
      fenced.create(nodes, {}),
      fenced.patch(nodes, { name: 'n1' }, patch),
      fenced.delete(nodes, { name: 'n1' }),
      fenced.evict(pod),
    ]) {
      await expect(write).rejects.toBeInstanceOf(NotLeader);
    }
    const verbs = ['create', 'patch', 'delete', 'evict'] as const;
    expect(verbs.map((verb) => kube.count(verb))).toEqual([0, 0, 0, 0]);
  });

  it('rejects calls that change the cloud, and reads of the queue', async () => {
    const { cloudToo, cloud } = setUp(() => false);
    const reading = cloudToo.receiveMessages('q', { waitSeconds: 0, visibilitySeconds: 30 });
    await expect(reading).rejects.toBeInstanceOf(NotLeader);
    const growing = cloudToo.updateGroup({ name: 'asg-1', desiredCapacity: 2 });
    await expect(growing).rejects.toBeInstanceOf(NotLeader);
    expect(cloud.count('updateGroup')).toBe(0);
    expect((await cloud.describeGroups(['asg-1']))[0]?.desiredCapacity).toBe(1);
  });

  it('probes by HTTP and posts nothing', async () => {
    const sent: string[] = [];
    const answer = (verb: string) => (url: string) => {
      sent.push(`${verb} ${url}`);
      return Promise.resolve({ status: 200 });
    };
    const http: Http = { get: answer('get'), post: answer('post') };
    const fenced = fencedHttp(http, () => false);
    await fenced.get('http://a', { timeoutMs: 1 });
    const posting = fenced.post('http://a', { body: '', idempotencyKey: 'k', timeoutMs: 1 });
    await expect(posting).rejects.toBeInstanceOf(NotLeader);
    expect(sent).toEqual(['get http://a']);
  });
});

describe('the fence of a process that leads', () => {
  it('asks again before each write', async () => {
    let leads = true;
    const { fenced, kube } = setUp(() => leads);
    await fenced.patch(nodes, { name: 'n1' }, patch);
    leads = false;
    await expect(fenced.patch(nodes, { name: 'n1' }, patch)).rejects.toBeInstanceOf(NotLeader);
    expect(kube.count('patch')).toBe(1);
  });
});

// Which update a command refers to, and the object for a version update.
import { describe, expect, it } from 'vitest';
import { aGroup, anUpdate, running } from '../../../test/builders/cli-update.ts';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdateStatus } from '../../api/nodegroup-update.ts';
import { updateView } from '../../core/overview/index.ts';
import { updateNameOf } from '../../core/update/index.ts';
import type { CloudApi } from '../../ports/index.ts';
import { changeBack } from '../commands/rollback.ts';
import { listUpdates, needGroup, needUpdate, openUpdates, readFacts } from './read.ts';
import { changeWanted, requestUpdate } from './request.ts';
import { headerLines } from './screen.ts';

const setUp = async () => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const put = async (name: string, status: NodeGroupUpdateStatus, nodeGroup = 'ng') => {
    kube.put(resourceTypes.nodegroupupdates, {
      name,
      spec: anUpdate({ spec: { nodeGroup } }).spec,
      status,
    });
    await clock.advance(1000);
  };
  kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroup().spec });
  kube.put(resourceTypes.nodegroups, { name: 'fresh', spec: aGroup().spec });
  await put('aa-1', { ...running, status: 'Failed' });
  await put('aa-2', { ...running, status: 'Successful' });
  await put('bb-1', { ...running, status: 'Successful' }, 'other');
  const found = await kube.get<NodeGroup>(resourceTypes.nodegroups, { name: 'ng' });
  if (found.kind === 'gone') throw new Error('no group');
  return { clock, kube, put, group: found.object };
};

describe('the update that is meant', () => {
  it.each([
    [{ id: 'aa-1', nodeGroup: undefined }, 'aa-1'],
    [{ id: 'update/bb', nodeGroup: undefined }, 'bb-1'],
    [{ id: undefined, nodeGroup: 'ng' }, 'aa-2'],
  ])('%o is %s', async (wanted, name) => {
    const { kube } = await setUp();
    expect((await needUpdate(kube, wanted)).metadata.name).toBe(name);
  });

  it('of a group is the open one that goes first, though newer ones wait behind it', async () => {
    const { kube, put } = await setUp();
    await put('cc-3', running);
    await put('dd-4', { status: 'InProgress', phase: 'Pending' });
    const wanted = { id: undefined, nodeGroup: 'ng' };
    expect((await needUpdate(kube, wanted)).metadata.name).toBe('cc-3');
    const open = await openUpdates(kube, 'ng');
    expect(open.map(({ metadata }) => metadata.name)).toEqual(['cc-3', 'dd-4']);
  });

  it.each([
    [{ id: 'aa', nodeGroup: undefined }, /^no update aa; did you mean aa-2 or aa-1\?$/],
    [{ id: 'ab-1', nodeGroup: undefined }, /did you mean/],
    [{ id: 'nothing-like-it', nodeGroup: undefined }, /`drover get updates` lists them/],
    [{ id: 'bb-1', nodeGroup: 'ng' }, /^no update bb-1/],
    [{ id: undefined, nodeGroup: 'third' }, /^no managed node group third; there are: fresh, ng\./],
    [{ id: undefined, nodeGroup: 'fresh' }, /^node group fresh has had no update$/],
    [{ id: undefined, nodeGroup: undefined }, /^name the update, or its group/],
  ])('%o is none', async (wanted, words) => {
    const { kube } = await setUp();
    await expect(needUpdate(kube, wanted)).rejects.toThrow(words);
  });

  it('stands in a list of all, newest first', async () => {
    const { kube } = await setUp();
    expect((await listUpdates(kube)).map(({ metadata }) => metadata.name)).toEqual([
      'bb-1',
      'aa-2',
      'aa-1',
    ]);
  });

  it('is of a group that is there, in that cluster', async () => {
    const { kube } = await setUp();
    await expect(needGroup(kube, 'nG')).rejects.toThrow(
      'no managed node group nG; there are: fresh, ng.',
    );
    await expect(needGroup(kube, 'ng', 'd')).rejects.toThrow(
      'node group ng is one of cluster c, not of d',
    );
  });
});

describe('an update that was asked for beside another', () => {
  it('says for which it waits, and says so no more when its turn has come', async () => {
    const { clock, kube, put } = await setUp();
    const linesOf = async (id: string): Promise<string> => {
      const facts = await readFacts(kube, id);
      if (facts === undefined) throw new Error(`no update ${id}`);
      return headerLines(updateView(facts), clock.now()).join(' ');
    };
    await put('cc-1', running);
    kube.put(resourceTypes.nodegroupupdates, { name: 'cc-2', spec: anUpdate().spec });
    expect(await linesOf('cc-2')).toContain('waits for update cc-1, which is in progress');
    expect(await linesOf('cc-1')).not.toContain('waits for update');
    await put('cc-1', { ...running, status: 'Successful' });
    expect(await linesOf('cc-2')).not.toContain('waits for update');
  });
});

describe('a version update', () => {
  const change = { version: '1.32', releaseVersion: '1.32.9-20260919' };

  it('is one object of the group, with what EKS tells as params', async () => {
    const { kube, group } = await setUp();
    const request = { group, change, action: 'Update', force: true } as const;
    const made = await requestUpdate({ kube }, request);
    expect(made.metadata.name).toMatch(/^ng-[0-9a-z]{8}$/);
    expect(made.metadata).toMatchObject({ ownerReferences: [{ kind: 'NodeGroup', name: 'ng' }] });
    expect(made.spec).toEqual({
      nodeGroup: 'ng',
      type: 'VersionUpdate',
      action: 'Update',
      force: true,
      params: [
        { type: 'Version', value: '1.32' },
        { type: 'ReleaseVersion', value: '1.32.9-20260919' },
      ],
      change,
    });
  });

  it('is refused while another is in progress', async () => {
    const { kube, group, put } = await setUp();
    await put('cc-1', running);
    const request = { group, change, action: 'Update', force: false } as const;
    await expect(requestUpdate({ kube }, request)).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(
        /^update cc-1 of ng is in progress, and there is one at a time/,
      ),
    });
  });
});

describe('a request that is made twice', () => {
  const change = { version: '1.32', releaseVersion: '1.32.9-20260919' };
  const request = (group: NodeGroup, force = false) =>
    ({ group, change, action: 'Update', force }) as const;

  it('is one update, also when the first answer was lost', async () => {
    const { kube, group } = await setUp();
    const first = await requestUpdate({ kube }, request(group));
    const again = await requestUpdate({ kube }, request(group));
    expect(again.metadata.uid).toBe(first.metadata.uid);
    await expect(requestUpdate({ kube }, request(group, true))).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('asks for the same revision, with other options'),
    });
  });

  it('is another one when the first is over', async () => {
    const { kube, group, put } = await setUp();
    const first = await requestUpdate({ kube }, request(group));
    await put(first.metadata.name, {
      ...running,
      status: 'Failed',
      endedAt: '2026-02-01T00:00:00Z',
    });
    const again = await requestUpdate({ kube }, request(group));
    expect(again.metadata.name).not.toBe(first.metadata.name);
  });

  it('by a changed spec and by a command has one name', async () => {
    const { group } = await setUp();
    const asked = { ...group, spec: { ...group.spec, ...change } };
    const of = (one: NodeGroup) => updateNameOf(one, { change }, []);
    expect(of(asked)).toBe(of(group));
    expect(updateNameOf(group, { change, action: 'Rollback' }, [])).not.toBe(of(group));
    const other = { ...change, releaseVersion: '1.32.9-20260920' };
    expect(updateNameOf(group, { change: other }, [])).not.toBe(of(group));
  });
});

describe('a rollback', () => {
  const old = {
    version: '1.31',
    releaseVersion: '1.31.1-20250101',
    imageId: 'a',
    templateVersion: '1',
  };
  const fresh = {
    version: '1.32',
    releaseVersion: '1.32.1-20260101',
    imageId: 'b',
    templateVersion: '2',
  };
  const lt = (version: string) => ({ launchTemplate: { id: 'lt-1', name: 'mine', version } });
  const custom = { version: '1.32', imageId: 'a', templateVersion: '1', ...lt('1') };
  const over = (more: Partial<NodeGroupUpdateStatus>) =>
    anUpdate({ status: { status: 'Successful', ...more } });

  it.each([
    [
      'the last update',
      [over({ from: old, target: fresh })],
      { version: '1.31', releaseVersion: old.releaseVersion },
    ],
    [
      'the last that changed something',
      [
        over({ from: fresh, target: fresh }),
        anUpdate({ status: undefined }),
        over({ from: old, target: fresh }),
      ],
      { version: '1.31', releaseVersion: old.releaseVersion },
    ],
    [
      'the last that changed something, where an image was not known before',
      [
        over({ from: { ...fresh, imageId: '' }, target: fresh }),
        over({ from: { ...old, imageId: '' }, target: fresh }),
      ],
      { version: '1.31', releaseVersion: old.releaseVersion },
    ],
    [
      'a failed one that was not taken back whole',
      [
        over({ status: 'Failed', from: old, target: old }),
        over({ status: 'Failed', from: old, target: fresh }),
      ],
      { version: '1.31', releaseVersion: old.releaseVersion },
    ],
    [
      'a failed one',
      [over({ status: 'Failed', from: old, target: { ...fresh, ...lt('2') } })],
      { version: '1.31', releaseVersion: old.releaseVersion },
    ],
    [
      'one of a custom image',
      [over({ from: custom, target: { ...custom, imageId: 'b', ...lt('2') } })],
      lt('1'),
    ],
  ])('goes back to before %s', (_, updates, change) => {
    expect(changeBack('ng', updates)).toEqual(change);
  });

  it.each([
    ['nothing', [], /^node group ng has had no update that changed it/],
    [
      'an update that changed nothing',
      [over({ from: old, target: old })],
      /nothing to go back to$/,
    ],
    [
      'a failed one that was taken back since, by itself or by hand',
      [
        over({ from: old, target: old }),
        over({ status: 'Failed', from: old, target: fresh }),
        over({ from: { ...old, releaseVersion: '1.31.0-20241201', imageId: '0' }, target: old }),
      ],
      /ng is back at 1\.31\.1-20250101 already: u1 has taken back update u1, .*--release-version 1\.31\.0-20241201`$/,
    ],
    [
      'one that was taken back, with nothing before it',
      [over({ from: old, target: old }), over({ status: 'Failed', from: old, target: fresh })],
      /--release-version R` goes to another release$/,
    ],
    [
      'one in progress',
      [over({ status: 'InProgress', from: old, target: fresh })],
      /^update u1 is in progress: `drover abort update u1 --rollback`$/,
    ],
  ])('is refused after %s', (_, updates, words) => {
    expect(() => changeBack('ng', updates)).toThrow(words);
  });

  it('names no abort of an update that is being aborted', () => {
    const { spec, ...update } = over({ status: 'InProgress', from: old, target: fresh });
    const stopped = { ...update, spec: { ...spec, abort: 'Stop' as const } };
    expect(() => changeBack('ng', [stopped])).toThrow(
      /^update u1 is in progress: it is being aborted \(Stop\), and `drover get update u1 --watch` shows its end$/,
    );
  });
});

describe('an update to a version for which the family has no images', () => {
  it('is refused with the remedy: a node group of another family', async () => {
    const { group } = await setUp();
    const old = { ...group, spec: { ...group.spec, amiType: 'AL2_x86_64', version: '1.32' } };
    const asked = { version: '1.33', releaseVersion: undefined, templateVersion: undefined };
    const around = { group: old, clusterVersion: '1.33' };
    await expect(changeWanted({} as CloudApi, around, asked)).rejects.toThrow(
      /There is no image of AL2_x86_64 for it: make a node group of a newer family/,
    );
  });
});

// An update object that is deleted while its update runs: everything that the update changed, apart
// from replaced nodes, is reverted.
import { describe, expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  isCordoned,
  latest,
  makeGroup,
  runApp,
  untilAtRest,
} from '../support/update-world.ts';

const traces = ['drover.dev/outdated', 'scale-down-disabled', 'drover.dev/shield'];

const traced = (life: GroupLife): readonly string[] =>
  traces.filter((trace) => JSON.stringify(life.nodes()).includes(trace));

describe('a group that is deleted mid-update', () => {
  it('whose pods do not go is DELETE_FAILED, with the maximum of its spec and no end of the update told', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 3, zones: 3 });
    await runApp(life, 6, 0);
    askFor(life, '1.32.9-20251226');
    await life.until('a drain', () => latest(life)?.status?.phase === 'Rolling', 3600);
    const most = life.group()?.spec.scaling.maxSize ?? 0;
    const maxOf = (): number => Number(objectOr(life.autoScalingGroups()[0]).MaxSize);
    expect(maxOf()).toBeGreaterThan(most);
    await life.delete();
    await life.until('it has failed', () => life.state() === 'DELETE_FAILED', 3600);
    const { DesiredCapacity } = objectOr(life.autoScalingGroups()[0]);
    expect(maxOf()).toBe(Math.max(most, Number(DesiredCapacity)));
    expect(latest(life)?.status).toMatchObject({ status: 'Failed' });
    expect(latest(life)?.status?.progress?.eta).toBeUndefined();
    expect(life.runningPods('web')).toBe(6);
    await life.end();
  });
});

describe('an update object that is deleted mid-run', () => {
  it('leaves no taint, no annotation, no suspended process and no surplus', async () => {
    const life = await GroupLife.begin();
    const updateConfig = { updateStrategy: 'SURGE', maxUnavailable: 1 };
    await makeGroup(life, { desired: 3, zones: 3 });
    life.patch({ spec: { updateConfig } });
    await runApp(life, 6, 1);
    askFor(life, '1.32.9-20251226');
    const isMidway = (): boolean => (latest(life)?.status?.progress?.done ?? 0) === 1;
    await life.until('one node is done', isMidway, 3600);
    const name = latest(life)?.metadata.name ?? '';
    expect(traced(life)).toContain('drover.dev/outdated');
    expect(JSON.stringify(objectOr(life.autoScalingGroups()[0]))).toContain('AZRebalance');
    life.user.delete(resourceTypes.nodegroupupdates, { name });
    const isGone = (): boolean => life.updates().every(({ metadata }) => metadata.name !== name);
    await life.until('it is gone', isGone, 3600);
    await untilAtRest(life, 3);
    expect(traced(life)).toEqual([]);
    expect(JSON.stringify(life.autoScalingGroups())).not.toContain('AZRebalance');
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(life.group()?.status?.surge).toBeUndefined();
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

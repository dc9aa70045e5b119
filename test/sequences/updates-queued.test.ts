// Updates requested while another update of their group runs: each reports which one it waits for,
// and can be stopped while it waits.
import { describe, expect, it } from 'vitest';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { askFor, makeGroup, newest, older, phasesOf, untilOver } from '../support/update-world.ts';

const record = (life: GroupLife, name: string): void =>
  life.make(resourceTypes.nodegroupupdates, undefined, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { name },
    spec: { nodeGroup: 'ng', type: 'VersionUpdate', action: 'Update', params: [], change: {} },
  });

describe('an update behind another', () => {
  it('fails with its group, and waits for no one then', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    askFor(life, newest);
    await life.until('it runs', () => life.updates()[0]?.status?.phase === 'Rolling', 3600);
    record(life, 'second');
    const second = () => life.updates().find(({ metadata }) => metadata.name === 'second');
    await life.until('it says so', () => second()?.status?.message !== undefined, 60);
    life.user.delete(resourceTypes.nodegroups, { name: 'ng' });
    await life.until('it has failed', () => second()?.status?.status === 'Failed', 60);
    expect(second()?.status?.message).toBeUndefined();
    await life.end();
  });

  it('says so, and begins when that one has ended; one that is stopped meanwhile is Cancelled', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    askFor(life, newest);
    await life.until('it runs', () => life.updates()[0]?.status?.phase === 'Rolling', 3600);
    const first = life.updates()[0]?.metadata.name ?? '';
    record(life, 'second');
    record(life, 'third');
    const named = (name: string) => life.updates().find(({ metadata }) => metadata.name === name);
    await life.until('both say so', () => named('third')?.status?.phase === 'Pending', 60);
    for (const name of ['second', 'third']) {
      expect(named(name)?.status).toMatchObject({
        status: 'InProgress',
        message: `waits for update ${first} (VersionUpdate) to end: a node group has one at a time`,
      });
    }
    const patch = { type: 'merge', body: { spec: { abort: 'Stop' } } } as const;
    life.user.patch(resourceTypes.nodegroupupdates, { name: 'third' }, patch);
    await life.until('it ends', () => named('third')?.status?.status === 'Cancelled', 60);
    expect(named(first)?.status?.status).toBe('InProgress');
    await untilOver(life);
    expect(named('second')?.status?.status).toBe('Successful');
    expect(named('second')?.status?.message ?? '').not.toContain('waits for');
    expect(phasesOf(named('second'))[0]).toBe('Pending');
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

/** An admission policy, added later, that refuses changes to an existing object. */
const refuseChangesOf = (life: GroupLife, name: string): void => {
  const group = 'admissionregistration.k8s.io';
  const apiVersion = `${group}/v1`;
  const resources = ['nodegroupupdates', 'nodegroupupdates/status'];
  const rule = { apiGroups: ['drover.dev'], apiVersions: ['*'], operations: ['UPDATE'], resources };
  life.make({ group, resource: 'validatingadmissionpolicies' }, undefined, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'kept' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: `object.metadata.name != '${name}'` }],
    },
  });
  life.make({ group, resource: 'validatingadmissionpolicybindings' }, undefined, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'kept' },
    spec: { policyName: 'kept', validationActions: ['Deny'] },
  });
};

describe('an update that waits and cannot be written', () => {
  it('holds up nothing of the one before it', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    refuseChangesOf(life, 'second');
    askFor(life, newest);
    await life.until('it runs', () => life.updates()[0]?.status?.phase === 'Rolling', 3600);
    const first = life.updates()[0]?.metadata.name;
    record(life, 'second');
    const ofFirst = () => life.updates().find(({ metadata }) => metadata.name === first)?.status;
    await life.until('the first is over', () => ofFirst()?.status === 'Successful', 7200);
    const second = life.updates().find(({ metadata }) => metadata.name === 'second');
    expect(second?.status).toBeUndefined();
    await life.end();
  });
});

describe('an update that is stopped behind one which waits for its approval', () => {
  it('leaves nothing to be asked for once more when that one has ended', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    life.patch({
      spec: { updateConfig: { updateStrategy: 'SURGE', maxUnavailable: 1, approval: 'Required' } },
    });
    const ask = (name: string, releaseVersion: string): void =>
      life.make(resourceTypes.nodegroupupdates, undefined, {
        apiVersion: 'drover.dev/v1alpha1',
        kind: 'NodeGroupUpdate',
        metadata: { name },
        spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: { releaseVersion } },
      });
    const named = (name: string) => life.updates().find(({ metadata }) => metadata.name === name);
    ask('first', newest);
    await life.until('it waits', () => named('first')?.status?.phase === 'Pending', 60);
    await life.driver.advance(5);
    ask('second', older);
    await life.until('the other waits', () => named('second')?.status?.phase === 'Pending', 60);
    life.patchUpdate('second', { spec: { abort: 'Stop' } });
    await life.until('it ends', () => named('second')?.status?.status === 'Cancelled', 60);
    life.patchUpdate('first', { metadata: { annotations: { 'drover.dev/approved': 'true' } } });
    await life.until('it ends', () => named('first')?.status?.status === 'Successful', 7200);
    await life.driver.advance(120);
    expect(life.updates()).toHaveLength(2);
    await life.end();
  });
});

describe('a change of the spec while an update runs', () => {
  it('is reported as waiting in the condition Progressing, and begins when that one has ended', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    askFor(life, newest);
    await life.until('it runs', () => life.updates()[0]?.status?.phase === 'Rolling', 3600);
    const first = life.updates()[0]?.metadata.name ?? '';
    const progressing = (): string =>
      life.group()?.status?.conditions?.find(({ type }) => type === 'Progressing')?.message ?? '';
    expect(progressing()).not.toContain('waits for');
    askFor(life, older);
    const waits = `A change to release ${older} waits for update ${first} to end.`;
    await life.until('it says so', () => progressing().endsWith(waits), 60);
    expect(life.updates()).toHaveLength(1);
    await life.until('the next begins', () => life.updates().length === 2, 4 * 3600);
    await untilOver(life);
    expect(life.updates().map(({ status }) => status?.status)).toEqual([
      'Successful',
      'Successful',
    ]);
    expect(progressing()).not.toContain('waits for');
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

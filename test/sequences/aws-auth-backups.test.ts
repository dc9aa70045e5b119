// Backups of aws-auth that are deleted between the controller's read and its write: the content of
// aws-auth is still backed up before it is overwritten.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../src/api/brand.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { addIdentity, readBackups } from '../../src/cli/aws-auth.ts';
import { backupsIn, backupsName } from '../../src/core/identity/index.ts';
import type { KubeApi } from '../../src/ports/index.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const { configmaps } = resourceTypes;
const role = (name: string): string => `arn:aws:iam::111111111111:role/${name}`;

describe('backups that are deleted while one is written', () => {
  it('are begun again, and nothing is written without one', async () => {
    const life = await GroupLife.begin();
    const { kube } = createInProcessPorts(life.world, {
      component: 'somebody',
      identity: { user: { username: 'somebody', groups: ['system:masters'] }, userAgent: 'test' },
    });
    const change = { kube, now: epochMs(0), what: 'a test', warn: () => undefined };
    const done = async <T>(work: Promise<T>): Promise<T> => {
      await life.driver.advance(5);
      return work;
    };
    await done(addIdentity(change, role('one'), 'linux'));
    let deletes = true;
    const patch: KubeApi['patch'] = (type, name, body, options) => {
      if (deletes && name.name === backupsName.name) {
        deletes = false;
        life.user.delete(configmaps, backupsName);
      }
      return kube.patch(type, name, body, options);
    };
    const racing = new Proxy(kube, {
      get: (target, key): unknown => {
        if (key === 'patch') return patch;
        const member: unknown = Reflect.get(target, key);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const before = life.mapRoles();
    await done(addIdentity({ ...change, kube: racing }, role('two'), 'linux'));
    expect(deletes).toBe(false);
    expect(life.mapRoles()).toContain(role('two'));
    const [newest] = backupsIn(await done(readBackups(kube)));
    expect(newest?.data.mapRoles).toBe(before);
    await life.end();
  });
});

import { describe, expect, it } from 'vitest';
import { loadModel } from '../../../src/aws-wire/model.ts';
import { aGroup, aTestWorld } from '../../../test/builders/world-aws.ts';
import { serviceHandlers } from '../parts.ts';

const answer = 'DryRunOperation: Request would have succeeded, but DryRun flag is set.';

describe('DryRun', () => {
  it('ends no instance', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 1 });
    world.advance(5);
    const [id = ''] = Object.keys(world.states('g'));
    const input = { InstanceIds: [id], DryRun: true };
    expect(world.refusal('ec2', 'TerminateInstances', input)).toBe(answer);
    expect(world.parts.instances.get(id)?.state).toBe('running');
    world.call('ec2', 'TerminateInstances', { ...input, DryRun: false });
    expect(world.parts.instances.get(id)?.state).toBe('shutting-down');
  });

  it('is refused with 412 and changes nothing, in every operation of EC2', async () => {
    const world = aTestWorld();
    const { operations, shapes } = await loadModel('ec2');
    const names = Object.keys(serviceHandlers(world.parts).ec2 ?? {});
    expect(names.length).toBeGreaterThan(40);
    const { tables } = world.kernel;
    tables.takeChanges();
    for (const name of names) {
      const input = operations[name]?.input ?? '';
      expect(Object.keys(shapes[input]?.members ?? {}), name).toContain('DryRun');
      const call = () => world.aws.call('ec2', name, { DryRun: true });
      expect(call, name).toThrow(
        expect.objectContaining({ code: 'DryRunOperation', httpStatus: 412 }),
      );
    }
    const changed = new Set(tables.takeChanges().map(({ table }) => table));
    expect([...changed].filter((table) => !table.startsWith('aws/cloudtrail'))).toEqual([]);
  });
});

// vCPU quotas over the API: applied values, the effect of the fault, and a requested increase.
import { describe, expect, it } from 'vitest';
import { aGroup, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';

const standard = { ServiceCode: 'ec2', QuotaCode: 'L-1216C47A' };
const begin = (): TestWorld => {
  const world = aTestWorld();
  aGroup(world, { desired: 2 });
  world.advance(60);
  return world;
};
const applied = (world: TestWorld) =>
  world.call('service-quotas', 'GetServiceQuota', standard).Quota;

describe('a quota of vCPUs', () => {
  it('is reported by code, among all of EC2 and as an account begins', () => {
    const world = begin();
    const named = {
      QuotaName: 'Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances',
      Value: 100_000,
    };
    expect(applied(world)).toMatchObject(named);
    const first = world.call('service-quotas', 'ListServiceQuotas', {
      ServiceCode: 'ec2',
      MaxResults: 3,
    });
    expect(first.Quotas).toHaveLength(3);
    const { NextToken } = first;
    const rest = world.call('service-quotas', 'ListServiceQuotas', {
      ServiceCode: 'ec2',
      NextToken,
    });
    expect(rest.Quotas).toMatchObject([{ QuotaCode: 'L-3819A6DF' }]);
    expect(world.call('service-quotas', 'GetAWSDefaultServiceQuota', standard).Quota).toMatchObject(
      named,
    );
  });

  it('is refused where there is none', () => {
    const refusal = (ServiceCode: string, QuotaCode: string) =>
      begin().refusal('service-quotas', 'GetServiceQuota', { ServiceCode, QuotaCode });
    expect(refusal('ec2', 'L-0')).toMatch(/^NoSuchResourceException/);
    expect(refusal('ec3', 'L-1216C47A')).toMatch(/^NoSuchResourceException/);
  });

  it('is what is in use while the fault is on, of each way to buy', () => {
    const world = begin();
    world.faults.inject('vcpu-quota', {});
    expect(applied(world)).toMatchObject({ Value: 4 });
    const spot = { ServiceCode: 'ec2', QuotaCode: 'L-34B43A08' };
    expect(world.call('service-quotas', 'GetServiceQuota', spot).Quota).toMatchObject({ Value: 0 });
  });

  it('is raised some minutes after that was asked for, and instances start again', () => {
    const world = begin();
    world.faults.inject('vcpu-quota', {});
    const wanted = { ...standard, DesiredValue: 8 };
    const ask = () => world.call('service-quotas', 'RequestServiceQuotaIncrease', wanted);
    const RequestId = String(ask().RequestedQuota?.Id);
    const status = () =>
      world.call('service-quotas', 'GetRequestedServiceQuotaChange', { RequestId }).RequestedQuota;
    expect(status()).toMatchObject({ Status: 'PENDING', DesiredValue: 8 });
    expect(world.refusal('service-quotas', 'RequestServiceQuotaIncrease', wanted)).toMatch(
      /^ResourceAlreadyExistsException/,
    );
    expect(applied(world)).toMatchObject({ Value: 4 });
    world.advance(180);
    expect(status()).toMatchObject({ Status: 'APPROVED' });
    expect(applied(world)).toMatchObject({ Value: 8 });
    expect(world.refusal('service-quotas', 'RequestServiceQuotaIncrease', wanted)).toMatch(
      /^IllegalArgumentException/,
    );
  });
});

// Service Quotas for EC2's vCPUs: applied and default values, and requested increases. Reports
// quotas; EC2 enforces them.
import { defined } from '../../../src/api/defined.ts';
import { type AwsInput, optionalNumber, optionalText, text } from '../../../src/aws-wire/index.ts';
import type { Instances } from '../ec2/instances.ts';
import { standingVcpus, type VcpuBucket, vcpuBuckets } from '../ec2/vcpu-quota.ts';
import { pageOf } from '../paging.ts';
import { refuse, type Scope, type ServiceHandlers } from '../scope.ts';

const ec2 = { ServiceCode: 'ec2', ServiceName: 'Amazon Elastic Compute Cloud (Amazon EC2)' };

/** AWS' error for an invalid token. */
const invalidToken = () =>
  refuse('InvalidPaginationTokenException', 'The pagination token provided is invalid.');

const needService = (input: AwsInput): void => {
  const code = text(input, 'ServiceCode');
  if (code === ec2.ServiceCode) return;
  throw refuse(
    'NoSuchResourceException',
    `The request failed because the specified service ${code} does not exist.`,
  );
};

const render = (scope: Scope, one: VcpuBucket, value: number) => ({
  ...ec2,
  QuotaArn: scope.arn('servicequotas', `${ec2.ServiceCode}/${one.code}`),
  QuotaCode: one.code,
  QuotaName: one.name,
  Value: value,
  Unit: 'None',
  Adjustable: true,
  GlobalQuota: false,
  UsageMetric: {
    MetricNamespace: 'AWS/Usage',
    MetricName: 'ResourceCount',
    MetricDimensions: {
      Class: `${one.usage.family}/${one.usage.market}`,
      Resource: 'vCPU',
      Service: 'EC2',
      Type: 'Resource',
    },
    MetricStatisticRecommendation: 'Maximum',
  },
  QuotaAppliedAtLevel: 'ACCOUNT',
});

const needQuota = (input: AwsInput): VcpuBucket => {
  needService(input);
  const code = text(input, 'QuotaCode');
  const found = vcpuBuckets.find((one) => one.code === code);
  if (found !== undefined) return found;
  throw refuse(
    'NoSuchResourceException',
    `The request failed because the specified quota ${code} does not exist.`,
  );
};

export const serviceQuotaHandlers = (
  scope: Scope,
  { quota }: Pick<Instances, 'quota'>,
): ServiceHandlers => {
  const applied = (one: VcpuBucket) => render(scope, one, quota.limit(one));
  const standing = (one: VcpuBucket) => render(scope, one, standingVcpus);
  const list = (input: AwsInput, all: readonly VcpuBucket[], show: typeof applied) => {
    needService(input);
    const page = pageOf(all, {
      max: optionalNumber(input, 'MaxResults') ?? 100,
      token: optionalText(input, 'NextToken'),
      keyOf: ({ code }) => code,
      invalid: invalidToken,
    });
    return {
      Quotas: page.items.map(show),
      ...defined({ NextToken: page.nextToken }),
    };
  };
  const renderRaise = (raise: ReturnType<typeof quota.raise>) => {
    const one = vcpuBuckets.find(({ code }) => code === raise.code);
    return {
      ...ec2,
      Id: raise.id,
      QuotaCode: raise.code,
      QuotaName: one?.name ?? '',
      QuotaArn: scope.arn('servicequotas', `${ec2.ServiceCode}/${raise.code}`),
      DesiredValue: raise.vcpus,
      Status: quota.isGranted(raise) ? 'APPROVED' : 'PENDING',
      Created: raise.requestedAt,
      GlobalQuota: false,
      Unit: 'None',
      QuotaRequestedAtLevel: 'ACCOUNT',
    };
  };
  const requestIncrease = (input: AwsInput) => {
    const one = needQuota(input);
    const wanted = optionalNumber(input, 'DesiredValue') ?? 0;
    if (wanted <= quota.limit(one)) {
      throw refuse(
        'IllegalArgumentException',
        'You must provide a quota value greater than the current quota value.',
      );
    }
    if (quota.raises().some((raise) => raise.code === one.code && !quota.isGranted(raise))) {
      throw refuse(
        'ResourceAlreadyExistsException',
        'Only one open service quota increase request is allowed per quota.',
      );
    }
    return { RequestedQuota: renderRaise(quota.raise(one, wanted)) };
  };
  const getChange = (input: AwsInput) => {
    const id = text(input, 'RequestId');
    const found = quota.raises().find((raise) => raise.id === id);
    if (found !== undefined) return { RequestedQuota: renderRaise(found) };
    throw refuse('NoSuchResourceException', `The request ${id} does not exist.`);
  };
  return {
    RequestServiceQuotaIncrease: requestIncrease,
    GetRequestedServiceQuotaChange: getChange,
    ListServices: () => ({ Services: [ec2] }),
    GetServiceQuota: (input) => ({ Quota: applied(needQuota(input)) }),
    GetAWSDefaultServiceQuota: (input) => ({ Quota: standing(needQuota(input)) }),
    ListServiceQuotas: (input) => {
      const code = optionalText(input, 'QuotaCode');
      const asked = vcpuBuckets.filter((one) => code === undefined || one.code === code);
      return list(input, asked, applied);
    },
    ListAWSDefaultServiceQuotas: (input) => list(input, vcpuBuckets, standing),
  };
};

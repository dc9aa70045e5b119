// EC2's status checks over the world's AWS services. Decides nothing.
import type { ImpairedInstance } from '../../api/cloud.ts';
import { impairedRequest, statusChecks } from '../../ports/index.ts';
import type { CloudCalls, Options } from './cloud-calls.ts';
import { toImpaired } from './cloud-values.ts';

export const impairedInstances = async (
  calls: CloudCalls,
  options: Options,
): Promise<readonly ImpairedInstance[]> => {
  const found: ImpairedInstance[] = [];
  for (const check of statusChecks) {
    const [operation, input] = ['DescribeInstanceStatus', impairedRequest(check)] as const;
    const to = (status: Parameters<typeof toImpaired>[0]) => toImpaired(status, check);
    found.push(...(await calls.all('ec2', operation, input, 'InstanceStatuses', options, to)));
  }
  return found;
};

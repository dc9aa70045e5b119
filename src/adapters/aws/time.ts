// The cloud's clock, as the Date header of an answer has it. Asks Auto Scaling for one group, which
// the controller may do anyway; reads nothing of it.
import { epochMs } from '../../api/brand.ts';
import { type CloudApi, CloudError } from '../../ports/index.ts';
import { type Clients, call } from './clients.ts';

interface Answer {
  readonly response?: unknown;
}

const dateOf = ({ response }: Answer): string | undefined => {
  const headers = (response as { readonly headers?: Readonly<Record<string, string>> } | undefined)
    ?.headers;
  return headers?.date ?? headers?.Date;
};

export const timeCalls = (clients: Clients): Pick<CloudApi, 'time'> => ({
  time: async (options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.DescribeAutoScalingGroupsCommand({ MaxRecords: 1 });
    let date: string | undefined;
    command.middlewareStack.add(
      (next) => async (args) => {
        const answer = await next(args);
        date = dateOf(answer);
        return answer;
      },
      { step: 'deserialize', name: 'readDate', priority: 'low' },
    );
    await call('DescribeAutoScalingGroups', options, (http) => client.send(command, http));
    const at = date === undefined ? Number.NaN : Date.parse(date);
    if (Number.isNaN(at)) {
      throw new CloudError('Unsupported', 'the answer of Auto Scaling has no Date header');
    }
    return epochMs(at);
  },
});

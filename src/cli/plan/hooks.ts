// Which CronJobs named by a group's hooks do not exist. Reads only.
import { resourceTypes } from '../../api/kube.ts';
import type { UpdateConfig } from '../../api/nodegroup.ts';
import { hookKinds } from '../../api/update-hooks.ts';
import type { Snapshot } from '../../core/update/preflight/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import type { Collector } from './collect.ts';

export const readMissingTemplates = async (
  kube: KubeApi,
  collector: Collector,
  { hooks = {} }: Pick<UpdateConfig, 'hooks'> = {},
): Promise<NonNullable<Snapshot['missingTemplates']>> => {
  const missing = hookKinds.map((hook) =>
    collector.read<NonNullable<Snapshot['missingTemplates']>>('hooks', [], async () => {
      const job = hooks[hook]?.job;
      if (job === undefined) return [];
      const { namespace, cronJob } = job;
      const found = await kube.get(resourceTypes.cronjobs, { namespace, name: cronJob });
      return found.kind === 'gone' ? [{ hook, cronJob: `${namespace}/${cronJob}` }] : [];
    }),
  );
  return (await Promise.all(missing)).flat();
};

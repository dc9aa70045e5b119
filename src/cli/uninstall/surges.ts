// Surges that a stopped controller left open: finds them and ends them. Starts none.
import type { EpochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import { type Deployment, type Pod, resourceTypes } from '../../api/kube.ts';
import { surgeLabel, swappedLabel } from '../../api/surge.ts';
import { deploymentsOf, keyOfObject, surgeOf } from '../../core/drain/index.ts';
import type { KubeApi, ObjectName } from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';

/** Other clients change Deployments too: after a failed precondition they are read again. */
const maxRaces = 8;

/**
 * Deployments that are scaled up or whose pods have a deletion cost set by Drover. Throws
 * KubeError.
 */
export const openSwaps = async (kube: KubeApi): Promise<readonly ObjectName[]> => {
  const surging = { labelSelector: `${surgeLabel}=true` };
  const deployments = await kube.list<Deployment>(resourceTypes.deployments, surging);
  const open = deployments.items.filter((one) => surgeOf(one) !== undefined);
  const swapped = await kube.list<Pod>(resourceTypes.pods, { labelSelector: swappedLabel });
  const all = [...open.map(({ metadata }) => metadata), ...deploymentsOf(swapped.items)].map(
    ({ name, namespace }) => ({ name, ...defined({ namespace }) }),
  );
  return [...new Map(all.map((at) => [keyOfObject({ metadata: at }), at])).values()];
};

/** Throws KubeError and CommandError. */
export const endOpenSurges = async (
  { endSurges }: Pick<CliContext, 'endSurges'>,
  kube: KubeApi,
  now: EpochMs,
): Promise<void> => {
  for (let race = 1; race <= maxRaces; race++) {
    if (await endSurges(kube, now)) return;
  }
  const left = (await openSwaps(kube)).map((metadata) => keyOfObject({ metadata })).join(', ');
  throw new CommandError(
    exitCodes.failed,
    `deployments ${left} change too often to scale them back: run the command again`,
  );
};

// Writes of surge and swap with the controller's journal and log. Decides nothing.
import type { Deployment } from '../../api/kube.ts';
import type { SurgeStep } from '../../api/surge.ts';
import { keyOfObject } from '../../core/drain/index.ts';
import type { DisruptionDeps } from './deps.ts';
import { writeSurgeStep } from './open-surges.ts';

/** False if the write was refused because the object has changed. Throws KubeError. */
export const writeStep = async (
  { kube, journal, log }: Pick<DisruptionDeps, 'kube' | 'journal' | 'log'>,
  deployment: Deployment,
  step: SurgeStep,
  signal: AbortSignal,
): Promise<boolean> => {
  const key = keyOfObject(deployment);
  const isWritten = await writeSurgeStep(kube, deployment, step, { signal });
  if (!isWritten) log.debug('surge not written', { deployment: key, step: step.kind });
  else if (!('pod' in step)) {
    journal.record({ type: `surge:${step.kind}`, subject: key, facts: {} });
  }
  return isWritten;
};

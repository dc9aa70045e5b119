// A read that may be refused: what cannot be read is unknown. Hides no other error.
import { CloudError } from './cloud.ts';
import { KubeError } from './kube.ts';

/** Undefined where the cloud or the API server returns an error. */
export const orUnknown = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof CloudError || error instanceof KubeError) return undefined;
    throw error;
  }
};

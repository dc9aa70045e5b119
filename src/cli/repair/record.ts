// Writes the request of `drover repair`: a new NodeRepair, or the request into the open one.
import { resourceTypes } from '../../api/kube.ts';
import { newRepair } from '../../api/new-repair.ts';
import type { RequestWrite } from '../../core/repair/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';

/** Throws CommandError, KubeError. */
export const record = async (
  kube: KubeApi,
  write: RequestWrite,
  group: { readonly name: string; readonly uid: string },
): Promise<void> => {
  const type = resourceTypes.noderepairs;
  if (write.kind === 'create') {
    const { name, spec } = write;
    await kube.create(type, newRepair({ name, owner: group, spec }));
    return;
  }
  const { name, resourceVersion, requested } = write;
  const body = { metadata: { resourceVersion }, spec: { requested } };
  const patched = await kube.patch(type, { name }, { type: 'merge', body });
  if (patched.kind === 'gone') {
    throw new CommandError(
      exitCodes.failed,
      `NodeRepair ${name} is gone, and nothing was requested: run the command again`,
    );
  }
};

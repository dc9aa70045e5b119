// Reads which hooks of others hold an instance after its drain. What it cannot read it leaves out.
import type { NodeDisruption } from '../../api/disruption.ts';
import { drainedGroupOf, foreignHooksText } from '../../core/explain/index.ts';
import { CloudError } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection } from '../context.ts';

/** Undefined where none holds it. */
export const heldInstanceText = async (
  context: CliContext,
  connection: Connection,
  disruption: NodeDisruption | undefined,
): Promise<string | undefined> => {
  const name = disruption === undefined ? undefined : drainedGroupOf(disruption);
  if (disruption === undefined || name === undefined) return undefined;
  try {
    const cloud = await context.cloud(connection);
    const [group] = await cloud.describeGroups([name]);
    const { instanceId } = disruption.spec;
    const instance = group?.instances.find((one) => one.instanceId === instanceId);
    if (instance?.lifecycleState !== 'Terminating:Wait') return undefined;
    return foreignHooksText(disruption, instance, await cloud.describeHooks(name));
  } catch (error) {
    if (error instanceof CloudError || error instanceof CommandError) return undefined;
    throw error;
  }
};

// Reads eksctl's ClusterConfig file for the create commands. Uses no cluster.
import { type ClusterConfig, faultLine, parseClusterConfig } from '../../formats/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';

/** Reports every error of the file, a line each, as one usage error. */
export const readClusterConfig = async (
  context: CliContext,
  file: string,
): Promise<ClusterConfig> => {
  const result = parseClusterConfig(await context.readFile(file));
  if (result.kind === 'ok') return result.config;
  const lines = result.faults.map((fault) => faultLine(file, fault));
  throw new CommandError(exitCodes.usage, `${file} is not used:\n${lines.join('\n')}`);
};

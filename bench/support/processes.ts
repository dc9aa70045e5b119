// Child processes that a measurement waits for, and how to recognize kubectl in an audit log.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const keptOfErrors = 2000;

/** Runs a program; throws with its last output when it fails. */
export const finish = async (
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> => {
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString()}`.slice(-keptOfErrors);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${errors}`);
};

export const isKubectl = (agent: string): boolean => agent.startsWith('kubectl');

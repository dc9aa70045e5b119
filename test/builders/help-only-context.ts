// A context for a program whose help is printed and whose commands never run.
import type { CliContext } from '../../src/cli/context.ts';

const unused = (): never => {
  throw new Error('no command runs here');
};
export const helpOnlyContext = {
  out: unused,
  err: unused,
  isTerminal: false,
  progress: unused,
  screen: { size: unused, draw: unused, keys: unused },
  clock: { now: unused, sleep: unused },
  signal: new AbortController().signal,
  userName: 'somebody',
  kube: unused,
  http: unused,
  cluster: unused,
  target: unused,
  cloud: unused,
  provisioning: unused,
  readFile: unused,
  readBytes: unused,
  writeFile: unused,
  host: unused,
  metadata: unused,
  openLog: unused,
  auditFiles: unused,
  logQueries: unused,
  endSurges: unused,
  world: unused,
  environment: unused,
  up: unused,
  controller: unused,
  agent: unused,
  agentCheck: unused,
  agentBundle: unused,
} satisfies CliContext;

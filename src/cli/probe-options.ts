// The flags of the listener for /metrics and the health probes, the same for every process that
// has one. Opens no listener.
import { type Command, InvalidArgumentError } from 'commander';

export const checkPort = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError(`a port is a number from 0 to 65535, not ${text}`);
};

export const addProbeOptions = (command: Command): Command =>
  command
    .option(
      '--metrics-port <port>',
      'serve /metrics and the health probes on this port (0: any free port; default: off)',
      checkPort,
    )
    .option('--metrics-host <address>', 'IP address of that listener', '127.0.0.1');

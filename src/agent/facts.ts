// What the agent needs to know of its node before it watches it: the boot, and accelerators.
import { type EpochMs, epochMs } from '../api/brand.ts';
import type { NodeHost } from '../ports/index.ts';
import { listIfThere, readIfThere } from './checks/index.ts';
import type { BootFacts } from './monitor.ts';

export const bootFacts = async (host: NodeHost, now: EpochMs): Promise<BootFacts> => {
  const bootId = ((await readIfThere(host, '/proc/sys/kernel/random/boot_id')) ?? '').trim();
  const uptime = Number.parseFloat((await readIfThere(host, '/proc/uptime')) ?? '0');
  return { bootId, bootedAt: epochMs(Math.floor(now - (uptime || 0) * 1000)) };
};

export const findAccelerator = async (host: NodeHost): Promise<'nvidia' | 'neuron' | undefined> => {
  const devices = await listIfThere(host, '/dev');
  if (devices.some((name) => /^nvidia\d/.test(name))) return 'nvidia';
  return devices.some((name) => /^neuron\d/.test(name)) ? 'neuron' : undefined;
};

// The messages that `kernel-fault` makes a simulated kernel log, in the words of real kernels and
// drivers. The node's log sources show them; their readers decide what follows.

/** By the name that `--fault` takes. */
export const kernelFaults = {
  'soft-lockup': 'watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [kworker/1:1:87]',
  'io-error':
    'I/O error, dev nvme1n1, sector 1234567 op 0x0:(READ) flags 0x800 phys_seg 1 prio class 2',
  // The data volume stays read-only while the fault is on.
  'read-only': 'EXT4-fs (nvme1n1): Remounting filesystem read-only',
  xid:
    "NVRM: Xid (PCI:0000:00:1e): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the " +
    'bus.',
} as const satisfies Readonly<Record<string, string>>;

type KernelFault = keyof typeof kernelFaults;

export const isKernelFault = (name: string): name is KernelFault =>
  Object.hasOwn(kernelFaults, name);

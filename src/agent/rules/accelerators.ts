// Rules of AcceleratedHardwareReady, from kernel log lines of the NVIDIA and Neuron drivers. Needs
// no DCGM: faults that only DCGM detects (policies, diagnostics, health codes) are not reported.
import type { HealthRule } from './rule.ts';

const condition = 'AcceleratedHardwareReady';
const xidPattern = (codes: string): string =>
  `^NVRM: Xid \\(PCI:(?<device>[0-9a-fA-F:.]+)\\): (?<xid>${codes}),(?<what>.*)`;

/** XIDs that require another host, by EKS' table of repair actions. */
const replaced = [74, 79, 119, 120, 140];
/** XIDs that EKS' agent treats as fatal; others are application errors or informative. */
const fatal = [
  46, 48, 54, 62, 63, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143, 151, 155, 156, 158,
];

const xid = (codes: readonly number[], rank: number): HealthRule => ({
  reason: 'NvidiaXID{xid}Error',
  condition,
  severity: 'Condition',
  lines: [{ source: 'kernel', pattern: xidPattern(codes.join('|')) }],
  message: 'XID {xid} on GPU {device}:{what}',
  key: '{device}',
  clearAfterSeconds: 'reboot',
  rank,
  text: {
    meaning:
      `The NVIDIA driver reported a critical error: XID ${codes.join(', ')}. The names and ` +
      'numbers are in NVIDIA’s list of XID errors.',
    remedy:
      rank > 1
        ? 'Replace the node: a reboot does not help.'
        : 'Reboot the node; replace it when the error comes back.',
    origin: 'EKS',
    proof: 'recorded',
    found: [`NVRM: Xid (PCI:0000:3b:00): ${codes[0]}, pid='<unknown>', name=<unknown>, text`],
    ignored: ['NVRM: Xid (PCI:0000:3b:00): 43, pid=1234, name=python3, Ch 00000008'],
  },
});

const neuron = (part: string, word: string, meaning: string): HealthRule => ({
  reason: `Neuron${part}`,
  condition,
  severity: 'Condition',
  lines: [{ source: 'kernel', pattern: `NEURON_HW_ERR=${word}(?: |$)` }],
  message: `Discovered ${meaning}`,
  key: part,
  clearAfterSeconds: 'reboot',
  rank: 1,
  text: {
    meaning: `The Neuron driver reported: ${meaning}.`,
    remedy: 'Replace the node; results computed on the device may be wrong.',
    origin: 'EKS',
    proof: 'written',
    found: [`neuron:ndhal NEURON_HW_ERR=${word} instance-id=i-1 hostname=h nd-id=1 nc-id=1`],
    ignored: ['neuron: driver loaded'],
  },
});

export const acceleratorRules: readonly HealthRule[] = [
  xid(replaced, 2),
  xid(
    fatal.filter((code) => !replaced.includes(code)),
    1,
  ),
  {
    reason: 'NvidiaXID{xid}Warning',
    condition,
    severity: 'Event',
    lines: [{ source: 'kernel', pattern: xidPattern('\\d+'), unless: xidPattern(fatal.join('|')) }],
    message: 'XID {xid} on GPU {device}:{what}',
    key: '{device} {xid}',
    clearAfterSeconds: 900,
    text: {
      meaning: 'The NVIDIA driver reported an error that is not critical for the node.',
      remedy: 'Most of these are faults of the program that used the GPU.',
      origin: 'EKS',
      proof: 'recorded',
      found: ['NVRM: Xid (PCI:0000:3b:00): 43, pid=1234, name=python3, Ch 00000008'],
      ignored: ["NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off the bus."],
    },
  },
  {
    reason: 'NvidiaNCCLError',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'kernel',
        pattern: '^(?<process>.*?)\\[\\d+\\]: segfault at .* in libnccl\\.so',
      },
    ],
    message: 'Process "{process}" crashed in libnccl',
    key: '{process}',
    clearAfterSeconds: 900,
    text: {
      meaning: 'A process crashed in NVIDIA’s Collective Communications Library.',
      remedy: 'Update the library; look at the interfaces that it uses (EFA).',
      origin: 'EKS',
      proof: 'written',
      found: ['python[77]: segfault at 10 ip 00007f sp 00007f error 4 in libnccl.so.2.18[7f+1000]'],
      ignored: ['python[77]: segfault at 10 ip 00007f sp 00007f error 4 in libc.so.6[7f+1000]'],
    },
  },
  neuron('SRAMUncorrectableError', 'SRAM_UNCORRECTABLE_ERROR', 'SRAM Uncorrectable Error'),
  neuron('NCUncorrectableError', 'NC_UNCORRECTABLE_ERROR', 'NC Uncorrectable Error'),
  neuron('HBMUncorrectableError', 'HBM_UNCORRECTABLE_ERROR', 'HBM Uncorrectable Error'),
  neuron('DMAError', 'DMA_ERROR', 'DMA Error'),
  {
    reason: 'FabricManagerNotRunning',
    condition,
    severity: 'Condition',
    check: 'units',
    threshold: { count: 2, withinSeconds: 900 },
    message: 'The unit nvidia-fabricmanager.service is {active}: GPUs cannot use NVLink together',
    key: 'fabric-manager',
    clearAfterSeconds: 900,
    text: {
      meaning: 'The node has NVSwitches, and NVIDIA Fabric Manager does not run.',
      remedy: 'Start nvidia-fabricmanager; its version must be the driver’s.',
      origin: 'EKS',
      proof: 'written',
      found: [],
      ignored: [],
    },
  },
];

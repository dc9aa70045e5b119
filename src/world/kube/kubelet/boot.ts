// How a machine comes up: steps with their length and what they print on the console, down to the
// kubelet's registration (article 003: bootstrap, API server, registration, certificate). Pure.
import type { Machine } from '../../contracts.ts';
import { groupOf, type NodeRelease } from './machine-facts.ts';

export interface BootStep {
  readonly name: 'firmware' | 'kernel' | 'cloud-init' | 'containerd' | 'bootstrap' | 'kubelet';
  readonly minMs: number;
  readonly maxMs: number;
}

/** In all 2.4 to 4.6 s: real ones take 30 to 60, but a demo's nodes are Ready within 15 s. */
export const bootSteps: readonly BootStep[] = [
  { name: 'firmware', minMs: 300, maxMs: 600 },
  { name: 'kernel', minMs: 400, maxMs: 800 },
  { name: 'cloud-init', minMs: 600, maxMs: 1000 },
  { name: 'containerd', minMs: 200, maxMs: 500 },
  { name: 'bootstrap', minMs: 500, maxMs: 900 },
  { name: 'kubelet', minMs: 400, maxMs: 800 },
];

/** From registration to Ready: the CNI plugin writes its configuration. */
export const networkReadyMs = { min: 500, max: 1200 } as const;

/** What the console shows when the step is done; `seconds` since power on. */
export const consoleLines = (
  step: BootStep['name'],
  machine: Machine,
  more: { readonly release: NodeRelease; readonly seconds: number; readonly joins: boolean },
): readonly string[] => {
  const stamp = `[${more.seconds.toFixed(6).padStart(12)}]`;
  const host = machine.privateDnsName.split('.')[0] ?? '';
  const unit = (text: string): string => `${stamp} ${text}`;
  switch (step) {
    case 'firmware':
      return [unit(`DMI: Amazon EC2 ${machine.instanceType}/, BIOS 1.0 10/16/2017`)];
    case 'kernel':
      return [
        unit(`Linux version ${more.release.kernelVersion}`),
        unit(`smpboot: Total of ${machine.cpus} processors activated`),
        unit(`Memory: ${machine.memoryMiB * 1024}K total`),
      ];
    case 'cloud-init':
      return [
        unit(`cloud-init: instance-id ${machine.instanceId}, image ${machine.imageId}`),
        unit(`cloud-init: eth0 ${machine.privateIp}, subnet ${machine.subnetId}`),
        unit(`cloud-init: user data found, running part-001 for ${host}`),
      ];
    case 'containerd':
      return [unit(`systemd: started ${more.release.containerRuntimeVersion.replace('://', ' ')}`)];
    case 'bootstrap':
      return [
        unit(`bootstrap: group ${groupOf(machine) ?? 'unknown'}, max pods ${machine.maxPods}`),
        unit('bootstrap: wrote kubelet configuration, kubeconfig and certificate authority'),
        unit('systemd: started kubelet'),
      ];
    case 'kubelet':
      return kubeletLines(machine, unit, more.joins);
  }
};

const kubeletLines = (
  machine: Machine,
  unit: (text: string) => string,
  joins: boolean,
): readonly string[] =>
  joins
    ? [
        unit('kubelet: connected to the API server'),
        unit(`kubelet: registered node ${machine.privateDnsName}`),
        unit('kubelet: certificate signing request approved and issued'),
        unit('kubelet: serving on port 10250'),
      ]
    : [
        unit('kubelet: connected to the API server'),
        unit(`kubelet: unable to register node ${machine.privateDnsName}: Unauthorized`),
        unit('kubelet: will retry registration'),
      ];

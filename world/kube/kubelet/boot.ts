// How a machine boots: the steps, their duration and their console output, down to the kubelet's
// registration (article 003: bootstrap, API server, registration, certificate). Pure.
import type { JoinRefusal, Machine } from '../../contracts.ts';
import { groupOf, type NodeRelease } from './machine-facts.ts';

export interface BootStep {
  readonly name: 'firmware' | 'kernel' | 'cloud-init' | 'containerd' | 'bootstrap' | 'kubelet';
  readonly minMs: number;
  readonly maxMs: number;
}

/** 2.4 to 4.6 s in total: real machines take 30 to 60 s, but demo nodes are Ready within 15 s. */
export const bootSteps: readonly BootStep[] = [
  { name: 'firmware', minMs: 300, maxMs: 600 },
  { name: 'kernel', minMs: 400, maxMs: 800 },
  { name: 'cloud-init', minMs: 600, maxMs: 1000 },
  { name: 'containerd', minMs: 200, maxMs: 500 },
  { name: 'bootstrap', minMs: 500, maxMs: 900 },
  { name: 'kubelet', minMs: 400, maxMs: 800 },
];

/** From registration to Ready, while the CNI plugin writes its configuration. */
export const networkReadyMs = { min: 500, max: 1200 } as const;

/** Console output at the end of the step; `seconds` since power on. */
export const consoleLines = (
  step: BootStep['name'],
  machine: Machine,
  more: {
    readonly release: NodeRelease;
    readonly seconds: number;
    /** The world's time: `2026-01-30T22:48:50Z`. */
    readonly at: string;
    /** Undefined when the cluster authorizes the node. */
    readonly refusal: JoinRefusal | undefined;
  },
): readonly string[] => {
  const stamp = `[${more.seconds.toFixed(6).padStart(12)}]`;
  const host = machine.privateDnsName.split('.')[0] ?? '';
  const unit = (text: string): string => `${stamp} ${text}`;
  if (more.release.operatingSystem === 'windows') {
    return windowsLines(step, machine, (text) => `${ec2LaunchTime(more.at)}: ${text}`, more);
  }
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
      return bootstrapLines(machine, unit, more.refusal);
    case 'kubelet':
      return kubeletLines(machine, unit, more.refusal);
  }
};

type Unit = (text: string) => string;

const bootstrapLines = (
  machine: Machine,
  unit: Unit,
  refusal: JoinRefusal | undefined,
): readonly string[] => {
  const group = `bootstrap: group ${groupOf(machine) ?? 'unknown'}, max pods ${machine.maxPods}`;
  if (refusal?.kind === 'userData') {
    return [unit(group), unit(`bootstrap: user data: ${refusal.fault}`)];
  }
  if (refusal?.kind === 'unknownCluster') {
    return [
      unit(group),
      unit(
        'bootstrap: An error occurred (ResourceNotFoundException) when calling the ' +
          'DescribeCluster ' +
          `operation: No cluster found for name: ${refusal.cluster}.`,
      ),
    ];
  }
  return [
    unit(group),
    unit('bootstrap: wrote kubelet configuration, kubeconfig and certificate authority'),
    unit('systemd: started kubelet'),
  ];
};

/**
 * The error that an unauthorized kubelet's request gets, in the words of client-go and its plugins.
 */
const errorOf = (refusal: JoinRefusal): string => {
  switch (refusal.kind) {
    case 'endpoint': {
      const { host, hostname } = new URL(refusal.endpoint);
      const isAddress = /^[\d.]+$|^\[/.test(hostname);
      const why = isAddress
        ? `dial tcp ${host}: connect: connection refused`
        : `dial tcp: lookup ${hostname}: no such host`;
      return `Post "${refusal.endpoint}/api/v1/nodes": ${why}`;
    }
    case 'unreachable': {
      const host = refusal.endpoint.replace(/^https?:\/\//, '').replace(/\/$/, '');
      const address = host.includes(':') ? host : `${host}:443`;
      return `Post "${refusal.endpoint}/api/v1/nodes": dial tcp ${address}: i/o timeout`;
    }
    case 'noCredentials':
      return (
        'getting credentials: exec: executable aws-iam-authenticator failed with exit code 1: ' +
        'could not get token: NoCredentialProviders: no valid providers in chain'
      );
    case 'forbidden':
      return (
        `nodes is forbidden: User "${refusal.user}" cannot create resource "nodes" in API ` +
        'group "" ' +
        'at the cluster scope'
      );
    case 'userData':
    case 'unknownCluster':
    case 'unauthorized':
      return 'Unauthorized';
  }
};

const kubeletLines = (
  machine: Machine,
  unit: Unit,
  refusal: JoinRefusal | undefined,
): readonly string[] => {
  if (refusal !== undefined) {
    const error = JSON.stringify(errorOf(refusal));
    return [
      unit(`kubelet: "Attempting to register node" node="${machine.privateDnsName}"`),
      unit(
        'kubelet: "Unable to register node with API server, will retry" ' +
          `err=${error} node="${machine.privateDnsName}"`,
      ),
    ];
  }
  return [
    unit('kubelet: connected to the API server'),
    unit(`kubelet: registered node ${machine.privateDnsName}`),
    unit('kubelet: certificate signing request approved and issued'),
    unit('kubelet: serving on port 10250'),
  ];
};

/** As EC2Launch writes it: `2026/01/30 22:48:50Z`. */
const ec2LaunchTime = (at: string): string => at.replace('T', ' ').replaceAll('-', '/');

/**
 * Messages of EC2Launch, then of Start-EKSBootstrap.ps1 as users have reported them
 * (aws-ia/terraform-aws-eks-blueprints#193), then of the kubelet. A real console does not show the
 * last ones, but the world has no event log to read them from.
 */
const windowsLines = (
  step: BootStep['name'],
  machine: Machine,
  unit: Unit,
  {
    release,
    refusal,
  }: { readonly release: NodeRelease; readonly refusal: JoinRefusal | undefined },
): readonly string[] => {
  switch (step) {
    case 'firmware':
      return [];
    case 'kernel':
      return [
        unit(`OsVersion: ${release.kernelVersion}`),
        unit(`OsProductName: ${release.osImage}`),
        unit(`Instance ID: ${machine.instanceId}, AMI ID: ${machine.imageId}`),
      ];
    case 'cloud-init':
      return [
        unit('Userdata execution begins'),
        unit('<powershell> tag was provided.. running powershell content'),
      ];
    case 'containerd':
      return [unit('Windows is Ready to use')];
    case 'bootstrap':
      if (refusal?.kind === 'userData' || refusal?.kind === 'unknownCluster') {
        return bootstrapLines(machine, unit, refusal).slice(1);
      }
      return [
        unit('Creating/Updating kubeconfig...'),
        unit('Creating/Updating EKS CNI plugin config...'),
        unit('Creating/Updating kubelet configuration file...'),
        unit('Registering kublet and kube-proxy services...'),
      ];
    case 'kubelet':
      return kubeletLines(machine, unit, refusal);
  }
};

/** Output of a kubelet that had joined and whose next request is refused. */
export const expelledLines = (
  machine: Machine,
  seconds: number,
  refusal: JoinRefusal,
): readonly string[] => {
  const stamp = `[${seconds.toFixed(6).padStart(12)}]`;
  const error = JSON.stringify(
    `error getting node "${machine.privateDnsName}": ${errorOf(refusal)}`,
  );
  return [`${stamp} kubelet: "Error updating node status, will retry" err=${error}`];
};

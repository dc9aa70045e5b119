// The events that a kubelet records about a pod, in the words of Kubernetes 1.32.
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import type { PodView } from '../actors/index.ts';
import type { Host, Hosts } from './hosts.ts';
import { deadlineExceeded } from './pod-deadline.ts';
import type { Pull } from './pod-images.ts';

/** Reported size of pulled images: nginx:latest's. */
const imageBytes = 72_404_038;

const isPulled = (container: PodView['spec']['containers'][number], pull: Pull): boolean =>
  container.imagePullPolicy === 'Always' ||
  (pull === 'full' && container.imagePullPolicy !== 'Never');

const linuxTrouble =
  'plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP ' +
  'address to container';

const windowsTrouble = (pod: string): string =>
  'plugin type="vpc-bridge" name="vpc" failed (add): failed to parse Kubernetes args: ' +
  'failed to get ' +
  `pod IP address ${pod}: error executing k8s connector: error executing connector binary: exit ` +
  `status 1 with execution error: pod ${pod} does not have label ` +
  'vpc.amazonaws.com/PrivateIPv4Address';

export class PodNotes {
  readonly #hosts: Hosts;
  constructor(hosts: Hosts) {
    this.#hosts = hosts;
  }

  pulling(host: Host, pod: PodView, pull: Pull): void {
    for (const container of pod.spec.containers) {
      if (!isPulled(container, pull)) continue;
      this.#note(host, pod, container.name, 'Pulling', `Pulling image "${container.image}"`);
    }
  }

  started(host: Host, pod: PodView, pull: Pull, sinceSeenMicros: Micros): void {
    const took = `${(sinceSeenMicros / microsPerSecond).toFixed(3)}s`;
    for (const container of pod.spec.containers) {
      const { name, image } = container;
      const pulled = isPulled(container, pull)
        ? `Successfully pulled image "${image}" in ${took} (${took} including waiting). ` +
          `Image size: ${imageBytes} bytes.`
        : `Container image "${image}" already present on machine`;
      this.#note(host, pod, name, 'Pulled', pulled);
      this.#note(host, pod, name, 'Created', `Created container: ${name}`);
      this.#note(host, pod, name, 'Started', `Started container ${name}`);
    }
  }

  debugging(host: Host, pod: PodView, { name, image }: { name: string; image: string }): void {
    const path = `spec.ephemeralContainers{${name}}`;
    const told = [
      ['Pulled', `Container image "${image}" already present on machine`],
      ['Created', `Created container: ${name}`],
      ['Started', `Started container ${name}`],
    ] as const;
    for (const [reason, message] of told) this.#tell(host, pod, path, { reason, message });
  }

  backOff(host: Host, pod: PodView): void {
    const { name, namespace, uid } = pod.metadata;
    for (const container of pod.spec.containers) {
      this.#hosts.recorder(host).record({
        about: pod,
        type: 'Warning',
        reason: 'BackOff',
        message:
          `Back-off restarting failed container ${container.name} in pod ` +
          `${name}_${namespace ?? ''}(${uid})`,
        fieldPath: `spec.containers{${container.name}}`,
      });
    }
  }

  killing(host: Host, pod: PodView): void {
    for (const { name } of pod.spec.containers) {
      this.#note(host, pod, name, 'Killing', `Stopping container ${name}`);
    }
  }

  deadlineExceeded(host: Host, pod: PodView): void {
    this.#hosts.recorder(host).record({ about: pod, ...deadlineExceeded });
  }

  failedMount(host: Host, pod: PodView, claims: readonly string[]): void {
    const volumes = (pod.spec.volumes ?? [])
      .filter(({ persistentVolumeClaim: of }) => of !== undefined && claims.includes(of.claimName))
      .map(({ name }) => name);
    this.#hosts.recorder(host).record({
      about: pod,
      type: 'Warning',
      reason: 'FailedMount',
      message:
        `Unable to attach or mount volumes: unmounted volumes=[${volumes.join(' ')}], unattached ` +
        'volumes=[], failed to process volumes=[]: context deadline exceeded',
    });
  }

  /**
   * The VPC CNI plugin's message when the subnet or the interfaces have no free address. `lacks`:
   * the Windows plugin's message for a pod that was assigned no address (article 003).
   */
  noAddress(
    host: Host,
    pod: PodView,
    sandboxId: string,
    { lacks }: { readonly lacks: boolean },
  ): void {
    const { name } = pod.metadata;
    this.#hosts.recorder(host).record({
      about: pod,
      type: 'Warning',
      reason: 'FailedCreatePodSandBox',
      message:
        'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network ' +
        `for sandbox "${sandboxId}": ${lacks ? windowsTrouble(name) : linuxTrouble}`,
    });
  }

  #note(host: Host, pod: PodView, container: string, reason: string, message: string): void {
    this.#tell(host, pod, `spec.containers{${container}}`, { reason, message });
  }

  #tell(
    host: Host,
    pod: PodView,
    fieldPath: string,
    said: { readonly reason: string; readonly message: string },
  ): void {
    this.#hosts.recorder(host).record({ about: pod, fieldPath, ...said });
  }
}

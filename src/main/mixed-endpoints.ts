// Detects a command whose cluster and AWS endpoint belong together only in part: one is an embedded
// world, the other a real one. Such a command would pair real nodes with simulated instances, or
// the reverse. Reads kubeconfigs of worlds; calls nothing.
import { dirname } from 'node:path';
import {
  type ConnectionSettings,
  isLoopback,
  isWorldsServer,
  kubeconfigFiles,
  namesServer,
} from './connections.ts';
import { isWorldDirectory } from './data-dir.ts';

const hostOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).host : undefined;

/** True for the endpoint that `drover env` exports together with DROVER_URL. */
const isWorldsEndpoint = ({ droverUrl, aws }: ConnectionSettings): boolean => {
  const host = hostOf(aws.endpoint);
  return host !== undefined && isLoopback(aws.endpoint ?? '') && host === hostOf(droverUrl);
};

/** The kubeconfigs in data directories of worlds. */
const worldsKubeconfigs = (kubeconfig: string | undefined): readonly string[] =>
  kubeconfigFiles(kubeconfig).filter((file) => isWorldDirectory(dirname(file)));

/** The kubeconfig of a world that has this server, or undefined. */
const kubeconfigWith = (kubeconfig: string | undefined, server: string): string | undefined =>
  worldsKubeconfigs(kubeconfig).find((file) => namesServer(file, server));

/** Whether the two could fail to match. If not, the API server's address is not needed. */
export const mayBeMixed = (settings: ConnectionSettings): boolean =>
  isWorldsEndpoint(settings) || worldsKubeconfigs(settings.kubeconfig).length > 0;

const remedy =
  'unset AWS_ENDPOINT_URL and DROVER_URL for a real cluster, name the world with --data-dir, or ' +
  'allow the combination with --allow-mixed-endpoints';

/** Why the cluster at `server` and the AWS endpoint do not belong together, or undefined. */
export const mixture = (settings: ConnectionSettings, server: string): string | undefined => {
  const { aws, kubeconfig, sourceKubeconfig } = settings;
  if (isWorldsEndpoint(settings)) {
    const isOwn =
      isWorldsServer(settings, server) || kubeconfigWith(sourceKubeconfig, server) !== undefined;
    return isOwn
      ? undefined
      : `the cluster ${server} is not the embedded world whose AWS endpoint ${aws.endpoint} ` +
          `is set: ${remedy}`;
  }
  const worlds = isLoopback(server) ? kubeconfigWith(kubeconfig, server) : undefined;
  // An emulator of AWS on this machine is the user's choice, and no account changes.
  if (worlds === undefined || (aws.endpoint !== undefined && isLoopback(aws.endpoint)))
    return undefined;
  return (
    `${worlds} is the cluster of an embedded world, but AWS calls would go to ` +
    `${aws.endpoint ?? 'the account of your AWS credentials'}: name the world with --data-dir, ` +
    'set its variables with `eval "$(drover env)"`, or allow the combination with ' +
    '--allow-mixed-endpoints'
  );
};

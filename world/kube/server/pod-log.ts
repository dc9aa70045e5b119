// GET pods/NAME/log: a simulated container writes no log, but the container's name and whether it
// has started are checked as on a cluster.
import type { ApiResponse } from '../../contracts.ts';
import { numberOf, objectsOf, type Stored, specOf, statusOf, textOf } from './objects.ts';
import { badRequest } from './status.ts';

export function podLog(pod: Stored, query: URLSearchParams): ApiResponse {
  const { name } = pod.metadata;
  const named = (list: string): readonly string[] =>
    objectsOf(specOf(pod)[list]).map((one) => textOf(one.name) ?? '');
  const containers = named('containers');
  const wanted = query.get('container');
  if (wanted === null && containers.length > 1) {
    throw badRequest(
      `a container name must be specified for pod ${name}, ` +
        `choose one of: [${containers.join(' ')}]`,
    );
  }
  const container = wanted ?? containers[0] ?? '';
  const all = [...containers, ...named('initContainers'), ...named('ephemeralContainers')];
  if (!all.includes(container)) {
    throw badRequest(`container ${container} is not valid for pod ${name}`);
  }
  const started = objectsOf(statusOf(pod).containerStatuses).some(
    (status) => (numberOf(status.restartCount) ?? 0) >= 0,
  );
  if (!started) {
    throw badRequest(
      `container "${container}" in pod "${name}" is waiting to start: ContainerCreating`,
    );
  }
  const body = `${name}/${container}: simulated container, no output is modelled\n`;
  return { kind: 'text', status: 200, body };
}

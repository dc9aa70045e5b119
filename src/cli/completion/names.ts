// Names from the cluster for a completion: one list, limited in time and number. If the cluster
// does not answer in time, there are no names and no error, because the user is at a shell prompt.
import { durationMs } from '../../api/brand.ts';
import { type KubeObject, type ResourceType, resourceTypes } from '../../api/kube.ts';
import type { CliContext, Connection } from '../context.ts';
import type { NameKind } from './candidates.ts';

/** A user who pressed TAB waits at most this long, plus the start of the program. */
const withinMs = durationMs(1_000);
/** A shell asks for confirmation before it shows more than about a hundred. */
const maxNames = 500;

const types: Readonly<Record<NameKind, ResourceType>> = {
  nodes: resourceTypes.nodes,
  nodegroups: resourceTypes.nodegroups,
  updates: resourceTypes.nodegroupupdates,
  sequences: resourceTypes.nodegroupupdatesequences,
};

/** Excludes characters that a shell would interpret. */
const namePattern = /^[a-zA-Z0-9][\w.:-]*$/;

export const namesOf = async (
  context: CliContext,
  connection: Connection,
  { kind, last }: { readonly kind: NameKind; readonly last: string },
): Promise<readonly string[]> => {
  const stop = new AbortController();
  const late = context.clock.sleep(withinMs, stop.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    const kube = await context.kube(connection);
    const list = kube.list<KubeObject>(types[kind], { resourceVersion: '0', signal: stop.signal });
    const found = await Promise.race([list, late]);
    return (found?.items ?? [])
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith(last) && namePattern.test(name))
      .sort()
      .slice(0, maxNames);
  } catch {
    return [];
  } finally {
    stop.abort();
  }
};

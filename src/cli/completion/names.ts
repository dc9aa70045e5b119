// Names from the cluster for a completion: one list, bounded in time and number. Without an answer
// in time there are none, and no error is shown: a shell is waiting for its prompt.
import { durationMs } from '../../api/brand.ts';
import { type KubeObject, type ResourceType, resourceTypes } from '../../api/kube.ts';
import type { CliContext, Connection } from '../context.ts';
import type { NameKind } from './candidates.ts';

/** A person who pressed TAB waits no longer; the start of the program comes on top. */
const withinMs = durationMs(1_000);
/** A shell asks before it shows more than about a hundred. */
const maxNames = 500;

const types: Readonly<Record<NameKind, ResourceType>> = {
  nodes: resourceTypes.nodes,
  nodegroups: resourceTypes.nodegroups,
  updates: resourceTypes.nodegroupupdates,
  sequences: resourceTypes.nodegroupupdatesequences,
};

/** Only what cannot change the meaning of a command line. */
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

// Which marks an update leaves on nodes, and which it removes. Judged in four files. The author of
// each mark comes from requests and calls, never from a status.
import { objectOr } from '../../../../src/api/json.ts';
import { both, type Context, type Oracle, type Watcher } from '../../oracle.ts';
import { textOf } from '../../state/read.ts';
import { watchAllEnded } from './all-ended.ts';
import { watchAnnotations } from './annotations.ts';
import { newRemains, type Remains } from './owners.ts';
import { watchProcesses } from './processes.ts';
import { watchUpdateEnds } from './update-ended.ts';

const readGroups = (_: Context, { groups }: Remains): Watcher => ({
  object: ({ resource, type, object }) => {
    if (resource !== 'nodegroups') return;
    const name = textOf(objectOr(object.metadata).name);
    if (type === 'DELETED') groups.delete(name);
    else groups.set(name, object);
  },
});

const watchers = [readGroups, watchAnnotations, watchProcesses, watchUpdateEnds, watchAllEnded];

export const updateMarks: Oracle = {
  name: 'updates-leave-nothing',
  what:
    'at its end an update has restored sizes, processes, annotations and taints, and has ' +
    'removed none of others',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const remains = newRemains(context);
    return watchers.map((watch) => watch(context, remains));
  },
};

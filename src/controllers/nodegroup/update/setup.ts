// The first effects of a version update: the group uses the target's template, and what would
// disturb is suspended. Looked at in every pass while it is under way.
import type {
  NodeGroupUpdate,
  NodeGroupUpdateStatus,
  Revision,
} from '../../../api/nodegroup-update.ts';
import { fail } from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { issueOfRefusal } from '../trouble.ts';
import { type RolloutInput, suspendedOf, willAct } from './input.ts';
import { narrowed } from './instance-types.ts';
import { writeUpdate } from './records.ts';
import { useTemplate } from './template.ts';

const isUnderWay = ({ status }: NodeGroupUpdate): boolean =>
  status?.phase !== 'Restoring' && status?.ending === undefined;

const suspend = async (
  deps: NodeGroupDeps,
  input: RolloutInput,
  { status }: NodeGroupUpdate,
): Promise<void> => {
  const { scaling, signal } = input;
  const processes = (status?.suspends ?? []).filter((one) => !suspendedOf(scaling).includes(one));
  const isLast = status?.phase === 'ScalingDown' && status.strategy !== 'BLUE_GREEN';
  if (processes.length === 0 || isLast) return;
  willAct(deps, input);
  const { name } = scaling;
  await deps.cloud.setProcesses({ name, processes, suspended: true }, { signal });
};

/**
 * Nothing is started from the older version any more, before anything more is. True: that was to
 * do.
 */
const setUp = async (
  deps: NodeGroupDeps,
  input: RolloutInput,
  update: NodeGroupUpdate,
  { templateVersion }: Revision,
): Promise<boolean> => {
  const { group, scaling } = input;
  const version = scaling.launchTemplate?.version ?? templateVersion;
  const types =
    isUnderWay(update) && update.status ? narrowed(group, scaling, update.status) : undefined;
  const overrides = types === undefined ? {} : { overrides: types };
  // What is no number ($Default) says nothing of what is started.
  if (!(Number(scaling.launchTemplate?.version) >= Number(templateVersion))) {
    await useTemplate(deps, input, { version: templateVersion, ...overrides });
    return true;
  }
  if (types !== undefined) {
    await useTemplate(deps, input, { version, ...overrides });
    return true;
  }
  await suspend(deps, input, update);
  return false;
};

/**
 * What AWS refuses for good (an image that is not there, a permission) ends the update with its
 * words.
 */
export const setUpOrFail = async (
  deps: NodeGroupDeps,
  input: RolloutInput,
  update: NodeGroupUpdate,
  target: Revision,
): Promise<boolean> => {
  const { status } = update;
  if (!isUnderWay(update)) return false;
  try {
    return await setUp(deps, input, update, target);
  } catch (error) {
    const issue = issueOfRefusal(error, input.scaling.name);
    if (issue === undefined || status === undefined) throw error;
    const change = fail({ status, now: deps.clock.now() }, [issue]);
    const next = { ...status, ...change } as NodeGroupUpdateStatus;
    await writeUpdate(deps, update, next, input.signal);
    return true;
  }
};

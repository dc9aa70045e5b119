// Warns of the blockers in an update's plan before the update is recorded. Like in `drover drain`,
// it is only a warning: the update is recorded anyway, and failed reads are reported in one line.
import { defined } from '../../api/defined.ts';
import type { UpdateStrategy } from '../../api/nodegroup-update.ts';
import type { UpdatePolicies } from '../../api/update-policy.ts';
import { planUpdate, type UpdatePlan } from '../../core/update/plan/index.ts';
import { ownGroup } from '../plan/group.ts';
import { type PlanRequest, readSnapshot, type Sources } from '../plan/snapshot.ts';

/** Further ones are only counted: the plan lists all. */
const maxBlockers = 5;

/** A line for each blocker that is not waived: the object, the consequence, the remedy. */
export const blockerLines = (
  { findings }: Pick<UpdatePlan, 'findings'>,
  name: string,
): readonly string[] => {
  const blockers = findings.filter(
    ({ severity, waived }) => severity === 'blocker' && waived === undefined,
  );
  const more = blockers.length - maxBlockers;
  return [
    ...blockers
      .slice(0, maxBlockers)
      .map(
        ({ check, object, consequence, remedy }) =>
          `${object.kind} ${object.name}: ${consequence.text}; remedy: ${remedy} (${check})`,
      ),
    ...(more > 0 ? [`and ${more} more: \`drover plan update ${name}\` lists all`] : []),
  ];
};

export interface Intended {
  readonly name: string;
  readonly asked: Pick<PlanRequest, 'version' | 'releaseVersion' | 'templateVersion'>;
  readonly strategy: UpdateStrategy | undefined;
  readonly policies: UpdatePolicies | undefined;
  readonly force: boolean;
  readonly replaceEqual?: boolean;
}

/**
 * Few simulated runs suffice for blockers, which occur in every run; a plan uses more to estimate
 * durations.
 */
const fewRuns = 5;

/** Warnings before the update is recorded. Never throws: an update does not need its plan. */
export const warningsBefore = async (
  sources: Sources,
  { name, asked, strategy, policies, force, replaceEqual = false }: Intended,
): Promise<readonly string[]> => {
  try {
    const group = await ownGroup(sources.kube, name, undefined);
    const planned = {
      ...defined({ policies }),
      strategy,
      force,
      replaceEqual,
    };
    const snapshot = await readSnapshot(sources, group, { ...asked, ...planned });
    return blockerLines(planUpdate(snapshot, { runs: fewRuns }), name);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [`what would stop this update was not checked: ${why}`];
  }
};

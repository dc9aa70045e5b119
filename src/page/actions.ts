// The actions that an operator may take on an update from the page. For each: what it does at
// present, its patch, and the equivalent command. core/update makes every decision.
import type { JsonObject } from '../api/json.ts';
import type { NodeGroupUpdate } from '../api/nodegroup-update.ts';
import { type PageAction, type UpdateVerb, updateVerbs } from '../api/page.ts';
import {
  approvedAnnotation,
  approvedByAnnotation,
  approvedWaveAnnotation,
  approvedWaveByAnnotation,
} from '../api/update-pacing.ts';
import {
  abortVerdict,
  type ControlVerdict,
  notRunning,
  pauseVerdict,
} from '../core/update/index.ts';

const approval = (update: NodeGroupUpdate, by: string | null): ControlVerdict => {
  const { metadata, spec, status } = update;
  const { name } = metadata;
  const kinds = (status?.holds ?? []).map(({ kind }) => kind);
  const isWave = kinds.includes('WaveApproval');
  if (!isWave && !kinds.includes('Approval')) {
    return { kind: 'refused', text: `update ${name} does not wait for an approval` };
  }
  const annotations: JsonObject = isWave
    ? {
        [approvedWaveAnnotation]: String(status?.wave?.number ?? 0),
        [approvedWaveByAnnotation]: by,
      }
    : { [approvedAnnotation]: spec.planHash ?? 'true', [approvedByAnnotation]: by };
  const text = `update ${name} is approved: it goes on when nothing else holds it`;
  return { kind: 'patch', text, patch: { metadata: { annotations } } };
};

const verdicts: Readonly<
  Record<UpdateVerb, (update: NodeGroupUpdate, by: string | null) => ControlVerdict>
> = {
  approve: approval,
  pause: (update) => pauseVerdict(update, true),
  resume: (update) => pauseVerdict(update, false),
  stop: (update) => abortVerdict(update, false),
  rollback: (update) => abortVerdict(update, true),
};

/** `by`: the user who asks, recorded where the request has a place for it. */
export const verdictOf = (
  update: NodeGroupUpdate,
  verb: UpdateVerb,
  by: string | null = null,
): ControlVerdict => {
  const why = notRunning(update);
  return why === undefined ? verdicts[verb](update, by) : { kind: 'refused', text: why };
};

const commands: Readonly<Record<UpdateVerb, (id: string) => string>> = {
  approve: (id) => `drover approve update ${id}`,
  pause: (id) => `drover pause update ${id}`,
  resume: (id) => `drover resume update ${id}`,
  stop: (id) => `drover abort update ${id}`,
  rollback: (id) => `drover abort update ${id} --rollback`,
};

export const actionsOf = (update: NodeGroupUpdate): readonly PageAction[] =>
  updateVerbs.map((verb) => {
    const verdict = verdictOf(update, verb);
    return {
      verb,
      isPossible: verdict.kind === 'patch',
      plan: [verdict.text],
      command: commands[verb](update.metadata.name),
    };
  });

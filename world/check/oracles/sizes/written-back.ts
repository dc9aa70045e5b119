// Write-back: the controller writes a size that others set on the group to the spec. It never
// writes a size that it set itself.
import type { Context, Exemption, Watcher } from '../../oracle.ts';
import { ChangesOfOthers, type WriteBack } from '../../state/changes-of-others.ts';
import { reportedGroup } from '../../state/group-sizes.ts';
import { textOf } from '../../state/read.ts';

export const writtenBackExemptions: readonly Exemption<WriteBack>[] = [
  {
    name: 'rest-of-a-cut-off-size',
    race: 'a larger maximum lets in the rest of a size of others that the maximum had cut off',
    applies: ({ isRestOfCutOff }) => isRestOfCutOff,
  },
  {
    name: 'sizes-not-in-the-trace',
    race: 'the trace of a real API server shows no size of the group, so its author is unknown',
    applies: ({ isSizeKnown }) => !isSizeKnown,
  },
];

export const watchWrittenBack = ({ book, saw, report, isExempt }: Context): Watcher => {
  const changes = new ChangesOfOthers();
  return {
    object: (entry) => {
      const { autoScalingGroup } = (book.isNewVersion ? reportedGroup(entry) : undefined) ?? {};
      if (autoScalingGroup === undefined) return;
      const since = entry.at - book.lagMicros;
      const written = changes.writtenBack(entry.object, autoScalingGroup, since);
      if (written === undefined) return;
      saw();
      if (written.isOfOthers || isExempt(writtenBackExemptions, written)) return;
      const message = `wrote ${written.desired} to the spec, which nobody but we had set`;
      report({ subject: autoScalingGroup, message });
    },
    scaling: (entry) => changes.scaled(entry),
    call: (entry) => {
      const group = book.cloud.instances.get(textOf(entry.input.InstanceId))?.group ?? '';
      changes.called(entry, { isOurs: book.isOurs(entry), group });
    },
  };
};

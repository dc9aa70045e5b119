// The races in which a scale-in may leave fewer instances than the spec requests.
import type { Exemption } from '../../oracle.ts';

export interface ScaleIn {
  /** The controller has already terminated this instance. */
  readonly isRepeated: boolean;
  /** Smallest size that the spec recently requested. */
  readonly requested: number;
  /** The size that the controller noted in `status.requested`. */
  readonly noted: number | undefined;
  /** Remaining instances, including those that others have just terminated. */
  readonly members: number;
  readonly isOfUpdate: boolean;
  /** The group's desired size, and by how much others lowered it within the last minute. */
  readonly desired: number;
  readonly takenByOthers: number;
}

export const scaleInExemptions: readonly Exemption<ScaleIn>[] = [
  {
    name: 'call-repeated',
    race:
      'the answer to the first call was lost, and a call for an instance that goes takes ' +
      'nothing',
    applies: ({ isRepeated }) => isRepeated,
  },
  {
    name: 'instance-of-others-just-went',
    race: 'others terminated an instance so lately that the controller need not have seen it',
    applies: ({ members, requested }) => members >= requested,
  },
  {
    name: 'others-took-one-too',
    race: 'others took an instance that counts as a smaller request once the controller sees it',
    applies: ({ isOfUpdate, desired, takenByOthers, requested }) =>
      isOfUpdate && desired + takenByOthers >= requested,
  },
  {
    name: 'request-not-noted-yet',
    race: 'the spec asks for a larger size that no pass could note while the cloud gave no answer',
    applies: ({ isOfUpdate, desired, takenByOthers, noted, requested }) =>
      isOfUpdate && desired + takenByOthers >= Math.min(requested, noted ?? requested),
  },
];

// Describes an approval annotation whose value approves nothing: the value found and the expected
// one. Pure.

/** `wrongApprovals` recognizes such sentences by these words. */
export const notApprovalWords = ', which approves nothing: ';

const maxShown = 64;

/** Empty if the annotation is not set. */
export const notApproval = (name: string, given: string | undefined, expected: string): string =>
  given === undefined
    ? ''
    : ` (annotation ${name} is "${given.slice(0, maxShown)}"${notApprovalWords}${expected})`;

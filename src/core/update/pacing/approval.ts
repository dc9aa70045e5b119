// An annotation that was meant to approve and does not, in words: what was found, what is expected.
// Pure.

/** By them the sentence is known again. */
export const notApprovalWords = ', which approves nothing: ';

const maxShown = 64;

/** Nothing where nobody has tried. */
export const notApproval = (name: string, given: string | undefined, expected: string): string =>
  given === undefined
    ? ''
    : ` (annotation ${name} is "${given.slice(0, maxShown)}"${notApprovalWords}${expected})`;

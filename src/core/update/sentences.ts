// Sentences of different sources, one after another. Pure.

/** Each that another follows ends in a full stop; the last one stays as it is. */
export const sentences = (parts: readonly string[]): string =>
  parts
    .map((part, i) => (i === parts.length - 1 || /[.!?]\s*$/.test(part) ? part : `${part}.`))
    .join(' ');

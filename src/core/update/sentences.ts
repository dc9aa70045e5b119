// Joins sentences from different sources. Pure.

/** Adds a full stop to each part but the last. */
export const sentences = (parts: readonly string[]): string =>
  parts
    .map((part, i) => (i === parts.length - 1 || /[.!?]\s*$/.test(part) ? part : `${part}.`))
    .join(' ');

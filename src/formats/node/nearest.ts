// Suggests the known name nearest to a mistyped one. Suggests only close matches.
import { editDistance } from '../../api/similar.ts';

export const nearestName = (word: string, known: readonly string[]): string | undefined => {
  const lower = word.toLowerCase();
  let best: string | undefined;
  let far = Math.max(2, Math.floor(word.length / 5)) + 1;
  for (const name of known) {
    if (Math.abs(name.length - word.length) >= far) continue;
    const distance = editDistance(lower, name.toLowerCase());
    if (distance < far) {
      far = distance;
      best = name;
    }
  }
  return best;
};

/** `; did you mean X?`, or nothing. */
export const meant = (word: string, known: readonly string[]): string => {
  const near = nearestName(word, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
};

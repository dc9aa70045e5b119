// The pattern of `parse` with stars: `"user=*, verb:*"`. Each star takes as little as it can; one
// at the end takes the rest.

/** What each star holds, or undefined when the text does not have the pattern's parts in order. */
export type GlobMatch = (text: string) => readonly string[] | undefined;

export const compileGlob = (pattern: string): GlobMatch => {
  const [head = '', ...parts] = pattern.split('*');
  return (text) => {
    const start = text.indexOf(head);
    if (start === -1) return undefined;
    let at = start + head.length;
    const found: string[] = [];
    for (const [index, part] of parts.entries()) {
      const isRest = part === '' && index === parts.length - 1;
      const end = isRest ? text.length : text.indexOf(part, at);
      if (end === -1) return undefined;
      found.push(text.slice(at, end));
      at = end + part.length;
    }
    return found;
  };
};

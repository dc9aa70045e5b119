// The glob pattern of `parse`: `"user=*, verb:*"`. Each star matches as little as possible; a final
// one matches the rest.

/** The text that each star matches, or undefined when the text does not match. */
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

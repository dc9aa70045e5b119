// Finds duplicate members of a JSON text's objects: JSON.parse silently keeps the last. The text
// must be valid JSON; it is read once, without recursion.

interface Frame {
  /** Undefined: a list. */
  readonly names: Set<string> | undefined;
  /** The current member or index. */
  at: string | number;
  isNameNext: boolean;
}

const quote = 34;
const comma = 44;
const openList = 91;
const backslash = 92;
const closeList = 93;
const openObject = 123;
const closeObject = 125;

/** Index of the closing quote of the string that starts at `from`. */
const endOfString = (text: string, from: number): number => {
  let at = from + 1;
  for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(at)) {
    at += code === backslash ? 2 : 1;
    if (at >= text.length) return text.length;
  }
  return at;
};

const pathOf = (frames: readonly Frame[]): string =>
  frames.reduce((path, { names, at }) => {
    if (names === undefined) return `${path}[${at}]`;
    return path === '' ? String(at) : `${path}.${at}`;
  }, '');

/** Reads the member's name where one is expected; true when its object already has it. */
const isAgain = (frame: Frame | undefined, quoted: string): boolean => {
  if (frame?.names === undefined || !frame.isNameNext) return false;
  const name = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
  frame.at = name;
  frame.isNameNext = false;
  if (frame.names.has(name)) return true;
  frame.names.add(name);
  return false;
};

const next = (frame: Frame | undefined): void => {
  if (frame === undefined) return;
  if (typeof frame.at === 'number') frame.at++;
  else frame.isNameNext = true;
};

/** Paths such as `spec.containers[0].image`, each once, in the order of the text. */
export const duplicateMembers = (text: string): readonly string[] => {
  const frames: Frame[] = [];
  const found = new Set<string>();
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at);
        if (isAgain(frames.at(-1), text.slice(at, end + 1))) found.add(pathOf(frames));
        at = end;
        break;
      }
      case openObject:
        frames.push({ names: new Set(), at: '', isNameNext: true });
        break;
      case openList:
        frames.push({ names: undefined, at: 0, isNameNext: false });
        break;
      case closeObject:
      case closeList:
        frames.pop();
        break;
      case comma:
        next(frames.at(-1));
        break;
    }
  }
  return [...found];
};

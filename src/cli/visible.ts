// Text of a log for a terminal: characters that could move the cursor, change the screen or reverse
// the reading direction are shown as escapes. Nothing is omitted.

const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed.
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const shown = (unit: string): string => {
  if (unit === '\n') return '\\n';
  if (unit === '\t') return '\\t';
  if (unit === '\r') return '\\r';
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
};

export const visible = (text: string): string => text.replace(hidden, shown);

/** The same for text of several lines, such as a file's: line breaks and tabs stay. */
export const visibleText = (text: string): string =>
  text.replace(hidden, (unit) => (unit === '\n' || unit === '\t' ? unit : shown(unit)));

/** The same for JSON text, where line breaks separate its parts. */
export const visibleJson = (text: string): string =>
  text.replace(hidden, (unit) => (unit === '\n' ? unit : shown(unit)));

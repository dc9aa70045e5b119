// Errors as one line of text, for logs and conditions. Decides nothing.

/** The chain of causes of an error in one line, for logs. */
export const describeError = (error: unknown): string => {
  const parts: string[] = [];
  for (let at = error; at !== undefined && parts.length < 5; ) {
    if (!(at instanceof Error)) {
      parts.push(String(at));
      break;
    }
    parts.push(`${at.name}: ${at.message}`);
    at = at.cause;
  }
  return parts.join(' <- ');
};

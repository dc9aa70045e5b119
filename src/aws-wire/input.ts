// Typed access to a validated input. The model has already checked types, so a mismatch is a wrong
// member name in a handler: it throws, and the dispatcher reports a defect.

/** Members by their model names; timestamps are epoch milliseconds, blobs Uint8Array. */
export type AwsInput = Readonly<Record<string, unknown>>;

function fail(name: string, expected: string, value: unknown): never {
  throw new Error(`input member ${name}: expected ${expected}, got ${typeof value}`);
}

export function optionalText(input: AwsInput, name: string): string | undefined {
  const value = input[name];
  if (value === undefined || typeof value === 'string') return value;
  return fail(name, 'text', value);
}

/** For members that the model requires or that a handler has checked. */
export function text(input: AwsInput, name: string): string {
  return optionalText(input, name) ?? fail(name, 'text', undefined);
}

/** Integers, longs, floats, and timestamps in epoch milliseconds. */
export function optionalNumber(input: AwsInput, name: string): number | undefined {
  const value = input[name];
  if (value === undefined || typeof value === 'number') return value;
  return fail(name, 'a number', value);
}

export function optionalFlag(input: AwsInput, name: string): boolean | undefined {
  const value = input[name];
  if (value === undefined || typeof value === 'boolean') return value;
  return fail(name, 'a flag', value);
}

export function optionalBytes(input: AwsInput, name: string): Uint8Array | undefined {
  const value = input[name];
  if (value === undefined || value instanceof Uint8Array) return value;
  return fail(name, 'bytes', value);
}

/** A list of strings; empty when absent. Use `name in input` where absent and empty differ. */
export function texts(input: AwsInput, name: string): readonly string[] {
  return list(input, name).map((item) =>
    typeof item === 'string' ? item : fail(name, 'texts', item),
  );
}

/** A list of structures; empty when absent. */
export function structures(input: AwsInput, name: string): readonly AwsInput[] {
  return list(input, name).map((item) =>
    isStructure(item) ? item : fail(name, 'structures', item),
  );
}

export function optionalStructure(input: AwsInput, name: string): AwsInput | undefined {
  const value = input[name];
  if (value === undefined || isStructure(value)) return value;
  return fail(name, 'a structure', value);
}

/** A map of strings; empty when absent. */
export function textMap(input: AwsInput, name: string): Readonly<Record<string, string>> {
  const entries = Object.entries(optionalStructure(input, name) ?? {}).map(
    ([key, value]) =>
      [key, typeof value === 'string' ? value : fail(name, 'texts', value)] as const,
  );
  return Object.fromEntries(entries);
}

function list(input: AwsInput, name: string): readonly unknown[] {
  const value = input[name];
  if (value === undefined) return [];
  return Array.isArray(value) ? value : fail(name, 'a list', value);
}

function isStructure(value: unknown): value is AwsInput {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array)
  );
}

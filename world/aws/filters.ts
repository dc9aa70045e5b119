// Filters of Describe calls: AND over filters, OR over a filter's values, `*` and `?` as wildcards.
// Decides only whether one item matches; the caller's table defines the names.
import { type AwsInput, structures, text, texts } from '../../src/aws-wire/index.ts';
import { refuse } from './scope.ts';

export interface Filter {
  readonly name: string;
  readonly values: readonly string[];
}

/** One reader per filter name; undefined or an empty list matches nothing. */
export type FilterTable<T> = Readonly<
  Record<string, (item: T) => string | readonly string[] | undefined>
>;

export type Tags = Readonly<Record<string, string>>;

/** `Filters` of an EC2 or Auto Scaling input. */
export const readFilters = (input: AwsInput): readonly Filter[] =>
  structures(input, 'Filters').map((filter) => ({
    name: text(filter, 'Name'),
    values: texts(filter, 'Values'),
  }));

export const tagsOf = (input: AwsInput, member = 'Tags'): Tags =>
  Object.fromEntries(
    structures(input, member).map((tag) => [text(tag, 'Key'), String(tag.Value ?? '')]),
  );

/** Tags of the `TagSpecifications` for `resourceType`. */
export const tagSpecification = (input: AwsInput, resourceType: string): Tags =>
  Object.assign(
    {},
    ...structures(input, 'TagSpecifications')
      .filter((specification) => specification.ResourceType === resourceType)
      .map((specification) => tagsOf(specification)),
  );

export const tagList = (tags: Tags): readonly { readonly Key: string; readonly Value: string }[] =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

const toPattern = (value: string): RegExp => {
  const escaped = value.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\*/g, '.*').replace(/\?/g, '.')}$`, 's');
};

/** Built once for all items: a filter may have as many values as there are instances. */
const matcherOf = (values: readonly string[]): ((actual: readonly string[]) => boolean) => {
  const exact = new Set(values.filter((value) => !/[*?]/.test(value)));
  const patterns = values.filter((value) => !exact.has(value)).map(toPattern);
  return (actual) =>
    actual.some((one) => exact.has(one) || patterns.some((pattern) => pattern.test(one)));
};

/** Throws InvalidParameterValue for a filter name that is not in the table, as EC2 does. */
export const applyFilters = <T>(
  items: Iterable<T>,
  filters: readonly Filter[],
  table: FilterTable<T>,
  tagsOfItem: (item: T) => Tags,
): readonly T[] => {
  const tests = filters.map(({ name, values }) => {
    const read = readerOf(name, table, tagsOfItem);
    const matches = matcherOf(values);
    return (item: T): boolean => {
      const actual = read(item);
      return actual !== undefined && matches(typeof actual === 'string' ? [actual] : actual);
    };
  });
  return [...items].filter((item) => tests.every((test) => test(item)));
};

const readerOf = <T>(
  name: string,
  table: FilterTable<T>,
  tagsOfItem: (item: T) => Tags,
): ((item: T) => string | readonly string[] | undefined) => {
  if (name.startsWith('tag:')) return (item) => tagsOfItem(item)[name.slice(4)];
  if (name === 'tag-key') return (item) => Object.keys(tagsOfItem(item));
  const known = Object.hasOwn(table, name) ? table[name] : undefined;
  if (known !== undefined) return known;
  throw refuse('InvalidParameterValue', `The filter '${name}' is invalid`);
};

// Objects without their undefined members, for types with optional members that must not be
// undefined. Copies no value.

type Defined<T extends object> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The members of `value` that are defined, to be spread: `{ a, ...defined({ b, c: d.c }) }`. */
export const defined = <T extends object>(value: T): Defined<T> => {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key in value) {
    const member = value[key];
    if (member !== undefined) kept[key] = member as Exclude<T[typeof key], undefined>;
  }
  return kept;
};

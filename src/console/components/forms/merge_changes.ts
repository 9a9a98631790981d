/** Field that the person and somebody else have both changed, to different values. */
export interface Conflict<Values> {
  readonly field: keyof Values & string;
  readonly mine: unknown;
  readonly theirs: unknown;
}

export interface Merged<Values> {
  /** Values that the form shows: the other person's changes, except where this person has made their own. */
  readonly values: Values;
  /** New base to compare the person's changes with. */
  readonly base: Values;
  readonly conflicts: readonly Conflict<Values>[];
}

/** Merges the person's input with what somebody else has saved since `base`. Nothing of either is lost. */
export function mergeChanges<Values extends object>(base: Values, mine: Values, theirs: Values): Merged<Values> {
  const values = { ...mine };
  const merged = { ...base };
  const conflicts: Conflict<Values>[] = [];
  for (const field of fieldsOf(theirs)) {
    if (isSame(base[field], theirs[field])) continue;
    if (isSame(mine[field], base[field]) || isSame(mine[field], theirs[field])) {
      values[field] = theirs[field];
      merged[field] = theirs[field];
    } else {
      conflicts.push({ field, mine: mine[field], theirs: theirs[field] });
    }
  }
  return { values, base: merged, conflicts };
}

/**
 * Returns the stored values that fit the present form: those of its fields, with a value of the same type. After an
 * update of the console the others are left out.
 */
export function fittingValues<Values extends object>(
  form: Values,
  stored: Readonly<Record<string, unknown>>,
): Partial<Values> {
  const fitting: Partial<Values> = {};
  for (const field of fieldsOf(form)) {
    if (Object.hasOwn(stored, field) && isAlike(form[field], stored[field])) fitting[field] = stored[field];
  }
  return fitting;
}

export function fieldsOf<Values extends object>(values: Values): (keyof Values & string)[] {
  return Object.keys(values) as (keyof Values & string)[];
}

export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Whether a stored value has the type of the expected one. null fits everything, since a field may be empty. */
function isAlike<Value>(expected: Value, value: unknown): value is Value {
  if (expected === null || value === null || expected === undefined) return true;
  return typeof expected === typeof value && Array.isArray(expected) === Array.isArray(value);
}

/** A field that the person and somebody else have both changed, to different values. */
export interface Conflict<Values> {
  readonly field: keyof Values & string;
  readonly mine: unknown;
  readonly theirs: unknown;
}

export interface Merged<Values> {
  /** What the form shows: what somebody else changed, where the person has not. */
  readonly values: Values;
  /** What the person's changes are compared with from now on. */
  readonly base: Values;
  readonly conflicts: readonly Conflict<Values>[];
}

/** Joins what the person has entered with what somebody else has saved since `base`. Nothing of either is lost. */
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
 * The stored values that fit the form of today: those of fields that it has, with a value of the same type. A form that
 * changed with an update of the console leaves the others out.
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

/** null fits everything, since a field may be empty. */
function isAlike<Value>(expected: Value, found: unknown): found is Value {
  if (expected === null || found === null || expected === undefined) return true;
  return typeof expected === typeof found && Array.isArray(expected) === Array.isArray(found);
}

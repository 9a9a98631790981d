import { isDeepStrictEqual } from 'node:util';

import { AppError } from '#kernel/errors.ts';

/**
 * Returns the fields that an editor has changed from what they read. Fields they left alone keep their current value;
 * one that somebody else has set to another value meanwhile is a conflict. Without `basedOn`, returns all of `wanted`.
 */
export function changesSince<Values extends object>(
  basedOn: Readonly<Values> | undefined,
  current: Readonly<Values>,
  wanted: Readonly<Partial<Values>>,
  what: string,
): Partial<Values> {
  if (basedOn === undefined) return wanted;
  const changes: Partial<Values> = {};
  for (const field of Object.keys(wanted) as (keyof Values)[]) {
    const isChangedTo = (value: unknown): boolean => !isDeepStrictEqual(value, basedOn[field]);
    if (!isChangedTo(wanted[field])) continue;
    if (isChangedTo(current[field]) && !isDeepStrictEqual(current[field], wanted[field])) {
      throw new AppError('conflict', `somebody has changed ${what} since you opened it`);
    }
    changes[field] = wanted[field];
  }
  return changes;
}

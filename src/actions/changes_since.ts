import { isDeepStrictEqual } from 'node:util';

import { AppError } from '#kernel/errors.ts';

/**
 * What an editor has changed of what they read. What they left as it was stays as it is now; a field that somebody else
 * has set to another value meanwhile is a conflict. Without `basedOn`, all that is wanted.
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

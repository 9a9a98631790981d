import type { ResultOf } from '#console/api/actions.ts';

export type Frame = ResultOf<'get_exception_group'>['recentEvents'][number]['frames'][number];

/** Returns the name of the function; JavaScript SDKs send a question mark for a function without a name. */
export function functionOf({ function: name }: Frame): string {
  return name === null || name === '?' ? 'anonymous' : name;
}

export function placeOf({ file, module, line, column }: Frame): string {
  const where = file ?? module ?? '';
  if (line === null) return where;
  return column === null ? `${where}:${line}` : `${where}:${line}:${column}`;
}

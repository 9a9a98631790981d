import { type Fault, FAULTS_MAX } from '#kernel/errors.ts';

/** Limit on the nesting of JSON, deeper than any dashboard; it keeps recursive code far from the end of the stack. */
export const LEVELS_MAX = 100;

/**
 * Finds the places of a body that no store can return unchanged, even where its schema allows them: U+0000, which
 * PostgreSQL rejects; half of a surrogate pair, which UTF-8 cannot encode; a number that overflowed; and nesting beyond
 * 100 levels, which is reported alone. Stops at `FAULTS_MAX`.
 */
export function findUnstorable(body: unknown): Fault[] {
  const faults: Fault[] = [];
  return isWithin(body, '', 0, faults) ? faults.slice(0, FAULTS_MAX) : [{ path: '', message: NESTED_TOO_DEEP }];
}

export const NESTED_TOO_DEEP = `must not be nested deeper than ${LEVELS_MAX} levels`;

function isWithin(value: unknown, path: string, level: number, faults: Fault[]): boolean {
  if (level > LEVELS_MAX) return false;
  if (faults.length >= FAULTS_MAX) return true;
  if (typeof value === 'string') judgeText(value, path, faults);
  else if (typeof value === 'number' && !Number.isFinite(value)) {
    faults.push({ path, message: 'must be a number within ±1.7976931348623157e308' });
  }
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item, index) => isWithin(item, `${path}[${index}]`, level + 1, faults));
  return Object.entries(value).every(([name, inner]) => {
    const innerPath = path === '' ? name : `${path}.${name}`;
    judgeText(name, innerPath, faults);
    return isWithin(inner, innerPath, level + 1, faults);
  });
}

function judgeText(text: string, path: string, faults: Fault[]): void {
  if (text.includes('\0')) faults.push({ path, message: 'must not contain the character U+0000' });
  else if (!text.isWellFormed()) faults.push({ path, message: 'must not contain half of a surrogate pair' });
}

import { type Fault, invalidInput } from '#kernel/errors.ts';

/** Result of reading a caller's value. Faults are data, so that one 400 can name those of every property. */
export type Parsed<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'faults'; readonly faults: readonly Fault[] };

export function ok<T>(value: T): Parsed<T> {
  return { kind: 'ok', value };
}

export function fault(path: string, message: string): Parsed<never> {
  return { kind: 'faults', faults: [{ path, message }] };
}

/** Returns the faults, none for a valid value: for callers who collect the faults of a whole body. */
export function faultsOf(parsed: Parsed<unknown>): readonly Fault[] {
  return parsed.kind === 'ok' ? [] : parsed.faults;
}

/** Returns the value, or throws AppError `invalid_input` with the faults. */
export function unwrap<T>(parsed: Parsed<T>): T {
  if (parsed.kind === 'faults') throw invalidInput(parsed.faults);
  return parsed.value;
}

const FOUND_LENGTH_MAX = 60;

/** Returns the caller's own value for a message, cut short. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > FOUND_LENGTH_MAX ? `${text.slice(0, FOUND_LENGTH_MAX)}…` : text;
}

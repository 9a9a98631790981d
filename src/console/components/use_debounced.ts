import { useDebouncedValue } from '@mantine/hooks';

const DELAY_MS = 150;

/** Returns the value once it has stayed the same for a moment: what is searched while somebody types. */
export function useDebounced<Value>(value: Value): Value {
  return useDebouncedValue(value, DELAY_MS)[0];
}

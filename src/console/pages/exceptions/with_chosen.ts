/** Adds the chosen value, so that a value in the address that no longer exists can still be seen and cleared. */
export function withChosen(values: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
}

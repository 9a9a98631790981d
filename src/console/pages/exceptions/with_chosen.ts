/** A value in the address that nothing bears any more can still be seen and cleared. */
export function withChosen(values: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
}

/** Converts to Pascal case: `invalid_input` to `InvalidInput`. */
export function componentName(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Returns the text with another last digit, whichever it has: one that is always the same would be right by chance. */
export function altered(text: string): string {
  return `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`;
}

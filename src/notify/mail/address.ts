/** Returns the address of a sender: `Tocsin <tocsin@example.com>` has it between its brackets. */
export function addressIn(from: string): string {
  return /<([^>]+)>\s*$/.exec(from)?.[1] ?? from;
}

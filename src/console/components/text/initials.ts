/** Returns one or two letters for the avatar of a person. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const [first = '', last = ''] = [words[0], words.length > 1 ? words.at(-1) : ''];
  return `${first.charAt(0)}${last?.charAt(0) ?? ''}`.toUpperCase();
}

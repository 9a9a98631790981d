export const LINKS_MAX = 20;
const LINK_LENGTH_MAX = 2_048;
const LINK_TEXT_LENGTH_MAX = 200;

/** A web address, or null for anything else: a link that is shown must not run a script. */
function webAddress(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > LINK_LENGTH_MAX) return null;
  try {
    const url = new URL(text.trim());
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
  } catch {
    return null;
  }
}

/** The links that may be shown, at most 20. */
export function cutLinks(
  links: Iterable<{ readonly href: unknown; readonly text?: unknown }>,
): { readonly href: string; readonly text: string }[] {
  const kept = new Map<string, { readonly href: string; readonly text: string }>();
  for (const { href, text } of links) {
    const address = webAddress(href);
    if (address === null || kept.has(address)) continue;
    const words = typeof text === 'string' && text.trim() !== '' ? text : address;
    kept.set(address, { href: address, text: wholeCharacters(storable(words).trim(), LINK_TEXT_LENGTH_MAX) });
    if (kept.size === LINKS_MAX) break;
  }
  return [...kept.values()];
}

/** PostgreSQL stores neither a NUL nor half a surrogate pair. */
export function storable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\0', '\u{FFFD}')
    .replaceAll(String.raw`\u0000`, String.raw`\ufffd`);
}

/** The first characters of a text, none of them halved. */
export function wholeCharacters(text: string, length: number): string {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length;
  return text.slice(0, end);
}

import { withoutLinks } from '#notify/texts/without_links.ts';

/** Space of no width, which ends a name that a chat would take for a mention. */
const NO_WIDTH = '\u200B';

/** Returns a text in which no chat finds a link or a mention. */
export function plainText(text: string): string {
  return withoutLinks(text.toWellFormed()).replaceAll('@', `@${NO_WIDTH}`);
}

/** Escapes a text letter by letter up to a length; an escape is never cut in the middle. */
export function escapedWithin(text: string, lengthMax: number, escape: (letter: string) => string): string {
  let escaped = '';
  for (const letter of plainText(text)) {
    const next = escape(letter);
    if (escaped.length + next.length > lengthMax - 1) return `${escaped}…`;
    escaped += next;
  }
  return escaped;
}

/** Escapes a text for Markdown as Discord and Mattermost read it, within a length. */
export function markdownWithin(text: string, lengthMax: number): string {
  return escapedWithin(text, lengthMax, (letter) => (/[\\`*_~|<>[\]()#]/.test(letter) ? `\\${letter}` : letter));
}

/** Reads JSON that a vendor sends; an empty object for anything else. */
export function parseFields(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Returns a text or number as a text that can be stored; empty for anything else. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed();
  return typeof value === 'number' ? String(value) : '';
}

/**
 * Invisible characters, and those that change how the text after them is read; the joiners are part of how some scripts
 * are written.
 */
const HIDDEN = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Returns the text of an agent with its control characters, and those that change the direction, as escapes: `\u202e`.
 * Nobody approves anything but what they read.
 */
export function visibleText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(HIDDEN, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** Returns a value as JSON in which everything can be seen; with `indent` on several lines. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).split('\n').map(visibleText).join('\n');
}

/** Quotes a text so that it cannot end the quotation by itself. */
export function quoted(text: string): string {
  return `"${visibleText(text).replaceAll(/["“”„«»]/g, "'")}"`;
}

import { withoutLinks } from '#notify/texts/without_links.ts';

/**
 * Escapes a text that a sender wrote for Slack: nothing in it is a mention, a link or a command. Slack reads these out
 * of `<…>` alone; a bare address would become a link, so it is spelled otherwise.
 */
export function slackText(text: string): string {
  return withoutLinks(text.toWellFormed()).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Escapes a text within a limit; it is never cut in the middle of an escape. */
export function slackTextWithin(text: string, lengthMax: number): string {
  let escaped = '';
  for (const letter of withoutLinks(text.toWellFormed())) {
    const next = slackText(letter);
    if (escaped.length + next.length > lengthMax - 1) return `${escaped}…`;
    escaped += next;
  }
  return escaped;
}

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

/** Part of a text of Slack in angle brackets: an address, a mention or a command, with its label if it has one. */
const BRACKETS = /<([^<>|]*)(?:\|([^<>]*))?>/g;

/** Reads a text that somebody wrote in Slack: mentions and links become what people see, and escapes are undone. */
export function plainSlackText(text: string): string {
  return text
    .replaceAll(BRACKETS, (_all, target: string, label?: string) => bracketText(target, label ?? ''))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll('\0', '')
    .toWellFormed();
}

/** Beginnings of addresses; Slack puts them before an address that somebody wrote without. */
const SCHEMES = ['', 'http://', 'https://', 'mailto:'];

function bracketText(target: string, label: string): string {
  const name = target.slice(1);
  switch (target.charAt(0)) {
    case '@':
      return `@${label || name}`;
    case '#':
      return `#${label || name}`;
    case '!':
      return label || `@${name}`;
    default:
      if (label === '') return target;
      return SCHEMES.some((scheme) => `${scheme}${label}` === target) ? label : `${label} (${target})`;
  }
}

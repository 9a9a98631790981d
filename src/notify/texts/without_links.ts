import tlds from 'tlds' with { type: 'json' };

/** Characters that separate labels of a host name. */
const DOTS = '.\u3002\uFF0E\uFF61';

const TOP_LEVEL: ReadonlySet<string> = new Set(tlds);

/** An address of any scheme; what would call, write to or run something without one. */
const SCHEME = /([\p{L}][\p{L}\p{N}+.-]{0,30}):\/\/ ?([^\s/?#]*)/gu;
const BARE_SCHEME = /\b(mailto|tel|sms|smsto|facetime|data|javascript|vbscript|intent|geo|xmpp):(?=\S)/gi;

/** Labels with dots between them. Begins at the edge of a label, so that a long text without dots takes linear time. */
const HOST = new RegExp(`(?<![\\p{L}\\p{N}_-])[\\p{L}\\p{N}_-]+(?:[${DOTS}][\\p{L}\\p{N}_-]+)+`, 'gu');

/** Characters that turn the direction of what follows: they show a text otherwise than it is. */
const DIRECTIONS = /[\u202A-\u202E\u2066-\u2069]/g;

/**
 * The text with nothing in it that a phone or a mail program would make a link of. Titles of incidents are what senders
 * wrote: anybody who has seen a DSN could otherwise have us send a link of theirs to the people on call.
 *
 * It reads as people write such addresses to each other, in letters that an SMS has: `https:// evil(.)example/login`. Names
 * with dots in them that are no hosts, such as `checkout.latency` or `java.lang.Error`, stay as they are. Done again it
 * changes nothing; it has to be done again when the text was cut, which may have made a host of a longer name.
 */
export function withoutLinks(text: string): string {
  return text
    .replaceAll(DIRECTIONS, '')
    .replaceAll(SCHEME, (_, scheme: string, host: string) => `${scheme}:// ${withoutDots(host)}`)
    .replaceAll(BARE_SCHEME, '$1: ')
    .replaceAll(HOST, (name) => (isHost(name) ? withoutDots(name) : name));
}

/** Puts the dots of a name in parentheses; leaves those that already are. */
function withoutDots(name: string): string {
  return name.replaceAll(new RegExp(`(?<!\\()[${DOTS}](?!\\))`, 'g'), '(.)');
}

function isHost(name: string): boolean {
  const labels = name
    .normalize('NFKC')
    .toLowerCase()
    .split(new RegExp(`[${DOTS}]`));
  const isAddress = labels.length === 4 && labels.every((label) => /^\d{1,3}$/.test(label));
  return isAddress || labels[0] === 'www' || TOP_LEVEL.has(labels.at(-1) ?? '');
}

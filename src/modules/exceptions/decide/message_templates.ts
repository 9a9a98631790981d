/** Placeholder where the messages of a template differ. */
const WILDCARD = '<*>';

/** The common form of messages without a stack. Its key is that of the first of them, and never changes. */
export interface MessageTemplate {
  readonly key: string;
  readonly tokens: readonly string[];
  /** Whether a person has split it off: then it stays as it is, and comes first. */
  readonly isPinned: boolean;
}

/** Result of learning a message among the templates of its service. */
export interface Learnt {
  /** Template of the message, as it is from now on. */
  readonly template: MessageTemplate;
  readonly change: 'none' | 'added' | 'generalized';
  /** Keys of the templates that it has come to cover: their messages are its own from now on. */
  readonly absorbed: readonly string[];
}

const TOKENS_MAX = 80;
/** Token: a word, a separator, or a word with placeholders in it. */
const TOKEN = /(?:<[a-z*]{1,12}>|[^\s=:,;()[\]{}"'|<>])+|[=:,;()[\]{}"'|<>]/g;
const PLACEHOLDER = /<[a-z*]{1,12}>/;

/** Returns the words and separators of a masked message. */
export function tokensOfMessage(masked: string): readonly string[] {
  return (masked.match(TOKEN) ?? []).slice(0, TOKENS_MAX);
}

/** Returns a template as a person reads it. */
export function textOfTemplate(tokens: readonly string[]): string {
  return tokens
    .join(' ')
    .replaceAll(/ ([,:;)\]}])/g, '$1')
    .replaceAll(/([([{]) /g, '$1')
    .replaceAll(/ ?([=|]) ?/g, '$1');
}

/**
 * Returns the bucket of a message. Messages of different buckets never have a template in common: few are compared with
 * a message. Those that were reported in different places, if places are known, are different messages.
 */
export function bucketOf(tokens: readonly string[], place: string | null = null): string {
  const first = tokens[0] ?? '';
  const bucket = `${tokens.length} ${isVariable(first) ? WILDCARD : first.slice(0, 60)}`;
  return place === null ? bucket : `${bucket} @${place}`;
}

/** Returns the bucket of the messages that people have split off a group of stacks. */
export function bucketOfSplits(place: string): string {
  return `split @${place}`;
}

/** Limit on the learnt templates of a bucket: beyond it, every other message is one of its own. */
const BUCKET_TEMPLATES_MAX = 100;

/**
 * Learns the template of a message, among those of its bucket in the order in which they were learnt. A message that
 * none of them covers extends the first from which it differs only where variables stand; or where so many others
 * differ already that the place must be a variable. Else it begins one. The same templates and message give the same
 * answer everywhere.
 */
export function learnMessage(
  templates: readonly MessageTemplate[],
  { key, tokens }: Pick<MessageTemplate, 'key' | 'tokens'>,
): Learnt {
  const compared = templates.flatMap((template): Compared[] => {
    const places = placesOfDifference(template.tokens, tokens);
    return places === null ? [] : [{ template, places }];
  });
  const covering = templateOf(templates, tokens);
  if (covering !== undefined) return { template: covering, change: 'none', absorbed: [] };
  const free = compared.filter(({ template }) => !template.isPinned);
  const alike = free.find(({ template, places }) => differsOnlyInVariables(template.tokens, tokens, places));
  const extended = alike ?? minedPlace(free);
  if (extended === undefined) {
    const change = templates.length < BUCKET_TEMPLATES_MAX ? 'added' : 'none';
    return { template: { key, tokens, isPinned: false }, change, absorbed: [] };
  }
  const template = generalized(extended);
  const taken = templates.filter((other) => other.key !== template.key && isCovered(template.tokens, other));
  return { template, change: 'generalized', absorbed: taken.map((other) => other.key) };
}

/** Returns the template that covers a message as it is; one that a person has split off comes first. */
export function templateOf(
  templates: readonly MessageTemplate[],
  tokens: readonly string[],
): MessageTemplate | undefined {
  const covering = templates.filter((template) => placesOfDifference(template.tokens, tokens)?.length === 0);
  return covering.find(({ isPinned }) => isPinned) ?? covering[0];
}

interface Compared {
  readonly template: MessageTemplate;
  readonly places: readonly number[];
}

/** Returns the places where a message differs from the template; a wildcard never differs. Null for another length. */
function placesOfDifference(template: readonly string[], tokens: readonly string[]): readonly number[] | null {
  if (template.length !== tokens.length) return null;
  return template.flatMap((token, place) => (token === WILDCARD || token === tokens[place] ? [] : [place]));
}

function generalized({ template: { key, tokens, isPinned }, places }: Compared): MessageTemplate {
  return { key, tokens: tokens.map((token, place) => (places.includes(place) ? WILDCARD : token)), isPinned };
}

function isCovered(template: readonly string[], { tokens, isPinned }: MessageTemplate): boolean {
  return !isPinned && placesOfDifference(template, tokens)?.length === 0;
}

/** Whether the messages differ only in variables: at least as many words stay the same as differ. */
function differsOnlyInVariables(
  template: readonly string[],
  tokens: readonly string[],
  places: readonly number[],
): boolean {
  const same = template.filter((token, place) => !places.includes(place) && isWord(token)).length;
  if (same === 0 || same < places.length) return false;
  return places.every(
    (place) => isVariable(template[place] ?? '') || isVariable(tokens[place] ?? '') || isPlaceOfVariable(tokens, place),
  );
}

/** Whether the token is a placeholder, a word with digits, or a name with a sign in it: `eth0`, `shop_a`, `/a/b`. */
function isVariable(token: string): boolean {
  return PLACEHOLDER.test(token) || /\d|\w[_/\\@$#+~]+\w|^[/~]/.test(token);
}

function isWord(token: string): boolean {
  return /\p{L}{2}/u.test(token) && !PLACEHOLDER.test(token);
}

/** Words that precede a name. */
const BEFORE_NAMES = /^(?:r?user(?:name)?|r?host(?:name)?|login|logname|account|named|called|uid|tty)$/i;
const QUOTES = /^["']$/;

function isPlaceOfVariable(tokens: readonly string[], place: number): boolean {
  const [before = '', after = ''] = [tokens[place - 1], tokens[place + 1]];
  if (before === '=' || BEFORE_NAMES.test(before)) return true;
  return QUOTES.test(before) && before === after;
}

/** Number of templates differing in the same one word that shows that it is a variable. */
const SIBLINGS = 3;
/** Number of words that a template must exceed: in short ones the different word may be all that tells them apart. */
const WORDS_SHARED = 2;

function minedPlace(compared: readonly Compared[]): Compared | undefined {
  const single = compared.filter(
    ({ template, places: [place = -1, ...others] }) =>
      place >= 0 && others.length === 0 && template.tokens.filter(isWord).length > WORDS_SHARED,
  );
  const byPlace = Map.groupBy(single, ({ places }) => places[0]);
  return [...byPlace.values()].find((siblings) => siblings.length >= SIBLINGS)?.[0];
}

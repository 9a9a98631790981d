/** Stands where the messages of a template differ. */
const WILDCARD = '<*>';

/** What messages without a stack have in common. Its key is that of the first of them, for ever. */
export interface MessageTemplate {
  readonly key: string;
  readonly tokens: readonly string[];
  /** A person has split it off: it stays as it is, and comes first. */
  readonly isPinned: boolean;
}

/** What a message is to the templates of its service. */
export interface Learnt {
  /** The template that the message belongs to, as it is from now on. */
  readonly template: MessageTemplate;
  readonly change: 'none' | 'added' | 'generalized';
  /** Keys of the templates that it has come to cover: their messages are its own from now on. */
  readonly absorbed: readonly string[];
}

const TOKENS_MAX = 80;
/** Words, what stands between them, and words with placeholders in them, each as one. */
const TOKEN = /(?:<[a-z*]{1,12}>|[^\s=:,;()[\]{}"'|<>])+|[=:,;()[\]{}"'|<>]/g;
const PLACEHOLDER = /<[a-z*]{1,12}>/;

/** The words of a masked message, and what stands between them. */
export function tokensOfMessage(masked: string): readonly string[] {
  return (masked.match(TOKEN) ?? []).slice(0, TOKENS_MAX);
}

/** A template as a person reads it. */
export function textOfTemplate(tokens: readonly string[]): string {
  return tokens
    .join(' ')
    .replaceAll(/ ([,:;)\]}])/g, '$1')
    .replaceAll(/([([{]) /g, '$1')
    .replaceAll(/ ?([=|]) ?/g, '$1');
}

/**
 * Messages of different buckets never have a template in common: what is compared with a message stays small. Those that
 * were reported in different places, where places are known, are different messages.
 */
export function bucketOf(tokens: readonly string[], place: string | null = null): string {
  const first = tokens[0] ?? '';
  const bucket = `${tokens.length} ${isVariable(first) ? WILDCARD : first.slice(0, 60)}`;
  return place === null ? bucket : `${bucket} @${place}`;
}

/** The bucket of what people have split off a group of stacks. */
export function bucketOfSplits(place: string): string {
  return `split @${place}`;
}

/** Templates of a bucket beyond which no more are learnt: every other message is one of its own. */
const BUCKET_TEMPLATES_MAX = 100;

/**
 * The template of a message, among those of its bucket in the order in which they were learnt. A message that none of
 * them covers extends the first from which it differs only where variables stand; or where so many others differ already
 * that the place must be a variable. Else it begins one. The same templates and message give the same answer everywhere.
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

/** The template that covers a message as it is; one that a person has split off comes first. */
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

/** The places where a message is not what the template says; a wildcard says nothing. Null for another length. */
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

/** Of the words that stay, at least so many as of those that change. */
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

/** Placeholders, words with digits, and names with a sign in them: `eth0`, `shop_a`, `/a/b`. */
function isVariable(token: string): boolean {
  return PLACEHOLDER.test(token) || /\d|\w[_/\\@$#+~]+\w|^[/~]/.test(token);
}

function isWord(token: string): boolean {
  return /\p{L}{2}/u.test(token) && !PLACEHOLDER.test(token);
}

/** Behind these words stands a name. */
const BEFORE_NAMES = /^(?:r?user(?:name)?|r?host(?:name)?|login|logname|account|named|called|uid|tty)$/i;
const QUOTES = /^["']$/;

function isPlaceOfVariable(tokens: readonly string[], place: number): boolean {
  const [before = '', after = ''] = [tokens[place - 1], tokens[place + 1]];
  if (before === '=' || BEFORE_NAMES.test(before)) return true;
  return QUOTES.test(before) && before === after;
}

/** So many templates that differ in one and the same word show that it is a variable. */
const SIBLINGS = 3;
/** Of short messages the one word may be all that tells them apart. */
const WORDS_SHARED = 2;

function minedPlace(compared: readonly Compared[]): Compared | undefined {
  const single = compared.filter(
    ({ template, places: [place = -1, ...others] }) =>
      place >= 0 && others.length === 0 && template.tokens.filter(isWord).length > WORDS_SHARED,
  );
  const byPlace = Map.groupBy(single, ({ places }) => places[0]);
  return [...byPlace.values()].find((siblings) => siblings.length >= SIBLINGS)?.[0];
}

import { KnownTexts } from '#kernel/string_interner.ts';
import { isSecretMember, isSecretName } from '#modules/exceptions/decide/secret_names.ts';
import {
  withoutCommands,
  withoutRows,
  withoutSaid,
  withoutStatements,
} from '#modules/exceptions/decide/statement_secrets.ts';
import { replaceCards, replaceTokens } from '#modules/exceptions/decide/token_forms.ts';

/*
 * Removes secrets from the data that senders put into events. Every step is linear in the text: patterns
 * begin at the edge of a run and repeat a bounded number of times, or over characters that cannot end the repetition.
 */

export const FILTERED = '[filtered]';

/** Classes of characters. A dash joins words and digits alike. */
const [WORD, DIGIT, SPACER, MARK] = [1, 2, 4, 8];
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (/\d/.test(char)) return WORD | DIGIT;
  if (/[A-Za-z_]/.test(char)) return WORD;
  if (char === '-') return WORD | SPACER;
  if (char === ' ') return SPACER;
  return /[=:@<>([{]/.test(char) ? MARK : 0;
});
const RUN_LEAST = 16;
/** Least number of dashes in a row, as in `---- BEGIN`. */
const DASHES_LEAST = 4;
const CARD_DIGITS_LEAST = 13;

const cleanTexts = new KnownTexts();

/** Removes secrets from a text. Most come again and again: to know them halves the time to read an event. */
export function withoutSecrets(text: string): string {
  return cleanTexts.has(text) ? text : cleanTexts.addIfSame(text, removeSecrets(text));
}

function removeSecrets(text: string): string {
  let digits = 0;
  let hasDigits = false;
  let hasMark = false;
  let hasDigit = false;
  for (let at = 0; at < text.length; at += 1) {
    const kind = CLASSES[text.charCodeAt(at)] ?? 0;
    if ((kind & DIGIT) !== 0) {
      digits += 1;
      hasDigit = true;
    } else if ((kind & SPACER) === 0) digits = 0;
    if (digits >= CARD_DIGITS_LEAST) hasDigits = true;
    if ((kind & MARK) !== 0) hasMark = true;
  }
  const listed =
    text.includes('[') && LISTED_ARGUMENT.some((part) => text.includes(part))
      ? text.replace(LISTED, withoutListed)
      : text;
  let clean = hasKeyRun(listed) ? withoutKeys(listed) : listed;
  if (hasMark || clean.includes('：')) clean = withoutNamed(clean, isSecretName);
  clean = withoutArguments(clean, isSecretName);
  clean = withoutCommands(withoutStatements(clean, FILTERED), FILTERED);
  if (hasDigit) clean = withoutSaid(clean, FILTERED);
  return hasDigits ? replaceCards(clean) : clean;
}

/** Arguments as Python, Ruby and JavaScript show a list of them: `['mysqldump', '-phunter2', 'shop']`. */
const LISTED_ARGUMENT = [`', '-`, `", "-`, `','-`, `","-`];
const LISTED = /\[(?:'[^'\n\\]{0,300}'|"[^"\n\\]{0,300}")(?:, ?(?:'[^'\n\\]{0,300}'|"[^"\n\\]{0,300}")){1,60}\]/g;

function withoutListed(list: string): string {
  const quoted = [...list.matchAll(/'[^']*'|"[^"]*"/g)].map(([entry]) => entry);
  const clean = withoutSecretArguments(quoted.map((entry) => entry.slice(1, -1)));
  let nth = 0;
  return list.replaceAll(/'[^']*'|"[^"]*"/g, (entry) => `${entry[0] ?? ''}${clean[nth++] ?? ''}${entry.at(-1) ?? ''}`);
}

/** Blank within an argument, while arguments stand in one line. */
const HELD_BLANK = '\u2420';

/** Returns the arguments of a command without secrets, as those of a command line. */
export function withoutSecretArguments(list: readonly string[]): readonly string[] {
  const line = list.map((entry) => entry.replaceAll(' ', HELD_BLANK)).join(' ');
  const clean = withoutSecrets(line).split(' ');
  return clean.length === list.length ? clean.map((entry) => entry.replaceAll(HELD_BLANK, ' ')) : list;
}

type IsSecret = (name: string) => boolean;

/** Removes the values of these names from a text, in whatever form of a language, an address or a command they stand. */
export function withoutValuesOf(text: string, isSecret: IsSecret): string {
  return withoutArguments(withoutNamed(text, isSecret), isSecret);
}

/** Removes values from escaped addresses and from settings of command lines. */
function withoutArguments(text: string, isSecret: IsSecret): string {
  const hide = (whole: string, name: string, between: string): string =>
    isSecret(name) ? `${name}${between}${FILTERED}` : whole;
  const clean = text.includes('%3') || text.includes('%253') ? text.replace(ENCODED, hide) : text;
  return clean.includes(' -') || clean.startsWith('-') ? clean.replace(FLAG, hide) : clean;
}

/**
 * Removes from a line of source only the secrets that show by their form: `login(token=token)` holds none, and tells
 * where it went wrong.
 */
export function withoutTokens(line: string): string {
  return hasKeyRun(line) ? withoutKeys(line) : line;
}

/** Whether so many characters of words follow each other, a digit or a row of dashes among them. */
function hasKeyRun(text: string): boolean {
  let run = 0;
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) {
    const kind = CLASSES[text.charCodeAt(at)] ?? 0;
    if ((kind & WORD) === 0) {
      run = 0;
      marks = 0;
      continue;
    }
    run += 1;
    if ((kind & (DIGIT | SPACER)) !== 0) marks += 1;
    if ((run >= RUN_LEAST && marks > 0) || marks >= DASHES_LEAST) return true;
  }
  return false;
}

const WEBHOOK =
  /(hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/|webhook\.office\.com\/webhookb2\/)[\w/@-]{8,400}/g;
/** Ways to authenticate before their value, also as the subprotocol of a WebSocket has it: `bearer.…`. */
const SCHEME = /\b(Bearer|Basic|Digest|Token)( {1,4}|(?<=bearer)\.(?:authorization\.k8s\.io\.)?)([\w.~+/=-]{12,})/gi;
const KEY_BLOCK = '----';

function withoutKeys(text: string): string {
  const clean = replaceTokens(text, FILTERED).replace(
    SCHEME,
    (whole: string, scheme: string, blanks: string, value: string) =>
      seemsRandom(value) ? `${scheme}${blanks}${FILTERED}` : whole,
  );
  const blocks = clean.includes(KEY_BLOCK) ? withoutKeyBlocks(clean) : clean;
  return blocks.includes('Private-Lines: ') ? blocks.replace(PUTTY_KEY, FILTERED) : blocks;
}

/** Private part of a key as PuTTY writes it. */
const PUTTY_KEY = /(?<=Private-Lines: \d{1,4}\s{1,2})[\w+/=\s]{4,20000}?(?=Private-MAC|[^\w+/=\s]|$)/g;

const KEY_BLOCK_BEGIN = /^----[- ]BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?[ -]----/;
const KEY_BLOCK_END = /----[- ]END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?[ -]----/g;

function withoutKeyBlocks(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (let begin = text.indexOf(KEY_BLOCK); begin !== -1; begin = text.indexOf(KEY_BLOCK, Math.max(at, begin + 1))) {
    if (!KEY_BLOCK_BEGIN.test(text.slice(begin, begin + 80))) continue;
    parts.push(text.slice(at, begin), FILTERED);
    KEY_BLOCK_END.lastIndex = begin;
    const end = KEY_BLOCK_END.exec(text);
    at = end === null ? text.length : end.index + end[0].length;
    if (end === null) break;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

/** Characters of a name, also in other scripts than ours: `contraseña`, `密码`. */
const NAME = String.raw`[\w.%[\]\u00c0-\u024f\u0300-\u06ff\u0900-\u0e7f\u1e00-\u1eff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af-]{2,100}`;
/** Opening quote, with the backslashes before it if the text is within another. */
const QUOTE = String.raw`\\{0,7}["']`;
/** Signs before a quoted value: the letters of `b'…'`, or `<<` as in Erlang. */
const BEFORE_QUOTE = String.raw`(?:[bBuUrRN]{0,2}|<<)`;
/**
 * Assignments such as `token=…`, `"password" : "…"`, `:password=>"…"`, `X-Api-Key: …`, `"u"."token" = '…'`, with the call
 * around a quoted value, as in `Some("…")`, or the type and length that `var_dump` of PHP writes before it.
 */
const ASSIGNED = new RegExp(
  String.raw`(?<![\w%\]\u00c0-\uffff-]|\.(?!["\x60])|\[(?!["'\\]))(\\{0,7}["'\x60]?)(${NAME})\1(?:(?<=["'])\])?( {0,2}:?=>? {0,2}| {0,2}[:：] ?| {0,2}-> {0,2})(?:\s{0,40}string\(\d{1,9}\) )?(?:(?:[A-Za-z][\w.]{0,40}\()?${BEFORE_QUOTE}(${QUOTE}))?`,
  'g',
);
/** Pairs such as `('password', '…')` of Python, `{:password, "…"}` of Elixir and `{<<"password">>, <<"…">>}` of Erlang. */
const PAIRED = new RegExp(
  String.raw`(?<=[([{] ?(?:[bBuUrR]{0,2}|<<|:))(${QUOTE}|(?<=\{:?))(${NAME})\1(?:>>)?(, ?)(?:${BEFORE_QUOTE}(${QUOTE}))`,
  'g',
);
/** Assignments of R: `password <- "…"`. */
const ARROW = new RegExp(String.raw`(?<![\w.])()([\w.]{2,100})( {0,2}<- {1,2})(${QUOTE})`, 'g');
/** Members of a map of Clojure or a list of Lisp: `{:password "…"}`. */
const KEYWORD = /(?<=[{ ,(]:)()([\w.-]{2,100})( )(\\{0,7}["])/g;
/** Parameters and JSON within an address, escaped once or twice: `next=%2Flogin%3Ftoken%3D…`, `%22token%22%3A%22…`. */
const ENCODED =
  /(?<=^|%(?:25)?(?:3f|26|22|7b|2c)|[^\w.%-])([\w.-]{2,100})((?:%(?:25)?22)?%(?:25)?3[ad](?:%(?:25)?2[02]){0,2})(?!\[filtered\])(?:%(?!(?:25)?(?:26|22|2c|7d))|[^%\s&#;,"'<>)}\]]){1,400}/gi;
/** A field of a form that is sent in parts: its name, further headers, an empty line and its value. */
const PART = /(?<=\bname="([^"\r\n]{2,100})"[^\r\n]{0,200}(?:\r?\n[^\r\n]{1,200}){0,2}\r?\n\r?\n)[^\r\n]+/g;
/** A setting of a command line: `--password1 …`; a plain word behind it rather belongs to a sentence. */
const FLAG = /(?<=(?:^|\s)--?)([\w-]{2,100})( {1,4})(?![-\s]|[a-z]+\b)(?:"[^"]{1,200}"|'[^']{1,200}'|[^\s"']{1,200})/g;

const HEADER_NAME = /^(?:authorization|cookie)$|-/i;
const VALUE_END = /[\s&#;,"'<>)}\]]/g;
/** Elements such as `<password>…</password>` and `<entry key="db.password">…</entry>`. */
const ELEMENT = /<([\w:.-]{2,100})(\s[^<>]{0,200})?>(?:<!\[CDATA\[[^\]]{1,4000}\]\]>|[^<]{1,4000})<\/\1>/g;
/** Attributes that name the value of an element. */
const NAMING = /\b(?:name|id|key|type)\s?=\s?["']([^"']{2,100})/gi;
/** Tags with a name and a value, in any order: `<input value="…" type="password" name="password1">`. */
const TAG = /<[a-z][^<>]{1,2000}>/gi;
/** Entries of a list of YAML: a line `name: PASSWORD1`, and the next with its value. */
const ENTRY = /(\bname: ?["']?([\w.-]{2,100})["']?\r?\n\s{0,40}value: ?["']?)[^\r\n"']{1,4000}/g;
const LINE_END = /[\r\n"']/g;
/** Type of a list as Go writes it in headers and forms: `[]string{"…"}`. */
const TYPED = /^\[\d{0,9}\][\w.]{1,40}(?=\{)/;
const TYPE_LENGTH_MAX = 60;
/** Ways to authenticate whose parameters are in quotes: `Authorization: Digest username="…", response="…"`. */
const PARAMETERS = /^(?:digest|oauth|hawk|signature|aws4)\b/i;
/** Password of an address, also with signs that ought to be escaped there. */
const CREDENTIALS = /(?<=[a-z0-9]:\/\/[^\s/?#@:]{0,200}:)[^\s/?"'<>]{1,200}(?=@)/gi;
/** Token in place of a user, as in `https://…@github.com`; the key of a DSN, with a project behind its host, is public. */
const TOKEN_AS_USER = /(?<=[a-z0-9]:\/\/)\w{12,200}(?=@(?![^\s/"']{1,200}\/\d{1,20}(?![\w/.-])))/gi;
/** Fields as objects or elements: `{"name":"password1","value":"…"}`, `<add key="password1" value="…"/>`. */
const FIELD =
  /(\b(?:name|key)\\{0,7}["']?\s?[:=]\s?\\{0,7}["']([\w.%[\]-]{2,100})\\{0,7}["'],?\s{0,20}\\{0,7}["']?value\\{0,7}["']?\s?[:=]\s?\\{0,7}["'])[^"'\\]{1,4000}/g;
/** Members as PHP serializes them: `s:8:"password";s:7:"hunter2";`. */
const SERIALIZED = /(\bs:\d{1,9}:\\{0,7}"([\w.%[\]-]{2,100})\\{0,7}";s:\d{1,9}:\\{0,7}")[^"\\]{1,4000}/g;
/** Block of YAML: `password: |`, and the lines that are set in below. */
const BLOCK =
  /(?<=^|\n)([ \t]{0,40}(?:- )?["']?([\w.-]{2,100})["']?: {0,4}[|>][+-]?[ \t]{0,4}\r?\n)(?:[ \t]{1,40}[^\s][^\n]{0,400}(?:\n|$)){1,200}/g;
/** Login of curl and its like: `-u admin:…`; `-u 1000:1000` names a user and a group. */
const LOGIN = /(?<=\s)(-u|--user)([ =]["']?(?!\d{1,9}:\d)[^\s:"'/]{1,100}:)[^\s"']{1,200}/g;

function withoutNamed(text: string, isSecret: IsSecret): string {
  const assigned = withoutValues(text, ASSIGNED, isSecret);
  const isPaired = /[([{] ?(?:(?:[bBuUrR]{0,2}|<<)\\{0,7}["']|:?\w{2,100}, ?(?:<<)?["'])/.test(assigned);
  const arrowed = assigned.includes('<- ') ? withoutValues(assigned, ARROW, isSecret) : assigned;
  const paired = isPaired ? withoutValues(arrowed, PAIRED, isSecret) : arrowed;
  const edn = paired.includes('{:') || paired.includes('(:') ? withoutValues(paired, KEYWORD, isSecret) : paired;
  const parted = edn.includes('name="')
    ? edn.replace(PART, (value: string, name: string) => (isSecret(name) ? FILTERED : value))
    : edn;
  const hide = hiding(isSecret);
  const blocks =
    parted.includes('\n') && /[|>][+-]?\s{0,4}\n/.test(parted)
      ? parted.replace(BLOCK, (...found: [string, string, string]) =>
          isSecret(found[2]) ? `${hide(...found)}\n` : found[0],
        )
      : parted;
  const unserialized = blocks.includes('";s:') ? blocks.replace(SERIALIZED, hide) : blocks;
  const fielded = unserialized.includes('value') ? withoutFields(unserialized, isSecret) : unserialized;
  const logged = fielded.includes(' -') ? fielded.replace(LOGIN, `$1$2${FILTERED}`) : fielded;
  const clean = logged.includes('</')
    ? logged.replace(ELEMENT, (whole: string, name: string, attributes: string = '') =>
        isSecret(name) || [...attributes.matchAll(NAMING)].some(([, named = '']) => isSecret(named))
          ? `<${name}${attributes}>${FILTERED}</${name}>`
          : whole,
      )
    : logged;
  const rows =
    clean.includes(')=(') || /\)\s{0,5}values?\s{0,5}\(/i.test(clean) ? withoutRows(clean, FILTERED, isSecret) : clean;
  return rows.includes('://') ? withoutCredentials(rows) : rows;
}

function withoutCredentials(clean: string): string {
  const address = clean.includes('@')
    ? clean.replace(CREDENTIALS, FILTERED).replace(TOKEN_AS_USER, (user) => (seemsToken(user) ? FILTERED : user))
    : clean;
  return address.includes('hook') ? address.replace(WEBHOOK, `$1${FILTERED}`) : address;
}

function hiding(isSecret: IsSecret): (whole: string, begin: string, name: string) => string {
  return (whole, begin, name) => (isSecret(name) ? `${begin}${FILTERED}` : whole);
}

function withoutFields(text: string, isSecret: IsSecret): string {
  const hide = hiding(isSecret);
  const clean = text.replace(FIELD, hide).replace(ENTRY, hide);
  if (!clean.includes('<')) return clean;
  return clean.replace(TAG, (tag) => {
    const names = [...tag.matchAll(NAMING)];
    const isHidden = tag.includes('value') && names.some(([, name = '']) => isSecret(name));
    return isHidden ? tag.replace(/(\bvalue\s?=\s?)(["'])[^"']*\2/i, `$1$2${FILTERED}$2`) : tag;
  });
}

function withoutValues(text: string, form: RegExp, isSecret: IsSecret): string {
  const parts: string[] = [];
  let at = 0;
  form.lastIndex = 0;
  for (let match = form.exec(text); match !== null; match = form.exec(text)) {
    const [whole, nameQuote = '', name = '', sign = '', quote] = match;
    const from = match.index + whole.length;
    const { index } = match;
    const isHidden = isSecret(name) || (isSecret === isSecretName && isSecretMember(() => ownerOf(text, index), name));
    if (text.startsWith(FILTERED, from) || !isHidden) continue;
    const isColon = /[:：]/.test(sign.trim()) && !sign.includes('=');
    const isTyped = TYPED.test(text.slice(from, from + TYPE_LENGTH_MAX));
    const isHeader = isColon && quote === undefined && HEADER_NAME.test(name) && !isTyped;
    // `Invalid token: expected a name` and `Unexpected token = in JSON` describe an error and reveal no secret; but
    // `{ password: '…' }`, as Ruby, JavaScript, Swift and Rust show it, and `map[pin:…]` of Go do.
    const isParserWord =
      /^token$/i.test(name) && !/[[{(,] ?$/.test(text.slice(Math.max(0, match.index - 2), match.index));
    // `token.js:12:5` is a place in a file.
    const isPlace = sign === ':' && name.includes('.') && /^\d+\b/.test(text.slice(from, from + CODED_LENGTH_MAX));
    const isCoded =
      quote !== undefined || (!isPlace && codedForm(name).test(text.slice(from, from + CODED_LENGTH_MAX)));
    const isShown = (isCoded && !isParserWord) || (sign === ':' && isMember(text, match.index, name));
    const mayDescribe = (isColon && !isShown) || (/^ .* $/.test(sign) && isParserWord);
    const isAssigned = !mayDescribe || isHeader || nameQuote !== '' || (quote !== undefined && sign.includes('='));
    const end = endOfValue(text, { from, quote, isHeader, mayBeList: isAssigned });
    const value = text.slice(from, end);
    // `password == other` compares.
    if (value === '' || value.startsWith('=') || (!isAssigned && !seemsRandom(value))) continue;
    parts.push(text.slice(at, from), FILTERED);
    at = end;
    form.lastIndex = Math.max(end, from);
  }
  return at === 0 ? text : parts.join('') + text.slice(at);
}

/** Distance in which the brace of an object and the name before it are looked for. */
const OWNER_REACH = 200;
const OWNER = /([\w-]{1,60})\\{0,7}["']?\s{0,3}(?::|=>?)\s{0,3}\[?\s{0,3}$/;

/** Returns the name of the object that holds the member at this position; empty if none is near. */
function ownerOf(text: string, at: number): string {
  const start = Math.max(0, at - OWNER_REACH);
  const near = text.slice(start, at);
  const brace = near.lastIndexOf('{');
  if (brace === -1 || near.includes('}', brace)) return '';
  const end = start + brace;
  return OWNER.exec(text.slice(Math.max(0, end - OWNER_REACH / 2), end))?.[1] ?? '';
}

/** A word with a digit: `password1: hunter2` shows a value, `password1: must not be blank` a sentence. */
const CODED = /^[^\s\d,;]{0,64}\d/;
/** A word with letters and a digit: `password: hunter2` shows a value, `password: 8 characters at least` a sentence. */
const CODED_WORD = /^(?=\d{0,64}[^\s\d,;])[^\s\d,;]{0,64}\d/;
const CODED_LENGTH_MAX = 66;

function codedForm(name: string): RegExp {
  return /[\d_-]/.test(name) ? CODED : CODED_WORD;
}

/** Whether a name stands where those of a map or a structure do: `map[pin:1 a:b]`, `{Name:a Pin:1}`. */
function isMember(text: string, at: number, name: string): boolean {
  return name.startsWith('map[') || (!name.includes('.') && /[[{( ]/.test(text[at - 1] ?? ''));
}

interface ValuePlace {
  readonly from: number;
  /** Quote around the value, with the backslashes before it if the text is within another. */
  readonly quote: string | undefined;
  readonly isHeader: boolean;
  readonly mayBeList: boolean;
}

function endOfValue(text: string, { from, quote, isHeader, mayBeList }: ValuePlace): number {
  if (quote !== undefined) return endOfQuoted(text, from, quote);
  const [type = ''] = TYPED.exec(text.slice(from, from + TYPE_LENGTH_MAX)) ?? [];
  if (mayBeList && !isHeader && /[[{(]/.test(text[from] ?? '')) return endOfBrackets(text, from + type.length);
  const ending = isHeader ? (PARAMETERS.test(text.slice(from, from + 10)) ? /[\r\n]/g : LINE_END) : VALUE_END;
  ending.lastIndex = from;
  return ending.exec(text)?.index ?? text.length;
}

/** Returns the position of the closing quote that is not itself escaped. */
function endOfQuoted(text: string, from: number, quote: string): number {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    if (at === from || text[at - 1] !== '\\') return at;
  }
  return text.length;
}

/** Returns the position after a list or an object, ignoring brackets in its texts; the end of a text cut off. */
function endOfBrackets(text: string, from: number): number {
  let depth = 0;
  let quote = '';
  for (let at = from; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === quote && text[at - 1] !== '\\') quote = '';
    } else if (char === '"' || char === "'") {
      if (text[at - 1] !== '\\') quote = char;
    } else if (/[[{(]/.test(char)) depth += 1;
    else if (/[\]})]/.test(char)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

/** Whether a name of a user is rather a token: long, or in letters of both cases with digits. */
function seemsToken(user: string): boolean {
  return seemsRandom(user) && (user.length >= 24 || (/[a-z]/.test(user) && /[A-Z]/.test(user)));
}

/** Whether the value is long and not made of words. */
function seemsRandom(value: string): boolean {
  return value.length >= 12 && /\d/.test(value.slice(0, 200)) && /[A-Za-z]/.test(value.slice(0, 200));
}

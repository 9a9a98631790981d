/** Phrases that senders use when they have no message. */
const EMPTY_MESSAGES =
  /^(?:exception of type '.*' was thrown|unhandled (?:exception|error)|unknown error|(?:an )?error(?: occurr?ed)?|no (?:error )?message|null|undefined|none|nil|fatal error: \w+|instance of 'minified:\w{1,40}')[.!]?$/i;

/** Preambles that runtimes and frameworks put before the message itself. */
const PREAMBLES =
  /^(?:\([\w.]{1,80}(?:Error|Exception|Warning)\) |One or more errors occurred\. (?=\()|Non-Error promise rejection captured with value: |Uncaught (?:\(in promise\) )?(?=[\w ]*\w)|\(Status \d{3}\) (?:\(Request \S{1,80}\) )?|\[(?:Errno|WinError) -?\d{1,6}\] )/;

/** Wrapper of Python's urllib around a message. */
const WRAPPED = /^<urlopen error (.{1,300})>$/;

/** Returns the line of a message that a person would quote. Null when no line says anything. */
export function readableMessage(text: string | null): string | null {
  const whole = text ?? '';
  const line = firstLine(messageInJson(whole) ?? titleOfPage(whole) ?? endOfTraceback(whole) ?? whole);
  const bare = (WRAPPED.exec(line)?.[1] ?? line).replace(PREAMBLES, '');
  const inner = /^\((.*)\)$/.exec(bare)?.[1] ?? bare;
  const plain = inner.replace(/(?<=[^.])[.:]$/, '');
  return plain === '' || EMPTY_MESSAGES.test(plain) ? null : plain;
}

/** Returns the message in JSON: some senders put a whole answer of an API, or a list of errors, in its place. */
function messageInJson(text: string): string | null {
  if (!/^\s*[{[]/.test(text)) return null;
  try {
    const parsed = JSON.parse(text) as unknown;
    return messageOf(Array.isArray(parsed) ? parsed[0] : parsed);
  } catch {
    return null;
  }
}

/** Returns the message, with the path of the wrong field if the sender gives it: `email: Required`. */
function messageOf(parsed: unknown): string | null {
  if (typeof parsed !== 'object' || parsed === null) return null;
  const fields = parsed as Readonly<Record<string, unknown>>;
  const candidates = ['message', 'msg', 'error', 'detail', 'title', 'error_description'].map((name) => fields[name]);
  const said = candidates.find((field) => typeof field === 'string' && field.trim() !== '') as string | undefined;
  if (said === undefined) return null;
  const { path } = fields;
  return Array.isArray(path) && path.length > 0 ? `${path.join('.')}: ${said}` : said;
}

/** Returns the title of an HTML page that a gateway sent instead of an answer. */
function titleOfPage(text: string): string | null {
  if (!/^\s*<(?:!doctype html|html|head)\b/i.test(text)) return null;
  return /<title>([^<]{1,200})<\/title>/i.exec(text.slice(0, 4_000))?.[1] ?? null;
}

/** Returns the last line of a Python traceback, for workers that put a whole traceback in a message. */
function endOfTraceback(text: string): string | null {
  if (!/^\s*(?:"""\s*)?Traceback \(most recent call last\):/.test(text)) return null;
  return text.split('\n').findLast((line) => /^\w[\w.]*(?:: |$)/.test(line)) ?? null;
}

/** Returns the first non-empty line, joined with the next one if it only introduces it. */
export function firstLine(text: string): string {
  const [first = '', second = ''] = text
    .split('\n')
    .map(plainLine)
    .filter((line) => line !== '');
  return first.endsWith(':') && second !== '' && !/^[+-] /.test(second) ? `${first} ${second}` : first;
}

/** Removes terminal colours, control characters and marks that change the direction of text. */
function plainLine(line: string): string {
  return line
    .replaceAll(/\p{Cc}\[[0-9;]{0,16}m/gu, '')
    .replaceAll(/[\s\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim();
}

const MARKED_PLACE = /^\s+\^[\^~ ]*$/;

/**
 * Returns the message of an error of Ruby without what `detailed_message` adds: the type behind its first line, and the
 * line of source that raised it, with the mark below. Other messages stay as they are.
 */
export function withoutRubyDetail(text: string, type: string | null): string {
  const lines = text.split('\n');
  const [first = ''] = lines;
  const said = ` (${type ?? ''})`;
  const plain = first.replaceAll(/\p{Cc}\[[0-9;]{0,16}m/gu, '');
  const marked = lines.findIndex((line) => MARKED_PLACE.test(line));
  if (type === null || !plain.endsWith(said)) return text;
  const rest = marked < 2 ? lines.slice(1) : [...lines.slice(1, marked - 1), ...lines.slice(marked + 1)];
  return [plain.slice(0, -said.length), ...rest].join('\n').trimEnd();
}

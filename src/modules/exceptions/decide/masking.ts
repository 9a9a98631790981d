const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const HEX = '[0-9a-fA-F]';
const CLOCK = String.raw`\d\d:\d\d:\d\d(?:[.,]\d{1,9})?`;
const SEGMENT = String.raw`[\w.@%+~$-]{1,255}`;
const ROOT =
  '(?:home|Users|usr|var|tmp|etc|opt|srv|app|mnt|media|root|proc|dev|data|run|private|Volumes|nix|workspace|code|builds|Library|Applications|System|storage|sdcard)';

/**
 * Kinds of variables and their patterns, the preferred kind first. Matching takes time linear in the text, whatever a
 * sender puts in it: an alternative starts only at the edge of a run of its own characters, and repeats only over
 * characters that cannot also end the repetition, or a bounded number of times.
 */
const KINDS = {
  url: [String.raw`(?<![\w+.-])[a-zA-Z][a-zA-Z0-9+.-]{1,20}:\/\/[^\s<>"'\x60()[\]{},;]+(?<![.:!?])`],
  email: [String.raw`(?<![\w.+%-])[\w.+%-]{1,64}@[a-zA-Z0-9-]{1,63}(?:\.[a-zA-Z0-9-]{1,63}){1,8}(?![\w-])`],
  uuid: [String.raw`(?<!\w)${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12}(?!\w)`],
  date: [
    String.raw`(?<![\w-])\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?(?!\w)`,
    String.raw`(?<![\w\/])\d{1,4}\/\d{1,2}\/\d{2,4}(?: \d\d:\d\d(?::\d\d)?)?(?![\w\/])`,
    String.raw`(?<!\w)(?:${DAY},? )?\d{1,2} ${MONTH} \d{4}(?: \d\d:\d\d:\d\d)?(?: (?:GMT|UTC|[+-]\d{4}))?(?!\w)`,
    String.raw`(?<!\w)(?:${DAY} )?${MONTH} {1,2}\d{1,2} (?:\d{4} )?\d\d:\d\d:\d\d(?: (?:[A-Z]{3,4} )?\d{4})?(?!\w)`,
    String.raw`(?<![\w\/])\d\d\/${MONTH}\/\d{4}:${CLOCK}(?: [+-]\d{4})?(?!\w)`,
    String.raw`(?<![\w:.])${CLOCK}(?![\w:])`,
  ],
  ip: [
    String.raw`(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.[\d<])`,
    String.raw`(?<![\w:.])(?=[0-9a-fA-F:]{0,39}\d)(?:(?:${HEX}{1,4}:){7}${HEX}{1,4}|(?:${HEX}{1,4}:){1,6}:[0-9a-fA-F:]{0,34}|::[0-9a-fA-F:]{1,35})(?:%\w{1,16})?(?![\w:])`,
  ],
  path: [
    String.raw`(?<![\w\\])(?:[a-zA-Z]:\\|\\\\)(?:[\w .@%+~$-]{1,255}\\)*[\w.@%+~$-]{0,255}`,
    String.raw`(?<![\w.@%+~$\/\\-])~?\/${ROOT}(?:\/${SEGMENT})+\/?`,
    String.raw`(?<![\w.@%+~$\/\\-])(?:~|\.{1,2})?(?:\/${SEGMENT}){1,32}(?<=\.[a-zA-Z]\w{0,9})(?![\w\/])`,
  ],
  duration: [
    String.raw`(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[hm]\d+(?:\.\d+)?){0,2} ?(?:[nuµm]?s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?|(?:nano|micro|milli)seconds?|millis)(?!\w)`,
    String.raw`(?<!\w)P(?:(?:\d{1,9}[YMWD]){1,4}(?:T(?:\d{1,9}(?:\.\d{1,9})?[HMS]){1,3})?|T(?:\d{1,9}(?:\.\d{1,9})?[HMS]){1,3})(?!\w)`,
  ],
  size: [String.raw`(?<![\w.])[-+]?\d+(?:\.\d+)? ?(?:[KMGTP]?i?B|[kmg]b|[Bb]ytes)(?!\w)`],
  hex: [
    String.raw`(?<!\w)0[xX]${HEX}+(?!\w)`,
    // Pods of Kubernetes: of a deployment, and of others where a digit shows it.
    String.raw`(?<=[a-z0-9]-)[bcdf-hj-np-tv-xz2-9]{8,10}-[bcdf-hj-np-tv-xz2-9]{5}(?![\w-])`,
    String.raw`(?<=[a-z0-9]-)(?=[a-z]{0,3}\d\d{0,3}[a-z])[bcdf-hj-np-tv-xz2-9]{5}(?![\w-])`,
    String.raw`(?<![\w:-])${HEX}{2}(?:[:-]${HEX}{2}){5}(?![\w:-])`,
    String.raw`(?<=@)${HEX}{5,16}(?!\w)`,
    String.raw`(?<!\w)(?=\d{0,40}[a-fA-F])${HEX}{16,}(?!\w)`,
    String.raw`(?<!\w)(?=${HEX}{0,15}\d)(?=\d{0,15}[a-fA-F])${HEX}{7,15}(?!\w)`,
  ],
  token: [
    String.raw`(?<![\w.-])eyJ[\w-]{10,}\.[\w-]+(?:\.[\w-]+)?`,
    String.raw`(?<![\w\/+-])(?=[\w-]{0,128}\d)(?=[\w-]{0,128}[a-z])(?=[\w-]{0,128}[A-Z])[\w-]{24,}(?![\w-])`,
    // Nanoids and ids of Firestore: as long, with a digit before a small letter, which names hardly have.
    String.raw`(?<![\w\/+-])(?=[\w-]{0,21}\d[a-z])(?=[\w-]{0,22}[A-Z])[\w-]{20,23}(?![\w-])`,
    String.raw`(?<!\w)[0-7](?=[0-9]{0,24}[A-Z])[0-9A-HJKMNP-TV-Z]{25}(?!\w)`,
    String.raw`(?<!\w)c(?=[a-z]{0,23}\d)[a-z0-9]{24}(?!\w)`,
    String.raw`(?<!\w)(?=[a-z]{1,20}\d{1,20}[a-z]{1,20}\d)[a-z0-9]{24}(?!\w)`,
    String.raw`(?<!\w)[a-z]{2,8}_(?=[A-Za-z0-9]{0,40}\d)[A-Za-z0-9]{12,}(?!\w)`,
  ],
  version: [String.raw`(?<![\w.])v?\d+\.\d+\.\d+(?:[-+][\w.+-]{1,64})?(?!\w|\.[\d<])`],
  host: [
    String.raw`(?<![\w.@/-])(?:[a-zA-Z0-9_-]{1,63}\.){1,6}(?:com|net|org|edu|gov|internal|intern|local|localdomain|lan|cluster)(?![\w-]|\.[\w<])`,
  ],
  number: [
    String.raw`(?<![\w.])[-+]?\d+(?:[,_]\d{3})*(?:\.\d+)?(?:[eE][-+]?\d{1,3})?(?!\w|\.[\d<])`,
    String.raw`(?<=[a-zA-Z]_)\d+(?![a-zA-Z0-9])`,
    String.raw`(?<=[a-zA-Z]{2})\d{4,}(?![a-zA-Z0-9])`,
  ],
} as const;

/** Characters with which a variable at the edge of a word may begin. */
const FIRST = String.raw`[\w.+%:~\/\\-]`;

const ALL = Object.keys(KINDS);

const VARIABLE = finderOf(KINDS);

/**
 * Values that identify one occurrence only, and so are never worth reading in a title; a port, a host or an error code
 * may be. Hexadecimal numbers therefore count only if they are as long as an address.
 */
const UNIQUE_VARIABLE = finderOf({
  uuid: KINDS.uuid,
  date: KINDS.date,
  email: KINDS.email,
  hex: [String.raw`(?<!\w)0[xX]${HEX}{9,}(?!\w)`, ...KINDS.hex.slice(1)],
  token: KINDS.token,
});

/**
 * A placeholder is found first and stands for itself, and nothing is found right beside one, as nothing was before it
 * was put there: so masking what is masked changes nothing. Nearly all forms begin at the edge of a word: asking that
 * once, and what the next character is, leaves most places of a text without trying each form.
 */
function finderOf(kinds: Readonly<Record<string, readonly string[]>>): RegExp {
  const placeholder = `<(?:${ALL.join('|')}|\\*)>`;
  const kindsOf = (isWanted: (form: string) => boolean) =>
    Object.entries(kinds)
      .map(([kind, forms]) => [kind, forms.filter(isWanted)] as const)
      .filter(([, forms]) => forms.length > 0)
      .map(([kind, forms]) => `(?<${kind}>${forms.join('|')})`);
  const atEdge = `(?<!\\w)(?=${FIRST})(?<!${placeholder})(?:${kindsOf((form) => !isInWord(form)).join('|')})`;
  const inWord = kindsOf(isInWord).map((group) => `(?<=\\w)(?<!${placeholder})${group}`);
  const variable = `(?:${[atEdge, ...inWord].join('|')})(?!${placeholder})`;
  return new RegExp(`${placeholder}|${variable}`, 'gu');
}

/** Whether a form follows letters. */
function isInWord(form: string): boolean {
  return form.startsWith('(?<=[a-zA-Z]');
}

/**
 * Replaces the variables of a text by their kinds: `order 17 of bob@example.com` is `order <number> of <email>`.
 * Returns the first `lengthMax` characters of the result, and reads no more of the text than they need.
 */
export function maskVariables(text: string, lengthMax = Infinity): string {
  return mask(text, VARIABLE, lengthMax).slice(0, lengthMax);
}

/** Masks only what is unique to one occurrence: ids, hashes, tokens, mail addresses and instants. */
export function maskUnique(text: string): string {
  return mask(text, UNIQUE_VARIABLE, Infinity);
}

function mask(text: string, variable: RegExp, lengthMax: number): string {
  let masked = '';
  let at = 0;
  variable.lastIndex = 0;
  while (masked.length < lengthMax) {
    const match = variable.exec(text);
    if (match === null) break;
    const [code] = match;
    masked += text.slice(at, match.index) + (kindOf(match) ?? code);
    at = match.index + code.length;
  }
  variable.lastIndex = 0;
  return masked.length < lengthMax ? masked + text.slice(at) : masked;
}

/** Returns the placeholder of what was found; null for one that was a placeholder already. */
function kindOf({ groups = {} }: RegExpExecArray): string | null {
  for (const kind in groups) if (groups[kind] !== undefined) return `<${kind}>`;
  return null;
}

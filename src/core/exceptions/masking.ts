const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)';
const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)';
const CLOCK = String.raw`\d\d:\d\d:\d\d(?:[.,]\d{1,9})?`;
const SEGMENT = String.raw`[\w.@%+~$-]{1,255}`;
const ROOT =
  '(?:home|users|usr|var|tmp|etc|opt|srv|app|mnt|media|root|proc|dev|data|run|private|volumes|nix|workspace|code|builds|library|applications|system|storage|sdcard)';

/**
 * Every kind of variable and how it looks, the preferred kind first. Matching takes time linear in the text whatever a
 * sender puts in it: an alternative starts only at the edge of a run of its own characters, and repeats only over
 * characters that cannot also end the repetition, or a bounded number of times.
 */
const KINDS = {
  url: [String.raw`(?<![\w+.-])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>"'\x60()[\]{},;]+`],
  email: [String.raw`(?<![\w.+%-])[\w.+%-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?![\w-])`],
  uuid: [String.raw`(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)`],
  date: [
    String.raw`(?<![\w-])\d{4}-\d\d-\d\d(?:[ t]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:z|utc|gmt|[+-]\d\d:?\d\d))?)?(?!\w)`,
    String.raw`(?<![\w\/])\d{1,4}\/\d{1,2}\/\d{2,4}(?: \d\d:\d\d(?::\d\d)?)?(?![\w\/])`,
    String.raw`(?<!\w)(?:${DAY},? )?\d{1,2} ${MONTH} \d{4}(?: \d\d:\d\d:\d\d)?(?: (?:gmt|utc|[+-]\d{4}))?(?!\w)`,
    String.raw`(?<!\w)(?:${DAY} )?${MONTH} {1,2}\d{1,2} (?:\d{4} )?\d\d:\d\d:\d\d(?: (?:[a-z]{3,4} )?\d{4})?(?!\w)`,
    String.raw`(?<![\w:.])${CLOCK}(?![\w:])`,
  ],
  ip: [
    String.raw`(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)`,
    String.raw`(?<![\w:.])(?=[0-9a-f:]{0,39}\d)(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){1,6}:[0-9a-f:]{0,34}|::[0-9a-f][0-9a-f:]{0,34})(?:%\w{1,16})?(?![\w:])`,
  ],
  path: [
    String.raw`(?<![\w\\])(?:[a-z]:\\|\\\\)[\w .@%+~$-]{0,255}(?:\\[\w.@%+~$-]{1,255})*`,
    String.raw`(?<![\w.@%+~$\/\\-])~?\/${ROOT}(?:\/${SEGMENT})+\/?`,
    String.raw`(?<![\w.@%+~$\/\\-])(?:~|\.{1,2})?(?:\/${SEGMENT}){1,32}(?<=\.[a-z]\w{0,9})(?![\w\/])`,
  ],
  duration: [
    String.raw`(?<![\w.])\d+(?:\.\d+)?(?:[hm]\d+(?:\.\d+)?){0,2} ?(?:[nuµm]?s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?|(?:nano|micro|milli)seconds?|millis)(?!\w)`,
  ],
  hex: [
    String.raw`(?<!\w)0x[0-9a-f]+(?!\w)`,
    String.raw`(?<=@)[0-9a-f]{5,16}(?!\w)`,
    String.raw`(?<!\w)(?=\d{0,40}[a-f])[0-9a-f]{16,}(?!\w)`,
    String.raw`(?<!\w)(?=[0-9a-f]{0,15}\d)(?=[0-9a-f]{0,15}[a-f])[0-9a-f]{7,15}(?!\w)`,
  ],
  token: [
    String.raw`(?<![\w.-])eyJ[\w-]{10,}\.[\w-]+(?:\.[\w-]+)?`,
    String.raw`(?<![\w\/+-])(?=[\w-]{0,128}\d)(?=[\w-]{0,128}[a-z])(?=[\w-]{0,128}[A-Z])[\w-]{24,}(?![\w-])`,
  ],
  version: [String.raw`(?<![\w.])v?\d+\.\d+\.\d+(?:[-+][\w.+-]{1,64})?(?!\w|\.\d)`],
  float: [String.raw`(?<![\w.])[-+]?\d+\.\d+(?:e[-+]?\d{1,3})?(?!\w|\.\d)`],
  int: [
    String.raw`(?<![\w.])[-+]?\d+(?:[,_]\d{3})*(?!\w|\.\d)`,
    String.raw`(?<=[a-z]_)\d+(?![a-z0-9])`,
    String.raw`(?<=[a-z]{2})\d{4,}(?![a-z0-9])`,
  ],
} as const;

type Kind = keyof typeof KINDS;

/** What names one occurrence only, and so is never worth reading in a title; a port, a status or a host may be. */
const UNIQUE: ReadonlySet<string> = new Set<Kind>(['uuid', 'hex', 'token', 'email', 'date']);

const NAMES = Object.keys(KINDS);

/** A placeholder is found first and stands for itself, so masking what is masked changes nothing. */
const VARIABLE = new RegExp(
  [`<(?:${NAMES.join('|')}|\\*)>`, ...Object.entries(KINDS).map(([kind, forms]) => namedGroup(kind, forms))].join('|'),
  'gu',
);

/** Letters of either case are the same but in a token, which is known by its mixture of cases. */
function namedGroup(kind: string, forms: readonly string[]): string {
  return `(?<${kind}>${kind === 'token' ? '(?:' : '(?i:'}${forms.join('|')}))`;
}

/** The variables of a text by their kinds: `order 17 of bob@example.com` is `order <int> of <email>`. */
export function maskVariables(text: string): string {
  return mask(text, null);
}

/** Masks only what is unique to one occurrence: ids, hashes, tokens, mail addresses and instants. */
export function maskUnique(text: string): string {
  return mask(text, UNIQUE);
}

function mask(text: string, only: ReadonlySet<string> | null): string {
  return text.replace(VARIABLE, (found: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const kind = NAMES.find((name) => groups[name] !== undefined);
    return kind === undefined || (only !== null && !only.has(kind)) ? found : `<${kind}>`;
  });
}

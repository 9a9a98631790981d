/** A term of a regular expression; `source` of a character is what it is written as. */
export type Term =
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'assertion'; readonly source: string }
  | { readonly kind: 'group'; readonly index: number | null; readonly options: Options }
  | { readonly kind: 'look'; readonly isAhead: boolean; readonly isNegative: boolean; readonly options: Options }
  | { readonly kind: 'reference'; readonly to: string }
  | {
      readonly kind: 'repeat';
      readonly term: Term;
      readonly min: number;
      readonly max: number;
      readonly isGreedy: boolean;
    };

/** Alternatives, each a sequence of terms. */
export type Options = readonly (readonly Term[])[];

export interface ParsedRegExp {
  readonly options: Options;
  /** Indices of the groups that have a name. */
  readonly names: ReadonlyMap<string, number>;
}

const ESCAPE = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[^])/y;
const LOOK = /\(\?(<?)([=!])/y;
const NAMED = /\(\?<(\w+)>/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\??)/y;

/** Parses the source of a regular expression that the engine has accepted. */
export function parseRegExp(source: string): ParsedRegExp {
  let at = 0;
  let groups = 0;
  const names = new Map<string, number>();
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match !== null) at += match[0].length;
    return match;
  };
  const parseOptions = (): Options => {
    const options: Term[][] = [[]];
    while (at < source.length && source[at] !== ')') {
      if (source[at] === '|') {
        at += 1;
        options.push([]);
      } else options.at(-1)!.push(parseRepeat());
    }
    return options;
  };
  const parseInParentheses = (): Options => {
    const options = parseOptions();
    if (source[at] !== ')') throw new Error(`no end of a group in ${source}`);
    at += 1;
    return options;
  };
  const parseRepeat = (): Term => {
    const term = parseTerm();
    const match = take(QUANTIFIER);
    if (match === null) return term;
    const [, sign, least, comma, most, lazy] = match;
    const min = sign === undefined ? Number(least) : sign === '+' ? 1 : 0;
    const max =
      sign === undefined
        ? comma === undefined
          ? min
          : most === ''
            ? Infinity
            : Number(most)
        : sign === '?'
          ? 1
          : Infinity;
    return { kind: 'repeat', term, min, max, isGreedy: lazy === '' };
  };
  const parseTerm = (): Term => {
    if (source[at] === '(') return parseGroup();
    if (source[at] === '[') return { kind: 'character', source: takeClass() };
    if (source[at] !== '\\') {
      const character = String.fromCodePoint(source.codePointAt(at)!);
      at += character.length;
      return { kind: /[\^$]/.test(character) ? 'assertion' : 'character', source: character };
    }
    const named = take(/\\k<(\w+)>/y);
    if (named !== null) return { kind: 'reference', to: named[1]! };
    const numbered = take(/\\([1-9]\d*)/y);
    if (numbered !== null) return { kind: 'reference', to: numbered[1]! };
    const escape = take(ESCAPE)![0];
    return { kind: /^\\[bB]$/.test(escape) ? 'assertion' : 'character', source: escape };
  };
  const takeClass = (): string => {
    const begin = at;
    for (at += 1; source[at] !== ']'; at += source[at] === '\\' ? 2 : 1);
    at += 1;
    return source.slice(begin, at);
  };
  const parseGroup = (): Term => {
    const look = take(LOOK);
    if (look !== null) {
      return { kind: 'look', isAhead: look[1] === '', isNegative: look[2] === '!', options: parseInParentheses() };
    }
    if (take(/\(\?:/y) !== null) return { kind: 'group', index: null, options: parseInParentheses() };
    groups += 1;
    const index = groups;
    const named = take(NAMED);
    if (named === null) at += 1;
    else names.set(named[1]!, index);
    return { kind: 'group', index, options: parseInParentheses() };
  };
  const options = parseOptions();
  if (at !== source.length) throw new Error(`cannot parse ${source} from ${at} on`);
  return { options, names };
}

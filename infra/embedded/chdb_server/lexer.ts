/** A piece of SQL that means something: white space and comments are left out, a quoted text is one token. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'symbol';
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Number of open parentheses, brackets and braces around it. */
  readonly depth: number;
}

const SPACE_AND_COMMENTS = /(?:\s+|--[^\n]*|#(?: |!)[^\n]*|\/\*[\s\S]*?(?:\*\/|$))+/y;
const WORD = /[A-Za-z_0-9][A-Za-z_0-9.]*/y;
const QUOTED = /'(?:[^'\\]+|\\[\s\S]|'')*(?:'|$)|"(?:[^"\\]+|\\[\s\S]|"")*(?:"|$)|`(?:[^`\\]+|\\[\s\S]|``)*(?:`|$)/y;
const HEREDOC = /(\$\w*\$)[\s\S]*?(?:\1|$)/y;

/**
 * Reads the tokens one by one, so that a reader who finds the data of an INSERT stops before it. Follows the lexer of
 * ClickHouse as far as it matters for where a statement ends and where its parts are; what is not SQL at all is
 * left for the engine to refuse.
 */
export function* readTokens(sql: string): Generator<Token> {
  let depth = 0;
  for (let at = 0; at < sql.length;) {
    const space = match(SPACE_AND_COMMENTS, sql, at);
    if (space > at) {
      at = space;
      continue;
    }
    const start = at;
    const quotedEnd = Math.max(match(QUOTED, sql, at), match(HEREDOC, sql, at));
    const wordEnd = match(WORD, sql, at);
    at = Math.max(quotedEnd, wordEnd, at + 1);
    const text = sql.slice(start, at);
    const kind = quotedEnd > start ? 'quoted' : wordEnd > start ? 'word' : 'symbol';
    if (kind === 'symbol' && ')]}'.includes(text)) depth = Math.max(0, depth - 1);
    yield { kind, text, start, end: at, depth };
    if (kind === 'symbol' && '([{'.includes(text)) depth += 1;
  }
}

/** Returns the end of the pattern's match at this place; the place itself if it does not match there. */
function match(pattern: RegExp, sql: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex : at;
}

/** The word in upper case when the token is one, else the empty string. */
export const keyword = (token: Token | undefined): string => (token?.kind === 'word' ? token.text.toUpperCase() : '');

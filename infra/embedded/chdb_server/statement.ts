import { ClickHouseFailure } from './failure.ts';
import { keyword, readTokens, type Token } from './lexer.ts';

/** Kind of a statement, as it must be known before the engine gets it. */
export type Statement =
  | {
      /** Rows follow the statement: in its own text, in the body of the request, or in both. */
      readonly kind: 'insert_rows';
      /** `INSERT INTO t (columns)`; the settings clause, which may be empty; the format's name. */
      readonly target: string;
      readonly settings: string;
      readonly format: string;
      readonly rows: string;
    }
  | {
      readonly kind: 'query';
      readonly sql: string;
      /** The format clause of the text, which wins over any default. */
      readonly format: string | null;
      /** One SELECT and nothing in it that would have to run before the first row. */
      readonly isPlainSelect: boolean;
    };

/** Throws as ClickHouse does when there is no statement, or more than one. */
export function parseStatement(sql: string): Statement {
  const tokens = readTokens(sql);
  const first = tokens.next();
  if (first.done) throw new ClickHouseFailure(62, 'SYNTAX_ERROR', 'Empty query');
  if (keyword(first.value) === 'INSERT') {
    const insert = parseInsert(sql, tokens);
    if (insert) return insert;
  }
  return parseQuery(sql);
}

/**
 * ClickHouse reads everything behind `FORMAT name` or `VALUES` as rows. chdb looks for the end of inline rows by
 * itself, takes an empty line for it, and runs what follows as SQL: it must never see them.
 */
function parseInsert(sql: string, tokens: Generator<Token>): Statement | null {
  const table = firstOfTable(tokens);
  let settingsStart: number | null = null;
  for (let token = table; token; token = nextOf(tokens)) {
    if (token === table || token.depth > 0) continue;
    const word = keyword(token);
    if (word === 'SELECT' || word === 'WITH' || word === 'FROM' || word === 'WATCH') return null;
    if (word === 'SETTINGS') settingsStart = token.start;
    if (word !== 'VALUES' && word !== 'FORMAT') continue;
    const name = word === 'FORMAT' ? nextOf(tokens) : token;
    if (name?.kind !== 'word') return null;
    return {
      kind: 'insert_rows',
      target: sql.slice(0, settingsStart ?? token.start).trim(),
      settings: settingsStart === null ? '' : sql.slice(settingsStart, token.start).trim(),
      format: word === 'FORMAT' ? name.text : 'Values',
      rows: rowsBehind(sql, name.end),
    };
  }
  return null;
}

/** A table may be called like a keyword, so its name is stepped over. */
function firstOfTable(tokens: Generator<Token>): Token | undefined {
  let token = nextOf(tokens);
  while (token && ['INTO', 'TABLE', 'FUNCTION'].includes(keyword(token))) token = nextOf(tokens);
  return token;
}

function nextOf(tokens: Generator<Token>): Token | undefined {
  const next = tokens.next();
  return next.done ? undefined : next.value;
}

/** White space up to the first line of rows belongs to the statement; a lone semicolon ends it. */
function rowsBehind(sql: string, start: number): string {
  const rows = sql.slice(start).replace(/^[ \t\r]*\n?/, '');
  return /^\s*;?\s*$/.test(rows) ? '' : rows;
}

function parseQuery(sql: string): Statement {
  const tokens = [...readTokens(sql)];
  const end = tokens.findIndex((token) => token.text === ';' && token.depth === 0);
  const statement = end === -1 ? tokens : tokens.slice(0, end);
  if (end !== -1 && tokens.slice(end).some((token) => token.text !== ';')) {
    throw new ClickHouseFailure(62, 'SYNTAX_ERROR', 'Syntax error (Multi-statements are not allowed)');
  }
  const first = statement[0];
  const last = statement.at(-1);
  if (!first || !last) throw new ClickHouseFailure(62, 'SYNTAX_ERROR', 'Empty query');
  const words = statement.map(keyword);
  const isPlainSelect =
    (words[0] === 'SELECT' || words[0] === 'WITH') &&
    words.filter((word) => word === 'SELECT').length === 1 &&
    !words.includes('INSERT') &&
    !words.includes('TOTALS');
  return { kind: 'query', sql: sql.slice(first.start, last.end), format: formatClause(statement), isPlainSelect };
}

/** The clause stands at the end, or before the settings; anywhere else the word is somebody's column. */
function formatClause(statement: readonly Token[]): string | null {
  const at = statement.findLastIndex((token) => token.depth === 0 && keyword(token) === 'FORMAT');
  const name = at === -1 ? undefined : statement[at + 1];
  const next = statement[at + 2];
  return name?.kind === 'word' && (!next || keyword(next) === 'SETTINGS') ? name.text : null;
}

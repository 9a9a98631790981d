import { ClickHouseFailure } from './failure.ts';
import { keyword, readTokens, type Token } from './lexer.ts';

/**
 * Table functions that make their rows themselves, or take them from tables that are here. All others reach files,
 * programs or other machines; a test compares the two lists with what the engine has.
 */
export const HARMLESS_TABLE_FUNCTIONS: ReadonlySet<string> = new Set([
  'format',
  'fuzzjson',
  'generaterandom',
  'generateseries',
  'generate_series',
  'input',
  'merge',
  'null',
  'numbers',
  'numbers_mt',
  'primes',
  'sqlstandardvalues',
  'values',
  'view',
  'zeros',
  'zeros_mt',
]);

/** Functions that reach beyond the tables of this engine, wherever in a statement they are called. */
const REACHING =
  /^(?:file|filecluster|filesystem|url|urlcluster|executable|python|jdbc|odbc|mysql|postgresql|sqlite|mongodb|redis|input_file|disk|eval|loop|dictionary|arrowstream|ytsaurus|cosn|oss|gcs|fuzzquery|viewexplain|viewifpermitted|catboostevaluate|(?:s3|hdfs|remote|cluster|azure|deltalake|iceberg|hudi|paimon|prometheus)\w*|timeseries(?:data|metrics|samples|selector|tags)|mergetree(?:analyze|index|projection|text)\w*|ai[a-z]+|dictget\w*)$/;

/** Table functions of a cluster: its servers may be reached, as the operator has configured them. */
const OF_CLUSTER = /^cluster(allreplicas)?$/;

const HARMLESS_ENGINE =
  /^(?:\w*MergeTree|Memory|Null|Log|TinyLog|StripeLog|Set|Join|Buffer|Merge|View|MaterializedView|Atomic|Ordinary)$/i;

/** Statements about the machine, about users, or about what is stored elsewhere. */
const REFUSED_STATEMENTS = new Set(['ATTACH', 'BACKUP', 'RESTORE', 'SYSTEM', 'EXECUTE', 'COPY', 'GRANT', 'REVOKE']);
const REFUSED_OBJECTS = new Set(['DICTIONARY', 'NAMED', 'FUNCTION', 'USER', 'ROLE', 'PROFILE', 'WORKLOAD', 'RESOURCE']);
const ELSEWHERE = new Set(['DISK', 'VOLUME', 'SHARD']);
const PARTS = new Set(['PART', 'PARTITION', 'WITH', '']);

/** Words before the name of a table. */
const BEFORE_TABLE = new Set(['FROM', 'JOIN', 'INTO', 'TABLE', 'EXISTS', 'DESCRIBE', 'DESC']);
const ENDS_FROM = new Set([
  'WHERE',
  'PREWHERE',
  'GROUP',
  'ORDER',
  'HAVING',
  'LIMIT',
  'SETTINGS',
  'FORMAT',
  'UNION',
  'SELECT',
]);

/** `SYSTEM STOP MERGES` and `SYSTEM START MERGES` touch the tables of this engine only. */
function isAboutMerges([first, second, third]: readonly string[]): boolean {
  return first === 'SYSTEM' && (second === 'STOP' || second === 'START') && third === 'MERGES';
}

/**
 * Throws for a statement that reads or writes anything but the tables of this engine, which itself would read every
 * file and ask every address that it is told, and cannot be forbidden to: chdb has one user, with all rights.
 */
export function refuseSources(
  sql: string,
  parameters: ReadonlyMap<string, string> = new Map(),
  { hasCluster = false } = {},
): void {
  for (const [, name] of sql.matchAll(/\{\s*(\w+)\s*:\s*Identifier\s*\}/g)) {
    if (/[\\/:]/.test(parameters.get(`param_${name}`) ?? '')) throw refused('a name of a table that could be a file');
  }
  const tokens = [...readTokens(sql)];
  const words = tokens.map(keyword);
  if (REFUSED_STATEMENTS.has(words[0] ?? '') && !isAboutMerges(words)) throw refused(words[0] ?? '');
  const isDefinition = ['CREATE', 'REPLACE', 'ALTER', 'DROP'].includes(words[0] ?? '');
  const inFrom = new Set<number>();
  for (const [index, token] of tokens.entries()) {
    const { depth } = token;
    const word = words[index] ?? '';
    const before = tokens[index - 1];
    const wordBefore = words[index - 1] ?? '';
    // What a bracket closes ends with it.
    for (const open of inFrom) if (open > depth) inFrom.delete(open);
    if (word === 'FROM' || word === 'JOIN') inFrom.add(depth);
    else if (ENDS_FROM.has(word)) inFrom.delete(depth);
    const called = token.text === '(' && before !== undefined ? nameOf(before) : null;
    if (called !== null && REACHING.test(called) && !(hasCluster && OF_CLUSTER.test(called)))
      throw refused(`${called}()`);
    if ((word === 'INFILE' && wordBefore === 'FROM') || (word === 'OUTFILE' && wordBefore === 'INTO'))
      throw refused(word);
    if (isDefinition && wordBefore === 'ENGINE')
      requireHarmlessEngine(token.text === '=' ? tokens[index + 1] : token, hasCluster);
    if (isDefinition && index < 5 && REFUSED_OBJECTS.has(word) && isAtObject(words, index)) throw refused(word);
    const isFrozen = (word === 'FREEZE' || word === 'FETCH') && PARTS.has(words[index + 1] ?? '');
    if (words[0] === 'ALTER' && (isFrozen || (wordBefore === 'TO' && ELSEWHERE.has(word)))) throw refused(word);
    if (token.kind !== 'quoted') continue;
    const isName = token.text.startsWith('"') || token.text.startsWith('`');
    const isTable = BEFORE_TABLE.has(wordBefore) || (before?.text === ',' && inFrom.has(depth));
    // The engine takes the name of a table that it does not have for that of a file or an address.
    if (isName ? /[\\/:]/.test(token.text) : isTable) throw refused('a name of a table that could be a file');
  }
}

/** Only where the kind of a thing stands: `CREATE [OR REPLACE] [TEMPORARY] DICTIONARY`. */
function isAtObject(words: readonly string[], index: number): boolean {
  return words.slice(1, index).every((word) => ['OR', 'REPLACE', 'TEMPORARY', 'SETTINGS'].includes(word));
}

function requireHarmlessEngine(token: Token | undefined, hasCluster: boolean): void {
  const name = token === undefined ? '' : nameOf(token);
  if (hasCluster && name === 'distributed') return;
  if (!HARMLESS_ENGINE.test(name)) throw refused(`ENGINE = ${name}`);
}

/** Returns the name in lower case, quoted or not. The name of a real function has no escape in it. */
function nameOf({ kind, text }: Token): string {
  if (kind !== 'quoted') return text.toLowerCase();
  const name = text.slice(1, -1).toLowerCase();
  return /^\w+$/.test(name) ? name : 'file';
}

function refused(what: string): ClickHouseFailure {
  return new ClickHouseFailure(497, 'ACCESS_DENIED', `Not allowed here: ${what.slice(0, 100)}`);
}

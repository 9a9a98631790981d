import { isSecretName } from '#modules/exceptions/decide/secret_names.ts';

/** A password in a statement of SQL. */
const SQL_PASSWORD =
  /(?<=\b(?:password|identified (?:with \S{1,60} )?(?:by|as)|pragma (?:re)?key ?=) {1,4})'[^']{1,200}'/gi;
/** Names of columns before their values: `INSERT INTO t (a, token) VALUES (1, '…')`, `Key (token)=(…)`. */
const COLUMNS = /\(([\w\s.,"\x60-]{2,2000})\)(\s{0,5}values?\s{0,5}|=)(?=\()/gi;
/** A value in the list of a row, with the sign behind it. */
const ROW_VALUE = /\s*((?:'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|[^,()'"])*)([,)])/y;
/** Value that MySQL refuses as the second of its kind, with the index that forbids it. */
const DUPLICATE = /(duplicate entry ')[^'\n]{1,500}(?=' for key '([\w.-]{1,200})')/gi;
/** Words of a database in the name of an index: `users.api_key_idx`. */
const OF_INDEX = /(?:^|[._-])(?:index|idx|unique|uniq|uk)(?=$|[._-])/gi;

/** Removes passwords in statements of SQL, and what MySQL refuses as the second of its kind in a column that is secret. */
export function withoutStatements(text: string, filtered: string): string {
  return text
    .replace(SQL_PASSWORD, `'${filtered}'`)
    .replace(DUPLICATE, (whole: string, begin: string, index: string) =>
      isSecretName(index.replaceAll(OF_INDEX, '_')) ? `${begin}${filtered}` : whole,
    );
}

/** Removes the values of rows whose columns are secret by their names. */
export function withoutRows(text: string, filtered: string, isSecret: (name: string) => boolean): string {
  const parts: string[] = [];
  let at = 0;
  COLUMNS.lastIndex = 0;
  for (let match = COLUMNS.exec(text); match !== null; match = COLUMNS.exec(text)) {
    const secret = (match[1] ?? '').split(',').map((name) => isSecret(name.trim()));
    if (!secret.includes(true)) continue;
    let from = match.index + match[0].length;
    while (text[from] === '(') {
      from += 1;
      for (let index = 0; ; index += 1) {
        ROW_VALUE.lastIndex = from;
        const value = ROW_VALUE.exec(text);
        if (value === null) break;
        const [whole, held = '', sign] = value;
        if (secret[index] === true && held.trim() !== '') {
          parts.push(text.slice(at, from + whole.indexOf(held)), filtered);
          at = from + whole.length - 1;
        }
        from += whole.length;
        if (sign === ')') break;
      }
      // Further rows follow behind a comma.
      const next = /^,\s{0,5}(?=\()/.exec(text.slice(from, from + 10));
      if (next === null) break;
      from += next[0].length;
    }
    COLUMNS.lastIndex = Math.max(from, COLUMNS.lastIndex);
  }
  return at === 0 ? text : parts.join('') + text.slice(at);
}

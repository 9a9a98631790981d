import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { ClickHouseFailure, toFailure } from '#chdb_server/failure.ts';
import { readTokens } from '#chdb_server/lexer.ts';
import { quoteName, quoteText } from '#chdb_server/quoting.ts';
import { parseStatement } from '#chdb_server/statement.ts';

/** Whatever a text can hold, also halves of pairs. */
const ANY_TEXT = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) });

describe('a statement', () => {
  test.each([
    ['SELECT 1', true, null],
    ['  -- first\n SELECT 1 FORMAT JSONEachRow', true, 'JSONEachRow'],
    ['SELECT 1 FORMAT CSV SETTINGS max_threads = 1', true, 'CSV'],
    ['SELECT format FROM words', true, null],
    ["SELECT 'FORMAT JSON'", true, null],
    ['WITH 1 AS one SELECT one', true, null],
    ['SELECT (SELECT 1)', false, null],
    ['SELECT 1 UNION ALL SELECT 2', false, null],
    ['SELECT a, count() FROM t GROUP BY a WITH TOTALS', false, null],
    ['WITH 1 AS one INSERT INTO t SELECT one', false, null],
    ['SHOW TABLES', false, null],
  ])('%j has its kind and format seen', (sql, isPlainSelect, format) => {
    expect(parseStatement(sql)).toMatchObject({ kind: 'query', isPlainSelect, format });
  });

  test.each([
    ['SELECT 1;', 'SELECT 1'],
    ["SELECT ';' /* ; */ -- ;\n;;", "SELECT ';'"],
    ['SELECT $a$ ; $a$', 'SELECT $a$ ; $a$'],
    ['SELECT "a;b", `c;d`', 'SELECT "a;b", `c;d`'],
    ["SELECT 'it''s; \\'' ", "SELECT 'it''s; \\''"],
  ])('%j is one', (sql, expected) => {
    expect(parseStatement(sql)).toMatchObject({ sql: expected });
  });

  test.each(['SELECT 1; SELECT 2', "SELECT 'a'; DROP TABLE t", '', ' ; ', '-- only a comment'])(
    '%j is not one',
    (sql) => {
      expect(() => parseStatement(sql)).toThrow(ClickHouseFailure);
    },
  );
});

describe('an insert', () => {
  test.each([
    ['INSERT INTO t FORMAT JSONEachRow', 'INSERT INTO t', '', 'JSONEachRow', ''],
    ['INSERT INTO t (a, b) FORMAT Native ;', 'INSERT INTO t (a, b)', '', 'Native', ''],
    ['INSERT INTO t FORMAT CSV\n\n1\n', 'INSERT INTO t', '', 'CSV', '\n1\n'],
    ['INSERT INTO t SETTINGS a = 1 FORMAT TSV 1', 'INSERT INTO t', 'SETTINGS a = 1', 'TSV', '1'],
    ["insert into t values ('a;b')", 'insert into t', '', 'Values', "('a;b')"],
    ['INSERT INTO values (format) VALUES (1)', 'INSERT INTO values (format)', '', 'Values', '(1)'],
    ["INSERT INTO FUNCTION null('a UInt8') VALUES (1)", "INSERT INTO FUNCTION null('a UInt8')", '', 'Values', '(1)'],
    ['INSERT INTO `select` FORMAT CSV', 'INSERT INTO `select`', '', 'CSV', ''],
  ])('%j is taken apart', (sql, target, settings, format, rows) => {
    expect(parseStatement(sql)).toEqual({ kind: 'insert_rows', target, settings, format, rows });
  });

  test('an insert of a query is a query', () => {
    expect(parseStatement('INSERT INTO t SELECT * FROM s FORMAT CSV')).toMatchObject({ kind: 'query', format: 'CSV' });
  });

  test('keeps its rows whatever they hold', () => {
    fc.assert(
      fc.property(ANY_TEXT, (value) => {
        const rows = `(${quoteText(value)})`;
        expect(parseStatement(`INSERT INTO t VALUES ${rows}`)).toMatchObject({ target: 'INSERT INTO t', rows });
      }),
    );
  });
});

test('a quoted text or name is one token, whatever it holds', () => {
  fc.assert(
    fc.property(ANY_TEXT, (value) => {
      for (const quoted of [quoteText(value), quoteName(value)]) {
        expect([...readTokens(`${quoted};`)].map((token) => token.text)).toEqual([quoted, ';']);
      }
    }),
  );
});

test('reading tokens takes any text and loses none of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...`'"\`\\;-/*#$() \na1`.split('')) }), (sql) => {
      for (const token of readTokens(sql)) expect(sql.slice(token.start, token.end)).toBe(token.text);
    }),
  );
});

describe('an error of the engine', () => {
  test('keeps code, type and the innermost message', () => {
    const nested =
      'Code: 27. DB::Exception: Code: 27. DB::Exception: Cannot parse: (at row 2)\n (version 26.7.2.1). (CANNOT_PARSE_INPUT)';
    expect(toFailure(new Error(nested))).toMatchObject({
      code: 27,
      type: 'CANNOT_PARSE_INPUT',
      message: 'Cannot parse: (at row 2)',
      status: 400,
    });
  });

  test('without a code is an unknown one', () => {
    expect(toFailure(new Error('something broke'))).toMatchObject({
      code: 1002,
      type: 'UNKNOWN_EXCEPTION',
      message: 'something broke',
      status: 500,
    });
  });
});

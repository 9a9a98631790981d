import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';

import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { HARMLESS_TABLE_FUNCTIONS, refuseSources } from '#chdb_server/sources.ts';
import { startServer } from '#chdb_server/test/server.ts';

const log = { level: ClickHouseLogLevel.OFF };

let server: Awaited<ReturnType<typeof startServer>>;
let client: ClickHouseClient;

beforeAll(async () => {
  server = await startServer();
  client = createClient({ url: server.url, log, compression: { request: true, response: true } });
});

afterAll(async () => {
  await client.close();
  await server.stop();
});

const rowsOf = async <Row>(query: string, params: Record<string, unknown> = {}): Promise<Row[]> =>
  (await client.query({ query, query_params: params, format: 'JSONEachRow' })).json<Row>();

const single = async (query: string) => Object.values((await rowsOf<Record<string, unknown>>(query))[0] ?? {})[0];

/** Raw HTTP, for what the official client would not send. */
function post(query: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  const url = new URL(server.url);
  const authorization = `Basic ${btoa(`${url.username}:${url.password}`)}`;
  const params = new URLSearchParams({ query });
  return fetch(`${url.origin}/?${params.toString()}`, { method: 'POST', body, headers: { authorization, ...headers } });
}

const HOSTILE = [
  'a\n\nb',
  "'); DROP TABLE words; --",
  '\n\n\nDROP TABLE words\n\n',
  '\0\x01\r\n\r\n',
  'ünï 🚨',
  '\\N',
  '{x:String}',
];

beforeEach(async () => {
  await client.command({ query: 'DROP TABLE IF EXISTS words' });
  await client.command({ query: 'CREATE TABLE words (id UInt64, word String) ENGINE = MergeTree ORDER BY id' });
});

describe('parameters', () => {
  test('arrive as they were, whatever characters they hold', async () => {
    for (const word of HOSTILE) {
      expect(await rowsOf('SELECT {word:String} AS word', { word })).toEqual([{ word }]);
    }
  });

  test('keep their types', async () => {
    const params = { list: ['a', "b'c", '\n'], map: { 'k\t': 'v' }, none: null, number: 42, day: '2026-03-29' };
    const query = `SELECT {list:Array(String)} AS list, {map:Map(String, String)} AS map, {none:Nullable(String)} AS none,
      {number:UInt32} AS number, {day:Date} AS day`;
    expect(await rowsOf(query, params)).toEqual([params]);
  });

  test('are not mixed up between queries that run at the same time', async () => {
    const numbers = Array.from({ length: 30 }, (_, index) => index);
    const answers = await Promise.all(
      numbers.map(async (number) => rowsOf('SELECT {number:UInt32} AS number, sleep(0.01) AS nap', { number })),
    );
    expect(answers.flat()).toEqual(numbers.map((number) => ({ number, nap: 0 })));
  });

  test('may be long, in the address or in a form', async () => {
    const words = Array.from({ length: 4_000 }, (_, index) => `word number ${index}`);
    const query = 'SELECT length({words:Array(String)}) AS count';
    expect(await rowsOf(query, { words })).toEqual([{ count: 4000 }]);
    const inForm = { query, query_params: { words }, use_multipart_params: true, format: 'JSONEachRow' as const };
    expect(await (await client.query(inForm)).json()).toEqual([{ count: 4000 }]);
  });

  test('can be used in a statement that inserts values', async () => {
    for (const [id, word] of HOSTILE.entries()) {
      const query = 'INSERT INTO words VALUES ({id:UInt64}, {word:String})';
      await client.command({ query, query_params: { id, word } });
    }
    expect(await rowsOf('SELECT word FROM words ORDER BY id')).toEqual(HOSTILE.map((word) => ({ word })));
  });
});

describe('inserts', () => {
  test('keep hostile bytes as data in JSONEachRow', async () => {
    const values = HOSTILE.map((word, id) => ({ id, word }));
    await client.insert({ table: 'words', values, format: 'JSONEachRow' });
    expect(await rowsOf('SELECT * FROM words ORDER BY id')).toEqual(values);
  });

  test('do not run what follows an empty line', async () => {
    const body = '{"id":1,"word":"x"}\n\nDROP TABLE words;\n\n';
    const refused = await post('INSERT INTO words FORMAT JSONEachRow', body);
    expect(refused.status).toBe(400);
    const inText = await post('', `INSERT INTO words FORMAT JSONEachRow ${body}`);
    expect(inText.status).toBe(400);
    expect(await single('SELECT count() FROM words')).toBe(0);
    await post('', "INSERT INTO words VALUES (1, 'x')\n\n; DROP TABLE words");
    expect(await single('EXISTS words')).toBe(1);
  });

  test('keep hostile bytes as data in RowBinary and Native', async () => {
    const record = (id: number, word: string) => {
      const head = Buffer.alloc(9);
      head.writeBigUInt64LE(BigInt(id));
      head.writeUInt8(Buffer.byteLength(word), 8);
      return Buffer.concat([head, Buffer.from(word)]);
    };
    const binary = Buffer.concat(HOSTILE.map((word, id) => record(id, word)));
    expect((await post('INSERT INTO words FORMAT RowBinary', binary)).status).toBe(200);
    const native = Buffer.from(await (await post('SELECT * FROM words ORDER BY id FORMAT Native', '')).arrayBuffer());
    await client.command({ query: 'TRUNCATE TABLE words' });
    expect((await post('INSERT INTO words FORMAT Native', native)).status).toBe(200);
    expect(await rowsOf('SELECT word FROM words ORDER BY id')).toEqual(HOSTILE.map((word) => ({ word })));
  });

  test('read a stream and a statement with columns and settings', async () => {
    const lines = Readable.from([
      [1, 'one'],
      [2, 'two'],
    ]);
    await client.insert({ table: 'words', values: lines, format: 'JSONCompactEachRow', columns: ['id', 'word'] });
    await client.command({ query: `INSERT INTO words (id) SETTINGS max_threads = 1 FORMAT JSONEachRow {"id":3}` });
    await client.command({ query: 'INSERT INTO words SELECT id + 10, word FROM words' });
    expect(await single('SELECT sum(id) FROM words')).toBe(42);
  });

  test('tell how many rows they wrote, and keep nothing of them in the spool', async () => {
    const result = await client.insert({ table: 'words', values: [{ id: 1 }, { id: 2 }], format: 'JSONEachRow' });
    expect(result.summary?.written_rows).toBe('2');
    expect(await readdir(path.join(server.dataDir, 'spool'))).toEqual([]);
  });

  test('inserts of no rows succeed', async () => {
    expect((await post('INSERT INTO words FORMAT JSONEachRow', '')).status).toBe(200);
  });

  test('longer than the limit are refused, packed or not', async () => {
    const zeros = new Uint8Array(2 ** 20 + 1);
    const plain = await post('INSERT INTO words FORMAT RowBinary', zeros);
    expect(plain.status).toBe(413);
    const packed = await new Response(new Blob([zeros]).stream().pipeThrough(new CompressionStream('gzip'))).bytes();
    const bomb = await post('INSERT INTO words FORMAT RowBinary', packed, { 'content-encoding': 'gzip' });
    expect(bomb.status).toBe(413);
    expect(await bomb.text()).toMatch(/Code: 1003/);
  });

  test('with a deduplication token are written once, and the token does not reach the next insert', async () => {
    await client.command({
      query: `CREATE OR REPLACE TABLE points (id UInt64) ENGINE = MergeTree ORDER BY id
        SETTINGS non_replicated_deduplication_window = 100`,
    });
    const insert = (id: number, token?: string) =>
      client.insert({
        table: 'points',
        values: [{ id }],
        format: 'JSONEachRow',
        ...(token === undefined ? {} : { clickhouse_settings: { insert_deduplication_token: token } }),
      });
    await insert(1, 'job 1');
    await insert(1, 'job 1');
    await insert(2, 'job 2');
    await insert(3);
    await insert(4);
    expect(await rowsOf('SELECT id FROM points ORDER BY id')).toEqual([1, 2, 3, 4].map((id) => ({ id })));
  });

  test('are written to a table by one insert at a time', async () => {
    await client.command({ query: 'CREATE OR REPLACE TABLE slow (id UInt64) ENGINE = MergeTree ORDER BY id' });
    await client.command({
      query: `CREATE MATERIALIZED VIEW slow_copy ENGINE = Memory AS SELECT id, sleepEachRow(0.1) AS slept FROM slow`,
    });
    const running = () =>
      single(`SELECT toUInt32(count()) FROM system.processes WHERE query LIKE 'INSERT INTO slow%'`) as Promise<number>;
    const done = new AbortController();
    const inserts = Promise.all(
      [1, 2, 3].map((id) => client.insert({ table: 'slow', values: [{ id }], format: 'JSONEachRow' })),
    ).finally(() => done.abort());
    const seen: number[] = [];
    while (!done.signal.aborted) seen.push(await running());
    await inserts;
    expect(Math.max(...seen)).toBe(1);
    expect(await single('SELECT toUInt32(count()) FROM slow')).toBe(3);
  });
});

describe('requests', () => {
  test('leave no settings, parameters, databases or temporary tables behind', async () => {
    await client.query({ query: 'SELECT 1', clickhouse_settings: { max_threads: 1, max_block_size: '17' } });
    await client.command({ query: 'SET max_block_size = 18' });
    await client.command({ query: 'CREATE TEMPORARY TABLE scratch (id UInt8)' });
    await client.command({ query: 'USE system' });
    expect([17, 18]).not.toContain(await single(`SELECT getSetting('max_block_size')`));
    expect(await single('SELECT currentDatabase()')).toBe('default');
    await expect(rowsOf('SELECT * FROM scratch')).rejects.toMatchObject({ code: '60' });
  });

  test('go to the database of the client', async () => {
    const other = createClient({ url: server.url, database: 'system' });
    const result = await other.query({ query: 'SELECT currentDatabase() AS name', format: 'JSONEachRow' });
    expect(await result.json()).toEqual([{ name: 'system' }]);
    await other.close();
  });

  test('hold one statement', async () => {
    const two = client.command({ query: "SELECT ';' AS a; DROP TABLE words" });
    await expect(two).rejects.toMatchObject({ code: '62', type: 'SYNTAX_ERROR' });
    expect(await (await post('', 'SELECT count() FROM words; -- the end')).text()).toBe('0\n');
  });

  test('without the password are refused', async () => {
    const origin = new URL(server.url).origin;
    expect((await fetch(`${origin}/?query=SELECT+1`)).status).toBe(403);
    const guess = createClient({ url: origin, username: 'tocsin', password: 'guess', log });
    await expect(guess.query({ query: 'SELECT 1' })).rejects.toMatchObject({ code: '516' });
    expect(await guess.ping()).toMatchObject({ success: true });
    await guess.close();
  });

  test('end in the errors of ClickHouse, with code and type', async () => {
    await expect(rowsOf('SELECT nothing')).rejects.toMatchObject({ code: '47', type: 'UNKNOWN_IDENTIFIER' });
    await expect(rowsOf('SELECT * FROM no_such_table')).rejects.toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' });
    await expect(client.command({ query: 'SELECT 1 +' })).rejects.toMatchObject({ code: '62', type: 'SYNTAX_ERROR' });
    const insert = client.insert({ table: 'words', values: [{ id: 'x' }], format: 'JSONEachRow' });
    await expect(insert).rejects.toMatchObject({ code: '27' });
    await expect(insert).rejects.not.toThrow(/spool/);
    const wrongSetting = client.query({ query: 'SELECT 1', clickhouse_settings: { no_such_setting: 1 } });
    await expect(wrongSetting).rejects.toMatchObject({ code: '115', type: 'UNKNOWN_SETTING' });
  });

  test('queries that need too much memory fail without affecting others', async () => {
    const greedy = rowsOf('SELECT length(groupArray(repeat(toString(number), 100))) FROM numbers(100000000)');
    await expect(greedy).rejects.toMatchObject({ code: '241' });
    expect(await single('SELECT 1')).toBe(1);
  });
});

describe('results', () => {
  test('are the same streamed and whole', async () => {
    const query = `SELECT number, toString(number) || '"\t''\n,' AS text FROM numbers(70000)`;
    for (const format of ['JSONEachRow', 'JSONCompactEachRow', 'CSV', 'TabSeparated', 'RowBinary']) {
      const streamed = await (await post(`${query} FORMAT ${format}`, '')).bytes();
      const whole = await (await post(`SELECT * FROM (${query}) FORMAT ${format}`, '')).bytes();
      expect({ format, isSame: Buffer.compare(streamed, whole) === 0 }).toEqual({ format, isSame: true });
    }
  });

  test('in the JSON format are one document', async () => {
    const answer = await client.query({ query: 'SELECT number FROM numbers(70000)', format: 'JSON' });
    expect((await answer.json<{ number: number }>()).data).toHaveLength(70_000);
  });

  test('queries that fail in the middle raise the error while they are read', async () => {
    const query = 'SELECT throwIf(number = 190000) AS zero FROM numbers(200000)';
    const plain = createClient({ url: server.url, log });
    const answer = await plain.query({ query, format: 'JSONEachRow', clickhouse_settings: { max_block_size: '1000' } });
    await expect(answer.json()).rejects.toMatchObject({ code: '395' });
    await plain.close();
  });

  test('too big to be held whole are refused', async () => {
    const query = `SELECT number, repeat(toString(number % 10), 1000) AS text FROM numbers(70000)`;
    await expect(client.query({ query, format: 'JSON' })).rejects.toMatchObject({ code: '396' });
  });
});

describe('an aborted request', () => {
  const ENDLESS = 'SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1';
  const underWay = async () =>
    rowsOf<{ query: string }>(`SELECT query FROM system.processes WHERE query LIKE '%1000000000000%'
      AND query NOT LIKE '%system.processes%'`);

  test('stops in the engine', async () => {
    for (const query of [
      ENDLESS,
      `INSERT INTO words SELECT number, '' FROM (${ENDLESS.replace('count()', 'number')})`,
    ]) {
      const abort = new AbortController();
      const request = client.exec({ query, abort_signal: abort.signal });
      await expect.poll(() => underWay()).toHaveLength(1);
      abort.abort();
      await expect(request).rejects.toThrow(/aborted/);
      await expect.poll(() => underWay()).toEqual([]);
    }
  });

  test('is dropped when its query had not begun', async () => {
    const aborts = Array.from({ length: 30 }, () => new AbortController());
    const requests = aborts.map((abort) => client.exec({ query: ENDLESS, abort_signal: abort.signal }));
    const settled = Promise.allSettled(requests);
    for (const abort of aborts) abort.abort();
    await settled;
    await expect.poll(() => underWay()).toEqual([]);
  });
});

test('queries of low priority leave room for others, however many there are and however long they take', async () => {
  const abort = new AbortController();
  const many = createClient({ url: server.url, log, max_open_connections: 20 });
  const charts = Array.from({ length: 20 }, () =>
    many.query({
      query: 'SELECT sleepEachRow(0.1) FROM numbers(1000) SETTINGS max_block_size = 1',
      clickhouse_settings: { priority: '10' },
      abort_signal: abort.signal,
    }),
  );
  const settled = Promise.allSettled(charts);
  const running = () =>
    single("SELECT toUInt32(count()) FROM system.processes WHERE query LIKE '%sleepEachRow(0.1)%1000%'");
  await expect.poll(running).toBeGreaterThanOrEqual(6);
  for (let count = 0; count < 3; count += 1) expect(await single('SELECT 1')).toBe(1);
  await client.insert({ table: 'words', values: [{ id: 1, word: 'x' }], format: 'JSONEachRow' });
  abort.abort();
  await settled;
  await many.close();
});

describe('statements that reach beyond the tables', () => {
  test('is refused, by names, by values of parameters and in inserts', async () => {
    const refused = /Not allowed here/;
    await expect(rowsOf(`SELECT * FROM file('/etc/passwd', 'LineAsString', 'l String')`)).rejects.toThrow(refused);
    await expect(rowsOf('SELECT * FROM `/etc/passwd`')).rejects.toThrow(refused);
    await expect(rowsOf('SELECT * FROM {t:Identifier}', { t: '/etc/passwd' })).rejects.toThrow(refused);
    expect(await rowsOf('SELECT count() AS n FROM {t:Identifier}', { t: 'words' })).toEqual([{ n: 0 }]);
    const written = await post(`INSERT INTO FUNCTION file('/tmp/x', 'CSV', 'a String') FORMAT CSV`, 'a\n');
    expect(await written.text()).toMatch(refused);
  });

  test('covers every table function of the engine that is not listed as harmless', async () => {
    const functions = await rowsOf<{ name: string }>('SELECT name FROM system.table_functions');
    expect(functions.length).toBeGreaterThan(50);
    const passed = functions.filter(({ name }) => {
      try {
        refuseSources(`SELECT * FROM ${name}('x')`);
        return true;
      } catch {
        return false;
      }
    });
    expect(passed.map(({ name }) => name.toLowerCase()).toSorted()).toEqual([...HARMLESS_TABLE_FUNCTIONS].toSorted());
  });
});

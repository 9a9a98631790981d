import { describe, expect, test } from 'vitest';

import { refuseSources } from '#chdb_server/sources.ts';

describe('a statement that reaches beyond the tables', () => {
  test.each([
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "SELECT file('/etc/passwd')",
    "select * from `file`('/etc/passwd')",
    'SELECT * FROM "fi\\x6ce"(\'/etc/passwd\')',
    "SELECT 1 UNION ALL SELECT * FROM url ('http://169.254.169.254/', 'RawBLOB')",
    "SELECT * FROM t WHERE id IN (SELECT c1 FROM s3('https://b.s3.amazonaws.com/x'))",
    "SELECT * FROM remote('10.0.0.1', system.one)",
    "SELECT * FROM remoteSecure('10.0.0.1', system.one)",
    "SELECT * FROM clusterAllReplicas('c', system.one)",
    "SELECT * FROM executable('id', 'TSV', 'x String')",
    "SELECT * FROM mysql('h:3306', 'd', 't', 'u', 'p')",
    "SELECT * FROM postgresql('h:5432', 'd', 't', 'u', 'p')",
    "SELECT * FROM icebergS3('x')",
    "SELECT aiGenerate('x')",
    "SELECT dictGet('d', 'x', 1)",
    "SELECT * FROM 'file.csv'",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM `/etc/passwd`',
    'SELECT * FROM t, "/etc/passwd"',
    "SELECT * FROM t, '/etc/passwd'",
    "SELECT * FROM (SELECT a FROM (SELECT 1 AS a)) AS s, '/etc/passwd'",
    "SELECT * FROM (SELECT f(1, 2) FROM t), '/etc/passwd'",
    "SELECT * FROM t JOIN 'https://example.com/x.csv' ON 1",
    "DESCRIBE TABLE '/etc/passwd'",
    "INSERT INTO FUNCTION file('/tmp/x', 'CSV', 'a String') SELECT 1",
    "INSERT INTO TABLE FUNCTION url('http://x', 'CSV', 'a String') VALUES (1)",
    "INSERT INTO '/tmp/x.csv' VALUES (1)",
    "INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV",
    "SELECT 1 INTO OUTFILE '/tmp/x'",
    'CREATE TABLE t (a String) ENGINE = File(CSV)',
    "CREATE TABLE t (a String) ENGINE URL('http://x')",
    "CREATE TABLE t (a String) ENGINE = S3('http://x')",
    "CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = 'web', endpoint = 'http://x')",
    "CREATE DATABASE d ENGINE = Filesystem('/')",
    "CREATE DATABASE d ENGINE = MySQL('h:3306', 'd', 'u', 'p')",
    "CREATE OR REPLACE DICTIONARY d (a UInt64) PRIMARY KEY a SOURCE(HTTP(url 'http://x')) LAYOUT(FLAT())",
    'CREATE FUNCTION f AS (x) -> x',
    'CREATE NAMED COLLECTION c AS a = 1',
    "BACKUP TABLE t TO Disk('d', 'x')",
    "RESTORE TABLE t FROM File('/tmp/x')",
    "ATTACH TABLE t FROM '/tmp/x' (a UInt8) ENGINE = MergeTree ORDER BY a",
    'SYSTEM SHUTDOWN',
    'ALTER TABLE t FREEZE',
    "ALTER TABLE t MOVE PARTITION 1 TO DISK 'x'",
  ])('is refused: %s', (sql) => {
    expect(() => refuseSources(sql)).toThrow(/Not allowed here/);
  });

  test.each([
    "SELECT file, url FROM t WHERE file = '/etc/passwd' AND url IN ('http://x', 'y')",
    "SELECT a, concat(a, ' ', b) FROM (SELECT a, f(b, 'UTC') FROM (SELECT a FROM (SELECT 1 AS a))) AS s",
    "SELECT f((SELECT a FROM t), 'UTC')",
    "SELECT 'FROM file(' AS a, a || '/x' FROM numbers(3) ORDER BY 1",
    "SELECT engine FROM system.tables WHERE name = 'x'",
    "WITH 'x' AS a SELECT a, 'y', `b` FROM t ARRAY JOIN ['a', 'b'] AS c WHERE d IN ('x', 'y') SETTINGS max_threads = 1",
    'CREATE TABLE IF NOT EXISTS t (user String, role String) ENGINE = ReplacingMergeTree(v) ORDER BY user',
    'CREATE MATERIALIZED VIEW v TO t AS SELECT * FROM s',
    "ALTER TABLE t UPDATE a = 'FREEZE' WHERE b = 1",
    'INSERT INTO t (a, b) SELECT a, b FROM s',
    "KILL QUERY WHERE query_id = 'x' ASYNC",
  ])('and one that does not is not: %s', (sql) => {
    expect(() => refuseSources(sql)).not.toThrow();
  });
});

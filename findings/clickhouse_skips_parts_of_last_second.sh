#!/usr/bin/env bash
# ClickHouse 26.7: a row of 23:59:59.500 is not before toDateTime('… 00:00:00') when it is alone in its part, and is when it is not.
#
# A column DateTime64(3) is compared with a DateTime, as `ts < toDateTime(…)` in a query of a whole hour or day. The same
# comparison is true row by row; but the index rewrites "before midnight" as "up to 23:59:59", and passes over each part whose
# rows are all within the second before. After a merge the row is found again. `>` has the same gap. Compared with
# toDateTime64(…, 3), with text or with fromUnixTimestamp64Milli(), nothing is missing.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact chdb@3.4.0 >/dev/null
cat >try.mjs <<'JS'
import { Session } from 'chdb';

const session = new Session();
const ask = (sql) => session.query(sql, 'TSV').trim();
ask('CREATE DATABASE d');
ask("CREATE TABLE d.points (ts DateTime64(3, 'UTC')) ENGINE = MergeTree PARTITION BY toDate(ts) ORDER BY ts");
const midnight = "'2027-03-10 00:00:00'";
const count = (condition) => ask(`SELECT count() FROM d.points WHERE ${condition}`);

ask("INSERT INTO d.points VALUES ('2027-03-09 23:59:59.500')");
const alone = count(`ts < toDateTime(${midnight}, 'UTC')`);
const exact = count(`ts < toDateTime64(${midnight}, 3, 'UTC')`);
const byRow = ask(`SELECT ts < toDateTime(${midnight}, 'UTC') FROM d.points`);
ask("INSERT INTO d.points VALUES ('2027-03-09 12:00:00')");
ask('OPTIMIZE TABLE d.points FINAL');
const merged = count(`ts < toDateTime(${midnight}, 'UTC')`);
console.log(`ClickHouse ${ask('SELECT version()')}`);
console.log(`before midnight, of one row: ${alone} by DateTime, ${exact} by DateTime64; row by row: ${byRow}`);
console.log(`before midnight, of two rows in one part, by DateTime: ${merged}`);
session.cleanup();
process.exit([alone, exact, byRow, merged].join() === '0,1,1,2' ? 0 : 1);
JS
node try.mjs

#!/usr/bin/env bash
# ClickHouse: of a column with NaN, max(), min() and quantile() tell the numbers, avg() and sum() tell NaN.
#
# A service that could not measure once sends NaN. One expects all of them to pass over it, or none: the chart of the greatest
# value goes on, the one of the average has a gap, and a rule on the average, which is no longer above anything, says
# nothing although each number is. greatest(1, NaN) is NaN again, unlike max() over the same two.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact chdb@3.4.0 >/dev/null
cat >try.mjs <<'JS'
import { query } from 'chdb';

const rows = 'FROM (SELECT arrayJoin([95., nan, 99.]) AS value)';
console.log(`ClickHouse ${query('SELECT version()', 'TSV').trim()}`);
const seen = query(`SELECT max(value), min(value), quantile(0.5)(value), avg(value), sum(value), avg(value) > 90 ${rows}`, 'TSV');
const greatest = query('SELECT greatest(1, nan)', 'TSV');
console.log(`max, min, quantile, avg, sum, avg > 90: ${seen.trim()}\ngreatest(1, nan): ${greatest.trim()}`);
process.exit(`${seen}${greatest}` === '99\t95\t97\tnan\tnan\t0\nnan\n' ? 0 : 1);
JS
node try.mjs

/** ClickHouse as a library behind its HTTP interface, for a trial of compose.yaml without ClickHouse's image. */
import { mkdirSync, readFileSync } from 'node:fs';

import { startChdbServer } from '@tocsin/chdb-server';

import { forwardRequests } from './forward.ts';

const OWN_PORT = 18_123;
const MEGABYTE = 1024 * 1024;

const dataDir = process.env['DATA_FOLDER'] ?? '/var/lib/clickhouse';
const password = readFileSync('/run/secrets/clickhouse_password', 'utf8').trim();
mkdirSync(dataDir, { recursive: true });
const server = await startChdbServer({
  dataDir,
  port: OWN_PORT,
  user: 'tocsin',
  password,
  memoryBytes: 700 * MEGABYTE,
  rowsBytesMax: 256 * MEGABYTE,
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void server.stop().finally(() => process.exit(0)));
}
const { origin, username } = new URL(server.url);
const answer = await fetch(`${origin}/?query=${encodeURIComponent('CREATE DATABASE IF NOT EXISTS tocsin')}`, {
  method: 'POST',
  headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
});
if (!answer.ok) throw new Error(`the database could not be created: ${await answer.text()}`);
await forwardRequests({ from: 8123, to: OWN_PORT });

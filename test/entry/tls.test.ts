import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';

import { loadConfig } from '#entry/config.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { connectQueue } from '#storage/queue/connection.ts';
import { APP_SECRET, expectTrustOnlyIn, faultsOf } from '#test/entry/trusted_authorities.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { type Certificates, makeCertificates } from '#test/kit/programs/certificates.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';

let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
afterAll(() => certificates.remove());

type Environment = Record<string, string>;

describe.skipIf(!canRunWith('redis-server', inject('redisUrl') !== null))('Redis', () => {
  test('is reached over TLS with an authority of its own, and with no other', async () => {
    const port = await findFreePort(0);
    const dir = mkdtempSync(path.join(os.tmpdir(), 'tocsin-redis-tls-'));
    const { certFile, keyFile, caFile } = certificates;
    const tls = {
      port: 0,
      'tls-port': port,
      'tls-cert-file': certFile,
      'tls-key-file': keyFile,
      'tls-ca-cert-file': caFile,
    };
    const settings = { ...tls, 'tls-auth-clients': 'no', bind: '127.0.0.1', dir, save: '' };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(async () => {
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
      rmSync(dir, { recursive: true, force: true });
    });
    const redisUrl = `rediss://127.0.0.1:${port}`;
    const trusted = { REDIS_URL: redisUrl, REDIS_CA_FILE: caFile };
    for await (const line of createInterface(server.stdout)) if (line.includes('Ready to accept connections')) break;
    expect(await faultsOf(trusted)).toEqual([]);
    await expectTrustOnlyIn(certificates, { store: 'Redis', prefix: 'REDIS', url: redisUrl });
    const store = { databaseUrl: 'postgres://none', redisUrl, redisCaFile: caFile };
    const queue = connectQueue(store, { durable: true, poolMax: 1 });
    onTestFinished(() => queue.close());
    await queue.ping();
  });
});

test('ClickHouse is reached over TLS with an authority of its own, and with no other', async () => {
  const url = await startTlsFront(new URL(inject('clickhouseUrl')));
  await expectTrustOnlyIn(certificates, { store: 'ClickHouse', prefix: 'CLICKHOUSE', url });
  const client = openClickHouse({ clickhouseUrl: url, clickhouseCaFile: certificates.caFile });
  onTestFinished(() => client.close());
  const answer = await client.query({ query: 'SELECT 1', format: 'JSONCompactEachRow' });
  expect(await answer.json()).toEqual([[1]]);
});

/** Starts a server's own HTTPS port in front of a plain one. */
async function startTlsFront(plain: URL): Promise<string> {
  const [cert, key] = [certificates.certFile, certificates.keyFile].map((file) => readFileSync(file));
  const server = createServer({ cert, key }, (incoming, answer) => {
    const { method, url: target } = incoming;
    const { 'x-clickhouse-user': user, 'x-clickhouse-key': password, ...rest } = incoming.headers;
    // Over TLS the client names itself so, which a server takes, too.
    const credentials = Buffer.from(`${String(user)}:${String(password)}`).toString('base64');
    const headers = { ...rest, authorization: `Basic ${credentials}` };
    const onward = request({ host: '127.0.0.1', port: plain.port, method, path: target, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(plain);
  url.protocol = 'https:';
  return url.toString().replace(plain.host, `127.0.0.1:${(server.address() as AddressInfo).port}`);
}

describe('a file of an authority', () => {
  const wrong = (environment: Environment) => () => loadConfig(environment);

  test.each([
    ['DATABASE_CA_FILE', {}],
    ['REDIS_CA_FILE', { REDIS_URL: 'rediss://h' }],
    ['CLICKHOUSE_CA_FILE', { CLICKHOUSE_URL: 'https://h' }],
  ])('%s that cannot be read, or is none, is a sentence', (file, others) => {
    expect(wrong({ ...others, [file]: '/none' })).toThrow(`${file} names a file that cannot be read (ENOENT)`);
    expect(wrong({ ...others, [file]: certificates.keyFile })).toThrow(`${file} names a file without a certificate`);
    expect(wrong({ ...others, [file]: certificates.certFile })).toThrow(`${file} holds the certificate of a server`);
  });

  test('needs an address with TLS', () => {
    const { caFile } = certificates;
    const redis = wrong({ REDIS_CA_FILE: caFile, REDIS_URL: 'redis://h' });
    expect(redis).toThrow('REDIS_CA_FILE is for TLS: let REDIS_URL begin with rediss');
    const clickhouse = wrong({ CLICKHOUSE_CA_FILE: caFile, CLICKHOUSE_URL: 'http://h' });
    expect(clickhouse).toThrow('CLICKHOUSE_CA_FILE is for TLS: let CLICKHOUSE_URL begin with https');
    const postgres = wrong({ DATABASE_CA_FILE: caFile, DATABASE_URL: 'postgres://h/d?sslmode=disable', APP_SECRET });
    expect(postgres).toThrow('DATABASE_URL switches TLS off (sslmode), and DATABASE_CA_FILE is for TLS');
  });
});

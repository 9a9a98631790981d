import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { type Facts, readOrCreateAppSecret } from '#infra/embedded/installation.ts';
import { Banner } from '#infra/embedded/banner.ts';

describe('the secret of an installation', () => {
  test('is created once, readable by its owner only, and never replaced', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'installation-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, 'app-secret');
    const secret = readOrCreateAppSecret(file);
    expect(secret.length).toBeGreaterThanOrEqual(32);
    expect(readOrCreateAppSecret(file)).toBe(secret);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, 'short');
    expect(() => readOrCreateAppSecret(file)).toThrow(/damaged/);
  });
});

describe('the banner', () => {
  const facts: Facts = {
    apiUrl: 'http://127.0.0.1:3000',
    dataDir: '/data',
    postgres: 'embedded',
    clickhouse: 'server',
    queue: 'Redis',
    phoneUrl: 'http://127.0.0.1:3001',
    firstRun: null,
    firstRunFile: '/data/first-run.json',
  };
  const shown = (isTTY: boolean) => {
    let output = '';
    const banner = new Banner({ isTTY, write: (part) => (output += part) });
    banner.progress({ kind: 'died', service: 'API', how: 'exit code 1', restartInMs: 200 });
    banner.running(facts, 2_345);
    return output;
  };

  test('shows what runs where', () => {
    expect(shown(false)).toBe(`✗ API               died (exit code 1); restarting in 0.2 s

Tocsin is running after 2.3 s

  API and console   http://127.0.0.1:3000
  Phone simulator   http://127.0.0.1:3001/… (phoneUrl in running.json has it whole)  (no Twilio account)
  PostgreSQL        embedded
  ClickHouse        server
  Queue             in Redis
  Data folder       /data
  How to sign in    /data/first-run.json

Ctrl-C stops everything.

`);
  });

  test('shows secrets on a terminal only, and elsewhere says where they are', () => {
    const firstRun = { email: 'owner@localhost', password: 'amber-kettle', apiKey: 'tocsin_key_1' };
    for (const isTTY of [true, false]) {
      let output = '';
      const banner = new Banner({ isTTY, write: (part) => (output += part) });
      banner.running({ ...facts, firstRun: { ...firstRun, baseUrl: '', organizationId: '', userId: '' } }, 1);
      for (const secret of [firstRun.password, firstRun.apiKey]) expect(output.includes(secret)).toBe(isTTY);
      expect(output.includes('The password and the API key of this first start are in /data/first-run.json')).toBe(
        !isTTY,
      );
    }
  });

  test('has colours on a terminal only', () => {
    expect(shown(true)).toContain('\u001B[');
    expect(shown(false)).not.toContain('\u001B');
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { linksFault, loadConfig } from '#entry/config.ts';
import { SECURITY_GUIDE, withLimitsTable } from '#infra/release/limits_table.ts';
import { withSettingsTable } from '#infra/release/settings_table.ts';
import { ConfigError } from '#kernel/config.ts';
import { LIMIT_SETTINGS } from '#kernel/limit_settings.ts';

function faultsOf(environment: Record<string, string>): string {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

test('an empty environment gives the defaults', () => {
  expect(loadConfig({})).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    baseUrl: 'http://127.0.0.1:3000',
    dataDir: '.data',
    logLevel: 'info',
    databaseUrl: undefined,
  });
});

test('a server for others whose links lead to itself alone is told to say where it is', () => {
  const fault = linksFault({ HOST: '0.0.0.0', PORT: '8080' });
  expect(fault).toMatch(/^BASE_URL: .* lead to http:\/\/localhost:8080, which only this machine can open; set it/);
  expect(linksFault({ HOST: '::' })).not.toBeNull();
  expect(linksFault({ HOST: '0.0.0.0', BASE_URL: 'https://tocsin.example.com' })).toBeNull();
  expect(linksFault({})).toBeNull();
});

test('every fault is named at once, and no value is', () => {
  const environment = {
    PORT: 'abc',
    APP_SECRET: 'hunter2',
    DATABASE_URL: 'mysql://hunter2',
    LOG_LEVEL: 'loud',
    SMTP_URL: 'smtp://x',
  };
  const text = faultsOf(environment);
  for (const variable of ['PORT', 'APP_SECRET', 'DATABASE_URL', 'LOG_LEVEL', 'MAIL_FROM'])
    expect(text).toContain(variable);
  expect(text).not.toContain('hunter2');
});

test('a secret may be in a file that a variable names', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'secret');
  const secret = 'a secret that is long enough for tests';
  writeFileSync(file, `${secret}\n`);
  expect(loadConfig({ APP_SECRET_FILE: file }).appSecret).toBe(secret);
  expect(loadConfig({ APP_SECRET_FILE: file, APP_SECRET: secret }).appSecret).toBe(secret);
  const two = faultsOf({ APP_SECRET_FILE: file, APP_SECRET: 'another secret that is long enough' });
  expect(two).toBe('APP_SECRET and APP_SECRET_FILE differ; set one of them');
  expect(faultsOf({ SMTP_URL_FILE: path.join(folder, 'none') })).toMatch(
    /^SMTP_URL_FILE names a file that cannot be read \(ENOENT\); correct the path, or its permissions$/,
  );
  writeFileSync(file, '\n');
  expect(faultsOf({ APP_SECRET_FILE: file })).toContain('APP_SECRET_FILE names an empty file');
});

test('what only makes sense together is required together', () => {
  expect(faultsOf({ FIRST_OWNER_EMAIL: 'anna@example.com' })).toMatch(
    /FIRST_OWNER_PASSWORD is required with FIRST_OWNER_EMAIL/,
  );
  expect(faultsOf({ DIRECT_DATABASE_URL: 'postgres://db/tocsin' })).toMatch(/DATABASE_URL is required with/);
});

test.each([
  ['redis://127.0.0.1:6379', true],
  ['rediss+sentinel://a:26379,b:26379/mymaster', true],
  ['redis+cluster://a,b', true],
  ['http://127.0.0.1', false],
])('REDIS_URL %s is taken: %s', (url, isTaken) => {
  expect(faultsOf({ REDIS_URL: url }) === '').toBe(isTaken);
});

test('an empty variable is an unset one', () => {
  expect(loadConfig({ PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: undefined });
});

test('the base URL is spelt as browsers spell it', () => {
  const spelt = (url: string) => loadConfig({ BASE_URL: url }).baseUrl;
  expect(spelt('https://Ops.Example:443/Tocsin')).toBe('https://ops.example/Tocsin');
  expect(spelt('https://köln.example')).toBe('https://xn--kln-sna.example');
  expect(spelt('http://[2001:DB8:0::1]:80')).toBe('http://[2001:db8::1]');
});

test.each([
  ['10.0.0.1, 10.0.0.0/8,::1,fd00::/8', true],
  ['10.0.0.0/33', false],
  ['300.0.0.1', false],
  ['10.0.0.1:80', false],
  ['10.0.0', false],
  ['::/129', false],
])('TRUSTED_PROXIES %s is taken: %s', (list, isTaken) => {
  expect(faultsOf({ TRUSTED_PROXIES: list }) === '').toBe(isTaken);
});

test('the base URL has no slash at its end, and points at a host that links can reach', () => {
  expect(loadConfig({ BASE_URL: 'https://ops.example/tocsin/' }).baseUrl).toBe('https://ops.example/tocsin');
  expect(loadConfig({ HOST: '0.0.0.0', PORT: '80' }).baseUrl).toBe('http://localhost:80');
  expect(loadConfig({ HOST: '::1' }).baseUrl).toBe('http://[::1]:3000');
});

test('the table of settings in the README is that of the declarations; npm run format writes it', () => {
  const readme = readFileSync(path.join(import.meta.dirname, '../../README.md'), 'utf8');
  expect(withSettingsTable(readme)).toBe(readme);
});

test('the table of limits in the security guide is that of the declarations; npm run format writes it', () => {
  const guide = readFileSync(SECURITY_GUIDE, 'utf8');
  expect(withLimitsTable(guide)).toBe(guide);
});

test.each(Object.entries(LIMIT_SETTINGS))('the limit %s is a whole number in its range', (name, declared) => {
  const { variable, allowed, schema, fallback } = declared;
  const { minimum = 0, maximum = 0 } = schema as { minimum?: number; maximum?: number };
  for (const text of ['many', '1.5', '-1', String(maximum + 1), ...(minimum === 0 ? [] : [String(minimum - 1)])]) {
    expect(faultsOf({ [variable]: text })).toBe(`${variable} must be ${allowed}`);
  }
  expect(loadConfig({ [variable]: String(minimum) })).toHaveProperty(name, minimum);
  expect(loadConfig({})).toHaveProperty(name, Number(fallback));
});

import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { linksWarning, loadConfig } from '#entry/config.ts';
import { withSettingsTable } from '#infra/release/settings_table.ts';
import { ConfigError } from '#kernel/config.ts';

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
  const warning = linksWarning({ HOST: '0.0.0.0', PORT: '8080' });
  expect(warning).toMatch(/lead to http:\/\/localhost:8080, which only this machine can open: set BASE_URL/);
  expect(linksWarning({ HOST: '::' })).not.toBeNull();
  expect(linksWarning({ HOST: '0.0.0.0', BASE_URL: 'https://tocsin.example.com' })).toBeNull();
  expect(linksWarning({})).toBeNull();
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

test('an empty variable is an unset one', () => {
  expect(loadConfig({ PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: undefined });
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

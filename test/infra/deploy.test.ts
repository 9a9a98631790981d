import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { foldersOf, importedPackages } from '#infra/deploy/image/server_packages.ts';
import { SETTINGS } from '#entry/config.ts';
import { CHART_SETTINGS_FILE, chartSettings } from '#infra/release/chart_settings.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const readDeploy = (file: string) => readFileSync(path.join(ROOT, 'infra/deploy', file), 'utf8');

test('the chart knows every setting: "npm run format" writes them down', () => {
  expect(JSON.parse(readFileSync(CHART_SETTINGS_FILE, 'utf8'))).toEqual(chartSettings());
});

test('the image holds what the server loads, and neither the console, nor stores, nor tools', () => {
  const imported = importedPackages(ROOT);
  const folders = foldersOf(ROOT, imported);
  expect(imported).toEqual(expect.arrayContaining(['fastify', 'bullmq', 'pg', '@clickhouse/client', 'commander']));
  expect(folders.every((folder) => existsSync(path.join(ROOT, folder, 'package.json')))).toBe(true);
  // What a package needs in turn, too.
  expect(folders).toContain('node_modules/msgpackr');
  const unwanted = [
    'chdb',
    'node',
    'react',
    'react-dom',
    'vite',
    'vitest',
    'typescript',
    '@iconify-json/tabler',
    'msgpackr-extract',
  ];
  expect(unwanted.filter((name) => folders.includes(`node_modules/${name}`))).toEqual([]);
});

test('every process has longer to stop than it takes', () => {
  const stopMs = 1_000 * Number(SETTINGS.stopSeconds.fallback);
  const secondsIn = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);
  const values = readDeploy('chart/values.yaml');
  const preStop = secondsIn(values, /^preStopSeconds: (\d+)/m);
  expect(stopMs).toBe(15_000);
  expect(secondsIn(readDeploy('compose.yaml'), /stop_grace_period: (\d+)s/)).toBeGreaterThan(stopMs / 1_000);
  expect(secondsIn(values, /^terminationGracePeriodSeconds: (\d+)/m)).toBeGreaterThan(preStop + stopMs / 1_000);
  expect(secondsIn(readDeploy('tocsin.service'), /^TimeoutStopSec=(\d+)/m)).toBeGreaterThan(stopMs / 1_000);
  // The chart refuses less than preStopSeconds and this.
  expect(
    secondsIn(readDeploy('chart/templates/_check.tpl'), /add \(int \$values\.preStopSeconds\) (\d+)/),
  ).toBeGreaterThan(stopMs / 1_000);
});

test('no container of compose.yaml gets a secret by its environment', () => {
  const compose = readDeploy('compose.yaml');
  const { secrets } = chartSettings() as { secrets: string[] };
  expect(secrets.filter((name) => new RegExp(`^\\s+${name}:`, 'm').test(compose))).toEqual([]);
  expect(compose).toContain('APP_SECRET_FILE: /run/secrets/app_secret');
});

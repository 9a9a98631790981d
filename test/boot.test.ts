import { rmSync, statSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  firstRunOf,
  type Installation,
  listServices,
  makeDataFolder,
  processesOfFolder,
  startInstallation,
  stopInstallation,
} from '#test/kit/programs/installation.ts';

// The command line and the demo beside it, and a second start, are of the proof `processes`.
const dataDir = makeDataFolder();
let server: Installation;

// Six processes start.
beforeAll(async () => {
  server = await startInstallation(dataDir);
});

afterAll(() => {
  server.process.kill('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
});

test('a first start says where everything is, and serves its owner', async () => {
  expect(server.output()).toContain('Tocsin is running');
  const response = await fetch(`${server.baseUrl}/healthz`);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    status: 'up',
    stores: { postgres: { status: 'up' }, clickhouse: { status: 'up' }, queue: { status: 'up' } },
  });

  // It says where it wrote how to sign in, as it does not write to a terminal.
  const file = path.join(dataDir, 'first-run.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const firstRun = firstRunOf(dataDir);
  const keys = ['apiKey', 'baseUrl', 'email', 'organizationId', 'password', 'userId'];
  expect(Object.keys(firstRun).toSorted()).toEqual(keys);
  expect(firstRun['baseUrl']).toBe(server.baseUrl);
  expect(server.output()).not.toContain(firstRun['password']);
  expect(server.output()).toContain(`are in ${file}`);
  expect(await listServices(server, firstRun['apiKey'] ?? '')).toBe(200);
});

test('every process ends on SIGTERM', async () => {
  expect(processesOfFolder(dataDir).length).toBeGreaterThan(5);
  // It ends with another status when it has to give up what does not stop.
  expect(await stopInstallation(server)).toBe(0);
  expect(processesOfFolder(dataDir)).toEqual([]);
});

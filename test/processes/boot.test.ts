import { rmSync } from 'node:fs';

import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  firstRunOf,
  type Installation,
  listServices,
  makeDataFolder,
  runProgram,
  startInstallation,
  stopInstallation,
} from '#test/kit/programs/installation.ts';

let dataDir: string;
let server: Installation;

beforeAll(async () => {
  dataDir = makeDataFolder();
  server = await startInstallation(dataDir);
});

afterAll(async () => {
  // Undefined when the first start failed.
  if ((server as Installation | undefined)?.process.exitCode === null) await stopInstallation(server);
  rmSync(dataDir, { recursive: true, force: true });
});

test('an installation is the only one on its data folder', async () => {
  const second = await runProgram(dataDir, 'infra/embedded/start.ts');
  expect(second.code).toBe(2);
  expect(second.stdout).toContain(`another process (pid ${server.process.pid}) already runs on this data folder`);
});

test('the command line beside it finds its stores', async () => {
  const { code, stdout } = await runProgram(dataDir, 'src/entry/cli.ts', 'org', 'list', '--json');
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('organizations') as string });
});

test('in the demo a real error and a real metric page a phone', async () => {
  const { code, stdout } = await runProgram(dataDir, 'infra/demo/main.ts');
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Every step worked.') as string });
});

test('the next start migrates nothing and has everything', async () => {
  expect(await stopInstallation(server)).toBe(0);
  const { apiKey = '' } = firstRunOf(dataDir);
  server = await startInstallation(dataDir);
  expect(server.output()).not.toContain('Migrations');
  expect(server.output()).not.toContain(apiKey);
  expect(await listServices(server, apiKey)).toBe(200);
});

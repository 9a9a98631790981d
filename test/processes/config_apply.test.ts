import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { expect, test } from 'vitest';

import { operatorIn } from '#actions/operator.ts';
import { pullConfiguration } from '#modules/configuration/pull_configuration.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { type World, world } from '#test/kit/world.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PEOPLE = 12;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

/** A file with people, teams, schedules with overrides, and policies. */
function fileOf(domain: string): string {
  const people = numbers(PEOPLE).map((n) => `  - { key: p${n}, name: Person ${n}, email: p${n}@${domain} }`);
  const teams = numbers(4).map((n) => {
    return `  - { key: t${n}, name: Team ${n}, members: [{ person: p${n} }, { person: p${n + 4} }, { person: p${n + 8} }] }`;
  });
  const schedules = numbers(4).map((n) => {
    const layers = ['Week', 'Nights'].map((name, index) => {
      return `{ name: ${name}, rotation: { every: 1, unit: weeks }, turns: [{ people: [p${n + 4 * index}] }], startsAt: 2026-01-05T09:00 }`;
    });
    const override = `{ person: p${n + 8}, startsAt: 2031-03-04T20:00, endsAt: 2031-03-05T08:00, layer: Nights }`;
    return `  - { key: s${n}, team: t${n}, name: Primary, timezone: UTC, layers: [${layers.join(', ')}], overrides: [${override}] }`;
  });
  const policies = numbers(4).map((n) => {
    return `  - { key: w${n}, team: t${n}, name: Wake, steps: [{ afterMinutes: 0, channels: [sms], onCall: true }] }`;
  });
  const lists = { people, teams, schedules, policies };
  return `version: 1\n${Object.entries(lists)
    .map(([name, lines]) => `${name}:\n${lines.join('\n')}\n`)
    .join('')}`;
}

function start({ context: { config }, orgId }: World, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['src/entry/cli.ts', 'config', ...args, '--org', orgId, '--json'], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: 'node_modules/.cache/node',
      DATABASE_URL: config.databaseUrl,
      CLICKHOUSE_URL: config.clickhouseUrl,
      APP_SECRET: config.appSecret,
      BASE_URL: config.baseUrl,
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function ended(child: ChildProcess): Promise<{ code: number | null; out: string; said: string }> {
  const [out, said, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, out, said };
}

/** Pulled file without the owner and the domain of addresses, which differ between organizations. */
async function pulled(w: World, domain: string): Promise<string> {
  const file = await pullConfiguration(w.context.actions, operatorIn(w.orgId));
  return file.replaceAll(/ *- key: olga.*\n(?: +[^ -].*\n)*/g, '').replaceAll(domain, 'DOMAIN');
}

test(
  'a process that is killed while it applies, again and again, leaves what the next one finishes',
  { timeout: 400_000 },
  async () => {
    const w = await world();
    const folder = makeFolder();
    const fileFor = (domain: string): string => {
      const file = path.join(folder, 'tocsin.yaml');
      writeFileSync(file, fileOf(domain));
      return file;
    };
    const whole = await w.forOrganization('Whole');
    expect((await ended(start(whole, ['apply', fileFor('whole.example.com')]))).code).toBe(0);

    const file = fileFor('broken.example.com');
    const changes = async (): Promise<number> => {
      const query = 'select count(*)::int as n from audit_log where org_id = $1';
      return (await w.context.db.sql.row<{ n: number }>(query, [w.orgId]))?.n ?? 0;
    };
    for (const more of [1, 2, 5, 9, 12]) {
      const before = await changes();
      const child = start(w, ['apply', file]);
      const over = ended(child);
      while (child.exitCode === null && (await changes()) < before + more);
      child.kill('SIGKILL');
      await over;
    }
    const last = await ended(start(w, ['apply', file]));
    expect(last).toMatchObject({ code: 0 });
    const planned = await ended(start(w, ['plan', file]));
    expect({ code: planned.code, changes: (JSON.parse(planned.out) as { changes: object[] }).changes }).toEqual({
      code: 0,
      changes: [],
    });
    expect(await pulled(w, 'broken.example.com')).toBe(await pulled(whole, 'whole.example.com'));
  },
);

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { migrationNames } from '#entry/migrate.ts';
import { readTableColumns, RowCheck, type TableColumn } from '#entry/transfer/check_row.ts';
import { importOrganization, readFolder } from '#entry/transfer/import_organization.ts';
import { importRows } from '#entry/transfer/import_rows.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import type { Session } from '#storage/postgres/database.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { type Columns, madeRows, OTHER_TYPE, OUT_OF_RANGE, type Rows, writeFolder } from '#test/kit/made_folder.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

/** One value of one row that somebody changed. */
interface Change {
  readonly table: string;
  readonly column: string;
  readonly value: unknown;
}

/** Selects the numbers of everybody's next rows, and the rows of others. */
const OTHERS = `
  select (select json_agg(t order by t.id) from organizations t where id <> $1)::text as organizations,
    (select json_agg(t order by t.id) from users t where id = any ($2))::text as users,
    (select json_agg(t order by t.id) from teams t where org_id <> $1)::text as teams,
    (select json_agg(t order by t.id) from services t where org_id <> $1)::text as services,
    (select json_agg(t order by t.user_id) from memberships t where org_id <> $1)::text as memberships`;

interface Setting {
  readonly w: World;
  readonly columns: Columns;
  readonly rows: Rows;
  readonly folder: string;
}

async function prepare(): Promise<Setting> {
  const w = await fileWorld();
  await w.expectOk('create_team', { name: 'Theirs' });
  await w.given.service({ name: 'theirs' });
  const columns = await readTableColumns((text) => w.context.db.sql.rows(text));
  const rows = madeRows(columns);
  const folder = path.join(makeFolder('file'), 'made');
  writeFolder(folder, rows, [...migrationNames('postgres')]);
  return { w, columns, rows, folder };
}

/** Every column of every table: of another type, out of range, and an id of somebody else where it is one. */
function changesOf({ w, columns, rows }: Setting, foreign: Readonly<Record<string, string>>): Change[] {
  return Object.keys(rows).flatMap((table) =>
    (columns.get(table) ?? []).flatMap(({ name: column, type }: TableColumn): Change[] => {
      const value = rows[table]?.[column];
      const kind = typeof value === 'string' ? /^([a-z]+)_[0-9a-z]{26}$/.exec(value)?.[1] : undefined;
      const values = [OTHER_TYPE[type], OUT_OF_RANGE[type]];
      if (kind !== undefined && foreign[kind] !== undefined) values.push(foreign[kind]);
      if (column === 'email') values.push(w.owner.email);
      return values.map((changed) => ({ table, column, value: changed }));
    }),
  );
}

/** Imports the folder in a transaction that is undone; null for what was taken, or else the refusal. */
async function attempt({ w, folder, rows }: Setting): Promise<{ refusal: string | null; after: unknown }> {
  const undone = new Error('undone');
  let after: unknown = null;
  try {
    const checked = await readFolder(w.context.db, w.context.clickhouse, folder);
    await w.context.db.transaction(async (session) => {
      await importRows(session, checked, w.clock.now());
      after = await othersOf(session, w, checked.ids.to(String(rows['organizations']?.['id'])));
      throw undone;
    });
  } catch (error) {
    if (error === undone) return { refusal: null, after };
    if (error instanceof AppError && error.code === 'invalid_input') return { refusal: error.message, after };
    throw error;
  }
  throw new Error('a transaction that is undone has ended');
}

async function othersOf({ sql }: Pick<Session, 'sql'>, w: World, orgId: string): Promise<unknown> {
  return await sql.row(OTHERS, [orgId, [w.owner.userId]]);
}

const setting = await prepare();

const PARTS = 3;

describe('a folder with any value changed', () => {
  let changes: readonly Change[];
  /** Changes that their row alone does not refuse. */
  let taken: readonly Change[];
  /** Changes that are tried: in the gate a third of those that name something of others, and fewer of the other ones. */
  let tried: readonly Change[];
  let before: unknown;
  beforeAll(async () => {
    const { w, columns, rows } = setting;
    const [team] = (await w.expectOk('list_teams', {})).teams as { teamId: string }[];
    const [service] = (await w.expectOk('list_services', {})).services as { serviceId: string }[];
    const foreign = {
      org: w.orgId,
      user: w.owner.userId,
      team: String(team?.teamId),
      service: String(service?.serviceId),
    };
    before = await othersOf(w.context.db.session(), w, '');
    changes = changesOf(setting, foreign);
    const checks = new Map([...columns].map(([table, own]) => [table, () => new RowCheck(table, own)]));
    taken = changes.filter(({ table, column, value }) => {
      const faults = checks
        .get(table)?.()
        .faultsOf({ ...rows[table], [column]: value });
      return faults === undefined || faults.length === 0;
    });
    const ofOthers = new Set<unknown>([...Object.values(foreign), w.owner.email]);
    const [others = [], further = []] = [true, false].map((is) =>
      taken.filter(({ value }) => ofOthers.has(value) === is),
    );
    tried = [...sweep(others, 3), ...sweep(further, 12)];
  });

  test('is refused by its row alone for nearly every value of another type, or out of range', async () => {
    expect(await attempt(setting)).toEqual({ refusal: null, after: before });
    expect(changes.length).toBeGreaterThan(450);
    expect(taken.length).toBeLessThan(changes.length * 0.25);
  });

  test.each(Array.from({ length: PARTS }, (_, part) => part))(
    'is refused by file and line, or has no effect on others: part %i',
    async (part) => {
      const { rows, folder } = setting;
      const outcomes: [string, unknown][] = [];
      for (const { table, column, value } of tried.filter((_, index) => index % PARTS === part)) {
        const file = path.join(folder, `${table}.jsonl`);
        writeFileSync(file, `${JSON.stringify({ ...rows[table], [column]: value })}\n`);
        const { refusal, after } = await attempt(setting);
        const what = `${table}.${column} = ${JSON.stringify(value)?.slice(0, 60)}`;
        outcomes.push([
          what,
          refusal === null ? after : /\.jsonl, line 1: .*Nothing was imported|organization/.exec(refusal) && before,
        ]);
        writeFileSync(file, `${JSON.stringify(rows[table])}\n`);
      }
      expect(outcomes.length).toBeGreaterThan(5);
      expect(outcomes).toEqual(outcomes.map(([what]) => [what, before]));
    },
  );
});

test('what a database numbers by itself, and secrets, are no columns of a folder', async () => {
  const { w, rows, folder } = setting;
  const added: [string, Record<string, unknown>][] = [
    ['incident_timeline', { id: 1 }],
    ['services', { project_id: 1 }],
    ['message_templates', { number: 1 }],
    ['users', { password_hash: '$argon2id$made' }],
  ];
  for (const [table, columns] of added) {
    const file = path.join(folder, `${table}.jsonl`);
    writeFileSync(file, `${JSON.stringify({ ...rows[table], ...columns })}\n`);
    const refused = importOrganization(w.context.config, folder, { asCopy: false });
    await expect(refused, table).rejects.toThrow(`${table}.jsonl, line 1: ${Object.keys(columns)[0]} is not a known`);
    writeFileSync(file, `${JSON.stringify(rows[table])}\n`);
  }
});

describe('each row is read by the contract of the operation that makes it', () => {
  test.each<[table: string, column: string, changed: unknown, message: string]>([
    ['alert_rules', 'config', { windowMinutes: 1e12 }, 'config.windowMinutes must be an integer from 1 to 10080'],
    ['alert_rules', 'config', { metricName: 'cpu{zone=~"("}' }, 'config.metricName'],
    ['alert_rules', 'settings', { recoveryThreshold: 9 }, 'settings.recoveryThreshold must be at or below'],
    ['escalation_policies', 'steps', 'none', 'steps must be an array'],
    ['escalation_policies', 'steps', [{ afterMinutes: 0, channels: ['sms'] }], 'steps[0].targetUserIds is required'],
    ['monitors', 'schedule', { type: 'crontab', crontab: 'x y z', timezone: 'UTC' }, 'schedule.crontab'],
    ['monitors', 'edited_config', { schedule: 'x' }, 'edited_config'],
    ['alert_routes', 'conditions', [{}], 'conditions must be conditions'],
    ['alert_routes', 'conditions', [{ kind: 'detail', matches: '*' }], 'conditions must be conditions'],
    ['alert_routes', 'conditions', [{ kind: 'severity', atLeast: 'awful' }], 'conditions must be conditions'],
    ['alert_sources', 'settings', { leaseMinutes: 1e12 }, 'settings.leaseMinutes must be a setting'],
    ['alert_sources', 'settings', { mapping: { title: 'msg' } }, 'settings.mapping must be a setting'],
    ['alert_sources', 'settings', { steps: 'none' }, 'settings.steps must be a setting'],
    ['schedules', 'timezone', 'Mars/X', 'timezone "Mars/X" is not a time zone'],
    ['maintenance_windows', 'timezone', 'Mars/X', 'timezone "Mars/X" is not a time zone'],
    ['memberships', 'role', 'emperor', 'role must be one of'],
    ['team_members', 'phone', '112', 'phone must be a phone number'],
    ['organizations', 'trace_link', 'javascript:{traceId}', 'trace_link'],
    ['deploys', 'url', 'javascript:alert(1)', 'url must be an address of the web'],
    ['services', 'retention_metrics', 0, 'retention_metrics must be an integer from 1 to 400'],
  ])('%s: %s of %j', async (table, column, changed, message) => {
    const { rows, folder } = setting;
    const made = rows[table]?.[column];
    const value = column === 'config' ? Object.assign({}, made, changed) : changed;
    const file = path.join(folder, `${table}.jsonl`);
    writeFileSync(file, `${JSON.stringify({ ...rows[table], [column]: value })}\n`);
    expect((await attempt(setting)).refusal).toContain(`${table}.jsonl, line 1: ${message}`);
    writeFileSync(file, `${JSON.stringify(rows[table])}\n`);
  });
});

test('ids of others in what a row holds become ids of nothing, also where they are escaped', async () => {
  const { w, rows, folder } = setting;
  const { userId } = w.owner;
  const note = JSON.stringify({ ...rows['incident_notes'], user_id: userId });
  const escaped = note.replace(userId, userId.replace('user_', String.raw`us\u0065r_`));
  writeFileSync(path.join(folder, 'incident_notes.jsonl'), `${escaped}\n`);
  const schedule = { ...rows['schedules'], rotation_config: { userIds: [userId] } };
  writeFileSync(path.join(folder, 'schedules.jsonl'), `${JSON.stringify(schedule)}\n`);
  const made = await importOrganization(w.context.config, folder, { asCopy: false });
  const orgId = asId('org', made.organizationId);
  const named = await w.context.db.sql.rows(
    `select user_id as named from incident_notes where user_id = $1
     union all select rotation_config::text from schedules where org_id = $2 and rotation_config::text like '%' || $1 || '%'`,
    [userId, orgId],
  );
  expect(named).toEqual([]);
  // Who is new here has no password, whatever the folder says.
  const [mira] = await w.context.db.sql.rows<{ password_hash: string | null }>(
    `select password_hash from users where email = 'made@example.com'`,
  );
  expect(mira).toEqual({ password_hash: null });
});

test('a file that was cut, or to which lines were added, imports nothing', async () => {
  writeFileSync(path.join(setting.folder, 'incident_notes.jsonl'), '');
  expect((await attempt(setting)).refusal).toContain('incident_notes.jsonl has 0 lines');
});

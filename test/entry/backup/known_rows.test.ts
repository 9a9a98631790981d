import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

import { expect, onTestFinished, test } from 'vitest';

import { ArchiveWriter, type Entry, type Manifest, readArchive } from '#entry/backup/archive.ts';
import { ROW_COLUMNS } from '#entry/backup/clickhouse_rows.ts';
import { BackupCheck, DANGLING_COLUMNS, declaredColumns, type DeclaredColumns } from '#entry/backup/check_rows.ts';
import {
  connect,
  continueSequences,
  readSequences,
  requireKnown,
  writeSequences,
} from '#entry/backup/postgres_rows.ts';
import { restoreBackup } from '#entry/backup/restore_backup.ts';
import { ORGANIZATION_TABLES } from '#entry/transfer/organization_tables.ts';
import { readTableColumns } from '#entry/transfer/check_row.ts';
import { backUp, emptyTarget } from '#test/entry/backup/restored.ts';
import { madeRows, OTHER_TYPE, OUT_OF_RANGE } from '#test/kit/made_folder.ts';
import { sweep } from '#test/kit/properties.ts';
import { type World, world } from '#test/kit/world.ts';

const TABLES = [{ table: 'teams', columns: ['id', 'name'] }];

test('a backup that somebody changed names no table, column or sequence that no database has', async () => {
  expect(() => requireKnown({ table: 'teams', columns: ['name'] }, TABLES)).not.toThrow();
  expect(() => requireKnown({ table: 'pg_authid', columns: ['rolname'] }, TABLES)).toThrow('not as it was written');
  expect(() => requireKnown({ table: 'teams', columns: ['secret'] }, TABLES)).toThrow('not as it was written');
});

test('what a database numbers next is greater than what there is, whatever a backup says', async () => {
  const w = await world();
  await w.given.service();
  await w.given.service();
  const client = await connect(w.context.config.databaseUrl);
  onTestFinished(() => client.end());
  const next = async (): Promise<number> => {
    await w.given.service();
    const [last] = await w.context.db.sql.rows<{ id: number }>('select max(project_id)::int as id from services');
    return last?.id ?? 0;
  };
  await writeSequences(client, { services_project_id_seq: '1' });
  await continueSequences(client);
  expect(await next()).toBeGreaterThan(2);
  await writeSequences(client, { services_project_id_seq: '900' });
  await continueSequences(client);
  expect(await next()).toBe(901);
  await expect(writeSequences(client, { services_project_id_seq: '9223372036854775807' })).rejects.toThrow('sequence');
  await expect(writeSequences(client, { migrations_id_seq: '-1' })).rejects.toThrow('sequence');
});

function columnsOf(w: World): DeclaredColumns {
  return declaredColumns(w.context.db.em.getMetadata().getAll().values());
}

/** Writes a row as COPY does. */
function copied(values: readonly unknown[]): string {
  const texts = values.map((value) => {
    if (value === null || value === undefined) return String.raw`\N`;
    const text =
      typeof value === 'object' ? JSON.stringify(value) : value === true ? 't' : `${value as string | number}`;
    return text
      .replaceAll('\\', '\\\\')
      .replaceAll('\n', String.raw`\n`)
      .replaceAll('\t', String.raw`\t`);
  });
  return texts.join('\t');
}

interface Held {
  readonly table: string;
  readonly columns: readonly string[];
  readonly values: readonly unknown[];
}

/** The refusal of a backup that has these rows; null if it is taken. */
async function refusalOf(columns: DeclaredColumns, tables: readonly Held[], asIs = false): Promise<string | null> {
  const check = new BackupCheck(columns, { isSameSchema: true, asIs });
  try {
    for (const { values, ...table } of tables) {
      await check.table(table, bytesOf(copied(values)));
    }
    check.end();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

async function* bytesOf(line: string): AsyncGenerator<Buffer> {
  yield Buffer.from(`${line}\n`);
}

test('a backup with any value changed is refused by table and row as a folder is', async () => {
  const w = await world();
  const columns = columnsOf(w);
  const folder = await readTableColumns((text) => w.context.db.sql.rows(text));
  const rows = madeRows(folder);
  const heldRows = ORGANIZATION_TABLES.map(({ table }): Held => {
    const all = columns.get(table) ?? [];
    const values = all.map(({ name, isNullable, type }) =>
      Object.hasOwn(rows[table] ?? {}, name) ? rows[table]?.[name] : isNullable ? null : type === 'bigint' ? 1 : 'made',
    );
    return { table, columns: all.map(({ name }) => name), values };
  });
  expect(await refusalOf(columns, heldRows)).toBeNull();
  const changes = heldRows.flatMap((held) =>
    [...(columns.get(held.table) ?? []).entries()]
      .filter(([, { name }]) => rows[held.table]?.[name] !== undefined)
      .flatMap(([index, { type }]) =>
        [OTHER_TYPE[type], OUT_OF_RANGE[type]].map((value) => ({ held, values: held.values.with(index, value) })),
      ),
  );
  expect(changes.length).toBeGreaterThan(600);
  const tried = sweep(changes, 5);
  let taken = 0;
  const unclear: string[] = [];
  for (const { held, values } of tried) {
    const check = new BackupCheck(columns, { isSameSchema: true, asIs: false });
    const refusal = await check.table(held, bytesOf(copied(values))).then(
      () => null,
      (error: unknown) => (error as Error).message,
    );
    if (refusal === null) taken += 1;
    else if (!refusal.includes('Nothing was changed')) unclear.push(refusal);
  }
  expect(unclear).toEqual([]);
  // COPY writes numbers as texts, so that a text may have been a number.
  expect(taken).toBeLessThan(tried.length * 0.3);
});

/** A row with these values, and in its other columns whatever their type can hold. */
function rowOf(columns: DeclaredColumns, table: string, values: Readonly<Record<string, unknown>>): Held {
  const all = columns.get(table) ?? [];
  const ofType: Readonly<Record<string, unknown>> = { text: 'A', boolean: 'f', integer: 9, bigint: 9 };
  return {
    table,
    columns: all.map(({ name }) => name),
    values: all.map(({ name, type, isNullable }) =>
      Object.hasOwn(values, name) ? values[name] : isNullable ? null : (ofType[type] ?? '2026-11-20 10:00:00+00'),
    ),
  };
}

test('rows of a backup refer to what it has, and to nothing of another organization', async () => {
  const w = await world();
  const columns = columnsOf(w);
  const [org, other, team] = ['org_0', 'org_1', 'team_0'].map((id) => id.padEnd(id.indexOf('_') + 27, '0'));
  const organization = (id: unknown): Held =>
    rowOf(columns, 'organizations', { id, managed_changes: 'refused', provisioned_role: 'editor' });
  const service = (orgId: unknown, teamId: unknown): Held =>
    rowOf(columns, 'services', { id: `service_${'0'.repeat(26)}`, org_id: orgId, team_id: teamId });
  const teamRow = rowOf(columns, 'teams', { id: team, org_id: org });
  const both = [organization(org), organization(other), teamRow];
  expect(await refusalOf(columns, [...both, service(org, team)])).toBeNull();
  expect(await refusalOf(columns, [service(org, team), ...both])).toBeNull();
  expect(await refusalOf(columns, [...both, service(other, team)])).toContain(
    'team_id names what another organization',
  );
  expect(await refusalOf(columns, [...both, service(org, team?.replace(/0$/, '1'))])).toContain('not in the backup');
  expect(await refusalOf(columns, [...both, teamRow])).toContain('stands in an earlier row');
  const wrong = both.with(2, { ...teamRow, values: teamRow.values.with(0, 'none') });
  expect(await refusalOf(columns, wrong)).toContain('teams, row 1: id must be the id of a team');
  expect(await refusalOf(columns, wrong, true)).toBeNull();
  // What COPY reads, and does not write, would be another value than the one that was checked.
  const escaped = both.with(2, { ...teamRow, columns: teamRow.columns.slice(1), values: teamRow.values });
  expect(await refusalOf(columns, escaped)).toContain('teams has no column id');
});

test('what a check of a backup takes for granted is what the database has', async () => {
  const w = await world();
  const keys = await w.context.db.sql.rows<{ table: string; column: string }>(
    `select s.relname::text as table, a.attname::text as column from pg_constraint k
     join pg_class s on s.oid = k.conrelid join pg_attribute a on a.attrelid = s.oid and a.attnum = any (k.conkey)
     where k.contype = 'f' and s.relnamespace = 'public'::regnamespace`,
  );
  const bound = new Set(keys.map(({ table, column }) => `${table}.${column}`));
  const free = ORGANIZATION_TABLES.flatMap(({ table, refersTo = [] }) =>
    refersTo.map((column) => `${table}.${column}`),
  );
  expect(free.filter((column) => !bound.has(column))).toEqual([...DANGLING_COLUMNS]);
  const client = await connect(w.context.config.databaseUrl);
  onTestFinished(() => client.end());
  await w.given.service();
  const check = new BackupCheck(columnsOf(w), { isSameSchema: true, asIs: false });
  expect(() => check.sequences({ services_project_id_seq: '-1' })).toThrow('goes on from no number');
  expect(() => check.sequences({ other_seq: '1' })).toThrow('has a sequence other_seq');
  check.sequences(await readSequences(client));
  const named = (table: string, ...columns: string[]) => check.points({ table, columns }, bytesOf(''));
  await expect(named("FUNCTION url('http://x')", 'a')).rejects.toThrow('rows of ClickHouse');
  await expect(named('metric_points', 'a) SELECT 1')).rejects.toThrow('rows of ClickHouse');
  await expect(named('metric_points', 'service_id')).rejects.toThrow('other columns');
  const stored = await w.context.clickhouse.query({
    query: `SELECT table, name, type FROM system.columns WHERE database = currentDatabase() AND default_kind = ''`,
    format: 'JSONEachRow',
  });
  const types = Map.groupBy(await stored.json<{ table: string; name: string; type: string }>(), ({ table }) => table);
  for (const [table, kinds] of Object.entries(ROW_COLUMNS)) {
    expect(Object.fromEntries(types.get(table)!.map(({ name, type }) => [name, widthOf(type)]))).toEqual(
      Object.fromEntries(
        Object.entries(kinds).map(([name, kind]) => [name, typeof kind === 'string' ? WIDTHS[kind] : kind.join(',')]),
      ),
    );
  }
});

/** Returns the form of a column of ClickHouse in RowBinary. */
function widthOf(type: string): string {
  const plain = type.replace(/^SimpleAggregateFunction\(\w+, (.*)\)$/, '$1').replace(/^LowCardinality\((.*)\)$/, '$1');
  if (plain.startsWith('DateTime64(3')) return 'milliseconds';
  const values = /^Enum8\((.*)\)$/.exec(plain)?.[1];
  return (
    values?.replaceAll(/'(\w+)' = \d+(?:, )?/g, '$1,').slice(0, -1) ?? plain.replace(/^(?:UInt|Float)64$/, '8 bytes')
  );
}

const WIDTHS: Readonly<Record<string, string>> = {
  uuid: 'UUID',
  number: '8 bytes',
  time: 'milliseconds',
  text: 'String',
  level: 'String',
  payload: 'String',
  tags: 'Map(LowCardinality(String), String)',
};

const TEXT = Buffer.from('\x04made');
const longText = Buffer.concat([Buffer.from([0x81, 0xea, 0x30]), Buffer.alloc(800_001, 'x')]);
const int64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
};

/** Value of each kind of column in RowBinary, with values that no operation writes. */
const BINARY: Readonly<Record<string, { readonly well: Buffer; readonly strange: readonly Buffer[] }>> = {
  uuid: { well: Buffer.alloc(16, 1), strange: [] },
  number: { well: Buffer.alloc(8, 1), strange: [] },
  time: { well: int64(1_790_000_000_000n), strange: [int64(-1n), int64(2n ** 62n)] },
  text: { well: TEXT, strange: [longText, Buffer.from([2, 0xc3, 0x28]), Buffer.alloc(9, 0xff)] },
  tags: {
    well: Buffer.concat([Buffer.from([1]), TEXT, TEXT]),
    strange: [Buffer.from([0xff, 0xff, 0x7f]), Buffer.from([1, 1, 0xff, 0])],
  },
  level: { well: Buffer.from('\x05error'), strange: [TEXT] },
  payload: { well: Buffer.from('\x02{}'), strange: [TEXT, Buffer.from('\x02[]')] },
};

test('rows of ClickHouse with any value changed are refused by table and row, also where they are cut off', async () => {
  const refusalOfRows = async (table: string, columns: readonly string[], chunks: readonly Buffer[], asIs = false) => {
    const check = new BackupCheck(new Map(), { isSameSchema: true, asIs });
    try {
      await check.points({ table, columns }, Readable.from(chunks));
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const slices = (bytes: Buffer, length: number): Buffer[] =>
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, nth) =>
      bytes.subarray(nth * length, (nth + 1) * length),
    );
  let changed = 0;
  for (const [table, kinds] of Object.entries(ROW_COLUMNS)) {
    const columns = Object.keys(kinds);
    const values = Object.values(kinds).map(
      (kind) => BINARY[kind as string] ?? { well: Buffer.from([1]), strange: [Buffer.from([kind.length])] },
    );
    const row = Buffer.concat(values.map(({ well }) => well));
    expect(await refusalOfRows(table, columns, slices(Buffer.concat([row, row, row]), 7))).toBeNull();
    expect(await refusalOfRows(table, columns, [row, row.subarray(0, -1)])).toBe(
      `${table}, row 2: it is cut off. Nothing was changed. If you know why, --as-is takes such rows; what cannot be read is then set aside alone`,
    );
    for (const [index, { strange }] of values.entries()) {
      for (const value of strange) {
        changed += 1;
        const wrong = Buffer.concat(values.map(({ well }) => well).with(index, value));
        const refusal = await refusalOfRows(table, columns, slices(Buffer.concat([row, wrong, row]), 65_536));
        expect(refusal).toMatch(
          new RegExp(`^${table}, row 2: ${columns[index]} (must be|is longer than|has no) .*Nothing was changed`),
        );
        expect(await refusalOfRows(table, columns, [wrong], true)).toBeNull();
      }
    }
  }
  expect(changed).toBeGreaterThan(50);
});

/** Writes the archive again with one entry changed. */
async function rewrite(file: string, to: string, change: (entry: Entry, content: Buffer) => Buffer): Promise<void> {
  const sink = createWriteStream(to);
  let archive: ArchiveWriter | null = null;
  for await (const { entry, content } of readArchive(createReadStream(file), undefined)) {
    const parts: Buffer[] = [];
    for await (const part of content()) parts.push(part);
    const changed = change(entry, Buffer.concat(parts));
    if (archive === null) archive = await ArchiveWriter.begin(sink, undefined, entry as Manifest);
    else await archive.add(entry, [changed]);
  }
  await archive?.end();
  sink.end();
  await finished(sink);
}

test('a row that no operation would write is refused before anything of the installation is deleted', async () => {
  const w = await world();
  const { file } = await backUp(w.context.config);
  const changed = `${file}.changed`;
  await rewrite(file, changed, (entry, content) =>
    entry.kind === 'postgres_table' && entry.table === 'memberships'
      ? Buffer.from(content.toString('utf8').replace('owner', 'emperor'))
      : content,
  );
  const target = await emptyTarget(w.context.config);
  await expect(restoreBackup(target, { file: changed, replace: true })).rejects.toThrow(
    /^memberships, row 1: role must be one of .* found "emperor"\. Nothing was changed/,
  );
  const client = await connect(target.databaseUrl);
  onTestFinished(() => client.end());
  const { rows } = await client.query(`select relname from pg_class where relnamespace = 'public'::regnamespace`);
  expect(rows).toEqual([]);
});

import { expect, test } from 'vitest';

import { world } from '#test/kit/world.ts';

/** Tables that no query of ours names: the migrations' own, and one that a trigger alone counts in. */
const UNDECLARED = ['incident_numbers', 'migrations'];

/** The database assigns it when the transaction that opens the incident commits. */
const NULL_UNTIL_COMMIT = 'incidents.number';

interface ColumnInfo {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly isNullable: boolean;
}

test('entities declare every column of every table, with its type, and nothing else', async () => {
  const w = await world();
  const rows = await w.context.db.sql.rows<ColumnInfo>(
    `select c.table_name as table, c.column_name as column, c.is_nullable = 'YES' as "isNullable",
       case c.data_type when 'ARRAY' then 'text[]' when 'timestamp with time zone' then 'timestamptz' else c.data_type end as type
     from information_schema.columns c where c.table_schema = 'public' and c.table_name <> all($1)`,
    [UNDECLARED],
  );
  const declared = [...w.context.db.em.getMetadata().getAll().values()].flatMap(({ tableName, props }) =>
    props.map(({ fieldNames, columnTypes, nullable }) => ({
      table: tableName,
      column: fieldNames[0],
      type: columnTypes[0]
        ?.replace('(3)', '')
        .replace(/^int$/, 'integer')
        .replace('jsonb', 'json')
        .replace('bigserial', 'bigint'),
      isNullable: nullable === true || `${tableName}.${fieldNames[0]}` === NULL_UNTIL_COMMIT,
    })),
  );
  const byName = (columns: readonly object[]) => columns.map((column) => JSON.stringify(column, NAMES)).sort();
  expect(byName(declared)).toEqual(byName(rows));
});

const NAMES = ['table', 'column', 'type', 'isNullable'];

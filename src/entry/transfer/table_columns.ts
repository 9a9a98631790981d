import { ORGANIZATION_TABLES } from '#entry/transfer/organization_tables.ts';

/** Column that an export writes and an import takes. */
export interface TableColumn {
  readonly name: string;
  /** Type as PostgreSQL names it, without its precision. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
}

type ReadRows = (text: string) => Promise<TableRow[]>;

interface TableRow extends TableColumn {
  readonly table: string;
}

const SELECT_COLUMNS = `
  select c.relname::text as table, a.attname::text as name, format_type(a.atttypid, null) as type,
    not a.attnotnull as "isNullable", a.atthasdef as "hasDefault"
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
  order by c.relname, a.attnum`;

/** Reads the columns by table, without secrets and numbers that each database assigns by itself. */
export async function readTableColumns(rows: ReadRows): Promise<ReadonlyMap<string, readonly TableColumn[]>> {
  const all = Map.groupBy(await rows(SELECT_COLUMNS), ({ table }) => table);
  return new Map(
    ORGANIZATION_TABLES.map(({ table, without = [] }) => [
      table,
      (all.get(table) ?? []).filter(({ name }) => !without.includes(name)),
    ]),
  );
}

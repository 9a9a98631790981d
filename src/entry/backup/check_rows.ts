import { CLICKHOUSE_TABLES, findRowFault, ROW_COLUMNS } from '#entry/backup/clickhouse_rows.ts';
import { isSequenceValue, type StoredTable } from '#entry/backup/postgres_rows.ts';
import { isInstant, type Row, RowCheck, type TableColumn } from '#entry/transfer/check_row.ts';
import { ANY_COLUMN_CONTRACTS } from '#entry/transfer/column_contracts.ts';
import { faultText, linesOf } from '#entry/transfer/json_lines.ts';
import { ORGANIZATION_TABLES } from '#entry/transfer/organization_tables.ts';
import { AppError, type Fault } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { findJob } from '#storage/queue/jobs.ts';

/** Columns of the tables of this release. */
export type DeclaredColumns = ReadonlyMap<string, readonly TableColumn[]>;

/** The part of an entity's metadata that says what its columns are. */
interface Declared {
  readonly tableName: string;
  readonly props: readonly {
    readonly fieldNames: readonly string[];
    readonly columnTypes: readonly string[];
    readonly nullable?: boolean | undefined;
  }[];
}

const TYPES: Readonly<Record<string, string>> = {
  int: 'integer',
  bigserial: 'bigint',
  'timestamptz(3)': 'timestamp with time zone',
};

/** Assigned by a trigger when the transaction commits, so the entity cannot be null and the column can. */
const NUMBERED_AT_COMMIT = 'incidents.number';

/** Returns the columns that entities declare, by table. */
export function declaredColumns(entities: Iterable<Declared>): DeclaredColumns {
  return new Map(
    [...entities].map(({ tableName, props }) => [
      tableName,
      props.map(({ fieldNames: [name = ''], columnTypes: [type = ''], nullable }) => ({
        name,
        type: TYPES[type] ?? type,
        isNullable: nullable === true || `${tableName}.${name}` === NUMBERED_AT_COMMIT,
        hasDefault: type === 'bigserial',
      })),
    ]),
  );
}

/** Written by a trigger, and by nothing that has an entity. */
const UNDECLARED = 'incident_numbers';

/** Rows that hold what somebody sent, as bytes: their readers have limits of their own. */
const BYTES: ReadonlySet<string> = new Set([
  'durable_jobs',
  'upload_chunks',
  'source_maps',
  'event_attachments',
  'quarantined_events',
  'alert_bodies',
]);

/** Columns without a foreign key: what they refer to may be gone. */
export const DANGLING_COLUMNS: ReadonlySet<string> = new Set([
  'schedule_overrides.user_id',
  'exception_group_keys.service_id',
  'notifications.proposal_id',
]);

interface Reference {
  readonly where: string;
  readonly column: string;
  readonly id: string;
  readonly orgId: string | null;
}

/** Owner of rows that several organizations share: people. */
const SHARED = '';

/** Checks the entries of a backup while it is read for the first time, before anything is written. */
export class BackupCheck {
  readonly #declared: DeclaredColumns;
  /** Whether every table must be as this release declares it: the backup has all of its migrations, and no other. */
  readonly #isSameSchema: boolean;
  /** Whether the tables of ClickHouse must be as this release declares them. */
  readonly #hasSamePoints: boolean;
  /** Whether rows that no operation would write are taken, too. */
  readonly #asIs: boolean;
  readonly #owners = new Map<string, string>();
  /** Rows of ClickHouse so far, by table. */
  readonly #points = new Map<string, number>();
  /** References to rows that come later, as a group that was merged into a newer one. */
  readonly #open: Reference[] = [];

  constructor(
    declared: DeclaredColumns,
    options: { readonly isSameSchema: boolean; readonly hasSamePoints?: boolean; readonly asIs: boolean },
  ) {
    this.#declared = declared;
    this.#isSameSchema = options.isSameSchema;
    this.#hasSamePoints = options.hasSamePoints ?? options.isSameSchema;
    this.#asIs = options.asIs;
  }

  /** Checks a table, its columns, and each row by the contract of the operation that makes it. */
  async table({ table, columns }: StoredTable, content: AsyncIterable<Buffer>): Promise<void> {
    const declared = this.#declared.get(table);
    if (declared === undefined) {
      if (this.#isSameSchema && table !== UNDECLARED) throw refused(`it has a table ${table}`);
      return;
    }
    const byName = new Map(declared.map((column) => [column.name, column]));
    const strange = this.#isSameSchema ? columns.find((name) => !byName.has(name)) : undefined;
    if (strange !== undefined) throw refused(`the table ${table} has a column ${strange}`);
    const missing = declared.find(({ name }) => !columns.includes(name));
    if (this.#isSameSchema && missing !== undefined) throw refused(`the table ${table} has no column ${missing.name}`);
    if (BYTES.has(table)) return;
    const organizationTable = ORGANIZATION_TABLES.find((candidate) => candidate.table === table);
    const held = declared.filter(({ name }) => columns.includes(name));
    const check = new RowCheck(table, held, organizationTable === undefined ? ANY_COLUMN_CONTRACTS : null);
    const reads = columns.map((name) => [name, READERS[byName.get(name)?.type ?? ''] ?? readText] as const);
    let number = 0;
    for await (const line of linesOf(content, new TextDecoder('utf-8', { ignoreBOM: true }))) {
      number += 1;
      const where = `${table}, row ${number}`;
      const row = readRow(line, reads);
      if (row === null) throw refused(`${where} is no row`);
      const faults = this.#asIs ? [] : check.faultsOf(only(row, byName));
      if (faults.length > 0) throw refusedRow(where, faultText(faults));
      if (organizationTable !== undefined) this.#checkReferences(where, row, organizationTable);
    }
  }

  /** Checks the names of sequences, and that each goes on from a number that a column can hold. */
  sequences(values: Readonly<Record<string, string>>): void {
    const names = new Set([...this.#declared].flatMap(sequencesOf).concat(OF_MIGRATIONS));
    for (const [name, value] of Object.entries(values)) {
      if (this.#isSameSchema && !names.has(name)) throw refused(`it has a sequence ${name}`);
      if (!isSequenceValue(value)) throw refused(`the sequence ${name} goes on from no number`);
    }
  }

  /** Checks jobs that waited, one line of JSON each. */
  async jobs(content: AsyncIterable<Buffer>): Promise<void> {
    let number = 0;
    for await (const line of linesOf(content)) {
      number += 1;
      const faults = line === '' || this.#asIs ? [] : jobFaults(parse(line));
      if (faults.length > 0) throw refusedRow(`waiting jobs, line ${number}`, faultText(faults));
    }
  }

  /**
   * Checks that rows of ClickHouse are for a table and columns, as both become part of a statement, and the rows. Those of
   * a release that had other columns are read by ClickHouse only.
   */
  async points({ table: name, columns }: StoredTable, content: AsyncIterable<Buffer>): Promise<void> {
    const table = CLICKHOUSE_TABLES.find((candidate) => candidate === name);
    if (table === undefined || !columns.every((column) => NAME.test(column)))
      throw refused(`it has rows of ClickHouse for ${name}`);
    const isDeclared = columns.toSorted().join() === Object.keys(ROW_COLUMNS[table]).toSorted().join();
    if (!isDeclared && this.#hasSamePoints) throw refused(`the rows of ClickHouse for ${table} have other columns`);
    if (this.#asIs || !isDeclared) return;
    const { row, fault } = await findRowFault({ table, columns }, content);
    const before = this.#points.get(table) ?? 0;
    if (fault !== null) throw refusedRow(`${table}, row ${before + row}`, fault);
    this.#points.set(table, before + row - 1);
  }

  /** Checks references to rows that came later. */
  end(): void {
    for (const reference of this.#open) this.#settle(reference, true);
  }

  #checkReferences(where: string, row: Row, { table, refersTo = [] }: (typeof ORGANIZATION_TABLES)[number]): void {
    const { id, org_id: orgId } = row;
    let owner = table === 'organizations' ? String(id) : typeof orgId === 'string' ? orgId : null;
    for (const column of orgId === undefined ? refersTo : ['org_id', ...refersTo]) {
      const target = row[column];
      if (typeof target !== 'string') continue;
      const of = this.#settle({ where, column, id: target, orgId: owner }, false);
      owner ??= of;
    }
    if (typeof id !== 'string') return;
    if (this.#owners.has(id)) throw refusedRow(where, `the id ${id} stands in an earlier row`);
    this.#owners.set(id, table === 'users' ? SHARED : (owner ?? SHARED));
  }

  /** Returns the organization of what a row refers to; null if people share it, or if it comes later. */
  #settle(reference: Reference, isLast: boolean): string | null {
    const { where, column, id, orgId } = reference;
    const owner = this.#owners.get(id);
    if (owner === undefined) {
      if (!isLast) this.#open.push(reference);
      else if (!DANGLING_COLUMNS.has(`${where.slice(0, where.indexOf(','))}.${column}`))
        throw refusedRow(where, `${column} names what is not in the backup`);
      return null;
    }
    if (owner === SHARED) return null;
    if (orgId !== null && owner !== orgId) throw refusedRow(where, `${column} names what another organization has`);
    return owner;
  }
}

const OF_MIGRATIONS = 'migrations_id_seq';

function sequencesOf([table, columns]: readonly [string, readonly TableColumn[]]): string[] {
  return columns.filter(({ hasDefault }) => hasDefault).map(({ name }) => `${table}_${name}_seq`);
}

const NAME = /^[a-z_]{1,63}$/;

function refused(what: string): AppError {
  return new AppError('invalid_input', `the backup is not as it was written: ${what}. Nothing was changed`);
}

function refusedRow(where: string, what: string): AppError {
  return new AppError(
    'invalid_input',
    `${where}: ${what}. Nothing was changed. If you know why, --as-is takes such rows; what cannot be read is then set aside alone`,
  );
}

function only(row: Row, declared: ReadonlyMap<string, unknown>): Row {
  const names = Object.keys(row);
  return names.every((name) => declared.has(name))
    ? row
    : Object.fromEntries(Object.entries(row).filter(([name]) => declared.has(name)));
}

function jobFaults(job: unknown): Fault[] {
  const { jobName, payload, runAt } = (job ?? {}) as Readonly<Record<string, unknown>>;
  const contract = typeof jobName === 'string' ? findJob(jobName) : null;
  if (contract === null) return [{ path: 'jobName', message: 'is no job' }];
  if (runAt !== null && (typeof runAt !== 'string' || !isInstant(runAt)))
    return [{ path: 'runAt', message: 'is no time' }];
  return findFaults({ ...contract.payload, additionalProperties: true }, payload);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type Read = (text: string) => unknown;

/** Readers of columns as COPY writes them, into what JSON holds; what no reader understands stays a text, and is refused. */
const READERS: Readonly<Record<string, Read>> = {
  integer: readNumber,
  bigint: readNumber,
  'double precision': readNumber,
  boolean: (text) => (text === 't' ? true : text === 'f' ? false : text),
  jsonb: (text) => parse(text),
  'timestamp with time zone': readTime,
};

function readText(text: string): string {
  return text;
}

function readNumber(text: string): number | string {
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Writes the offset of a time as in ISO 8601. */
function readTime(text: string): string {
  return text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** Reads a row of COPY's text format; null for what COPY does not write, though it may read it. */
function readRow(line: string, reads: readonly (readonly [name: string, read: Read])[]): Row | null {
  const texts = line.split('\t');
  if (texts.length !== reads.length || line.includes('\r')) return null;
  const row: Record<string, unknown> = {};
  for (const [index, [name, read]] of reads.entries()) {
    const text = texts[index] ?? '';
    if (text === String.raw`\N`) row[name] = null;
    else {
      const plain = text.includes('\\') ? unescape(text) : text;
      if (plain === null) return null;
      row[name] = read(plain);
    }
  }
  return row;
}

function unescape(text: string): string | null {
  let isWhole = true;
  const plain = text.replaceAll(/\\(.?)/gs, (_whole, escaped: string) => {
    const character = ESCAPES[escaped];
    if (character === undefined) isWhole = false;
    return character ?? '';
  });
  return isWhole ? plain : null;
}

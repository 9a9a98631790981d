import { EventCheck } from '#entry/transfer/check_events.ts';
import { type Row, RowCheck } from '#entry/transfer/check_row.ts';
import { faultText, type Line, linesOfFile, parseLine, refusedLine } from '#entry/transfer/json_lines.ts';
import type { MovedIds } from '#entry/transfer/moved_ids.ts';
import {
  EVENT_FILES,
  type EventTable,
  type ExportManifest,
  ORGANIZATION_TABLES,
  type OrganizationTable,
} from '#entry/transfer/organization_tables.ts';
import type { TableColumn } from '#entry/transfer/table_columns.ts';
import { AppError } from '#kernel/errors.ts';

interface Checked {
  readonly folder: string;
  readonly manifest: ExportManifest;
  readonly columns: ReadonlyMap<string, readonly TableColumn[]>;
}

/**
 * Reads the whole folder before anything is written, and notes its ids. Throws `invalid_input` with the file and the
 * line of anything that an export cannot contain.
 */
export async function checkFolder(checked: Checked, ids: MovedIds): Promise<void> {
  for (const { table } of ORGANIZATION_TABLES) await noteIds(checked, `${table}.jsonl`, ids);
  for (const table of ORGANIZATION_TABLES) await checkTable(checked, table, ids);
  for (const table of Object.keys(EVENT_FILES) as EventTable[]) {
    const check = new EventCheck(table, ids);
    const { file } = EVENT_FILES[table];
    await requireCount(checked, file, await eachLine(checked, file, (line) => check.require(line)));
  }
  if (!ids.own.has(checked.manifest.organizationId)) {
    throw new AppError('invalid_input', 'organizations.jsonl does not have the organization of organization.json');
  }
}

async function eachLine({ folder }: Checked, file: string, take: (line: Line) => void): Promise<number> {
  let count = 0;
  for await (const line of linesOfFile(folder, file)) {
    take(line);
    count += 1;
  }
  return count;
}

async function noteIds(checked: Checked, file: string, ids: MovedIds): Promise<void> {
  await eachLine(checked, file, (line) => {
    const { id } = parseLine(line);
    if (typeof id !== 'string') return;
    if (ids.own.has(id)) throw refusedLine(line, `the id ${id} stands in an earlier line`);
    ids.own.add(id);
  });
}

async function checkTable(checked: Checked, table: OrganizationTable, ids: MovedIds): Promise<void> {
  const check = new RowCheck(table.table, checked.columns.get(table.table) ?? []);
  const file = `${table.table}.jsonl`;
  const count = await eachLine(checked, file, (line) => {
    const row = parseLine(line);
    const strange = strangeColumn(table, row, ids, checked.manifest.organizationId);
    if (strange !== null) throw refusedLine(line, strange);
    const faults = check.faultsOf(row);
    if (faults.length > 0) throw refusedLine(line, faultText(faults));
    // The row as it will be written: in the line an id may be escaped.
    ids.note(JSON.stringify(row));
  });
  await requireCount(checked, file, count);
}

/**
 * Returns the fault of a row that belongs to another organization or refers to an id outside the export; null if there
 * is none. Without this check, a forged file could reach into other organizations.
 */
function strangeColumn(
  { table, refersTo = [] }: OrganizationTable,
  row: Row,
  ids: MovedIds,
  orgId: string,
): string | null {
  const owner = table === 'organizations' ? row['id'] : row['org_id'];
  if (owner !== undefined && owner !== orgId) return 'a row of another organization';
  const strange = refersTo.find((column) => {
    const named = row[column];
    return named != null && !(typeof named === 'string' && ids.own.has(named));
  });
  return strange === undefined ? null : `a row whose ${strange} is not in the export`;
}

async function requireCount({ manifest }: Checked, file: string, count: number): Promise<void> {
  const written = manifest.files[file];
  if (written === undefined ? count === 0 : count === written) return;
  throw new AppError(
    'invalid_input',
    `${file} has ${count} lines, and organization.json says ${written ?? 'nothing of it'}: it was cut, or rows were added. Nothing was imported`,
  );
}

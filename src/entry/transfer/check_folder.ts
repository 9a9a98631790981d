import { type Row, RowCheck, type TableColumn } from '#entry/transfer/check_row.ts';
import { faultText, type Line, linesOfFile, parseLine, refusedLine } from '#entry/transfer/json_lines.ts';
import type { MovedIds } from '#entry/transfer/moved_ids.ts';
import {
  EVENT_FILES,
  type EventTable,
  type ExportManifest,
  ORGANIZATION_TABLES,
  type OrganizationTable,
} from '#entry/transfer/organization_tables.ts';
import { AppError } from '#kernel/errors.ts';
import { idOfUuid } from '#kernel/ids.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { FAR_FUTURE, toTimestamp } from '#kernel/time.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';

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

const TEXT = { type: 'string', maxLength: 200_000 };
const UUID = { type: 'string', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', description: 'a UUID' };
const TIME = {
  type: 'string',
  pattern: String.raw`^(19[7-9]\d|2\d{3})-[01]\d-[0-3]\d [0-2]\d:[0-5]\d:[0-5]\d(\.\d{1,9})?$`,
  description: 'a time in UTC since 1970',
};
const SERIES = { type: 'string', pattern: String.raw`^\d{1,20}$`, description: 'the number of a series' };
const TAGS = { type: 'object', additionalProperties: TEXT };

const closed = (properties: object): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** Schemas of the files with a line of JSON for each row. */
const SHAPES: Readonly<Record<Exclude<EventTable, 'metric_points'>, object>> = {
  metric_series: closed({ service_id: UUID, metric: TEXT, series: SERIES, last_at: TIME, tags: TAGS }),
  metric_exemplars: closed({
    service_id: UUID,
    metric: TEXT,
    at: TIME,
    trace_id: TEXT,
    span_id: TEXT,
    value: { anyOf: [{ type: 'number' }, { enum: ['inf', '-inf', 'nan'] }] },
    tags: TAGS,
  }),
  exception_events: closed({
    service_id: UUID,
    group_id: UUID,
    event_id: UUID,
    at: TIME,
    received_at: TIME,
    level: { enum: LEVELS },
    environment: TEXT,
    release: TEXT,
    user_key: TEXT,
    handled: { enum: ['unknown', 'unhandled', 'handled'] },
    tags: TAGS,
    payload: { type: 'string' },
  }),
};

const SERIES_MAX = 2n ** 64n - 1n;
const NUMBER = String.raw`-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf|nan)`;
const POINT = new RegExp(
  `^"([0-9a-f-]{36})","(?:[^"]|"")*",(\\d{1,20}),"([^"]{19,29})",${NUMBER},"(${POINT_KINDS.join('|')})"$`,
);

/** Checker of the lines of a file of points or events. */
class EventCheck {
  readonly #table: EventTable;
  readonly #ids: MovedIds;

  constructor(table: EventTable, ids: MovedIds) {
    this.#table = table;
    this.#ids = ids;
  }

  /** Throws `invalid_input` for a row that an export cannot contain. */
  require(line: Line): void {
    const fault = this.#table === 'metric_points' ? this.#pointFault(line) : this.#rowFault(this.#table, line);
    if (fault !== null) throw refusedLine(line, fault);
  }

  #pointFault({ number, text }: Line): string | null {
    if (number === 1) {
      const head = EVENT_FILES.metric_points.columns.replaceAll(' ', '');
      return text === head ? null : `must be ${head}`;
    }
    const [matched, service = '', series = '', ts = ''] = POINT.exec(text) ?? [];
    if (matched === undefined) return `must be a point: ${EVENT_FILES.metric_points.columns}`;
    return this.#serviceFault(service) ?? seriesFault(series) ?? timeFault('ts', ts);
  }

  #rowFault(table: Exclude<EventTable, 'metric_points'>, line: Line): string | null {
    const row = parseLine(line);
    const faults = findFaults(SHAPES[table], row);
    if (faults.length > 0) return faultText(faults);
    const { service_id: service, series = '0', at, last_at: lastAt, payload = '{}' } = row;
    if (!isJsonObject(String(payload))) return 'payload must be a JSON object';
    return this.#serviceFault(String(service)) ?? seriesFault(String(series)) ?? timeFault('at', String(at ?? lastAt));
  }

  #serviceFault(uuid: string): string | null {
    const isOwn = findFaults(UUID, uuid).length === 0 && this.#ids.own.has(idOfUuid('service', uuid));
    return isOwn ? null : 'a row of a service that is not in the export';
  }
}

function seriesFault(series: string): string | null {
  return BigInt(series) <= SERIES_MAX ? null : 'series must be a number of 64 bits';
}

function timeFault(column: string, text: string): string | null {
  if (findFaults(TIME, text).length > 0) return `${column} must be ${TIME.description}`;
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`);
  return ms <= FAR_FUTURE.epochMilliseconds ? null : `${column} must be a time before ${toTimestamp(FAR_FUTURE)}`;
}

export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

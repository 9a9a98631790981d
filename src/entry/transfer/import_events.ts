import { insertPart } from '#entry/backup/clickhouse_rows.ts';
import { type Line, linesOfFile, parseLine } from '#entry/transfer/json_lines.ts';
import type { MovedIds } from '#entry/transfer/moved_ids.ts';
import { EVENT_FILES, type EventTable } from '#entry/transfer/organization_tables.ts';
import { asId, type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';

/** Size of one insert, in bytes. */
const PART_BYTES = 32 * 1024 * 1024;

/** Stores points and events of a checked folder under the ids that their services and groups have here. */
export async function importEvents(clickhouse: ClickHouseClient, folder: string, ids: MovedIds): Promise<void> {
  for (const table of Object.keys(EVENT_FILES) as EventTable[]) {
    const { file, columns } = EVENT_FILES[table];
    const format = file.endsWith('.csv') ? 'CSV' : 'JSONEachRow';
    const part = { table, columns: columns.split(', '), format } as const;
    let lines: Buffer[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (lines.length > 0) await insertPart(clickhouse, part, lines);
      lines = [];
      bytes = 0;
    };
    let isHead = format === 'CSV';
    for await (const line of linesOfFile(folder, file)) {
      if (isHead) {
        isHead = false;
        continue;
      }
      const moved = Buffer.from(`${format === 'CSV' ? movedPoint(line.text, ids) : movedRow(line, ids)}\n`);
      lines.push(moved);
      bytes += moved.length;
      if (bytes >= PART_BYTES) await flush();
    }
    await flush();
  }
}

/** Deletes the rows stored by a failed import; nobody else has these services. */
export async function deleteEvents(clickhouse: ClickHouseClient, services: readonly Id<'service'>[]): Promise<void> {
  const writers = [new MetricWriter(clickhouse), new ExceptionWriter(clickhouse)];
  for (const service of services) {
    for (const writer of writers) await writer.deleteService(service).catch(() => {});
  }
}

const UUID = /^"?([0-9a-f-]{36})"?,/;

function movedPoint(line: string, ids: MovedIds): string {
  return line.replace(UUID, (_, uuid: string) => `"${movedUuid('service', uuid, ids)}",`);
}

function movedRow(line: Line, ids: MovedIds): string {
  const row = parseLine(line) as { service_id: string; group_id?: string };
  const group = row.group_id === undefined ? {} : { group_id: movedUuid('group', row.group_id, ids) };
  return JSON.stringify({ ...row, service_id: movedUuid('service', row.service_id, ids), ...group });
}

function movedUuid(kind: 'service' | 'group', uuid: string, ids: MovedIds): string {
  return uuidOf(asId(kind, ids.to(idOfUuid(kind, uuid))));
}

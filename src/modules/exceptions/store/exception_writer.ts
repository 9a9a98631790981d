import { type ExceptionEvent, serializeEvent } from '#modules/exceptions/decide/event.ts';
import { isHandled, userKeyOf } from '#modules/exceptions/decide/triage.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { deleteRows } from '#storage/clickhouse/expired_rows.ts';
import { insertRows } from '#storage/clickhouse/insert_rows.ts';
import { RowBinary, uuidBytes } from '#storage/clickhouse/row_binary.ts';

export interface GroupedEvent {
  readonly serviceId: Id<'service'>;
  readonly groupId: Id<'group'>;
  readonly event: ExceptionEvent;
}

const COLUMNS =
  'service_id, group_id, event_id, at, received_at, level, environment, release, user_key, handled, tags, payload';

/** Brings events into the store, and out of it when their service is over. */
export class ExceptionWriter {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /**
   * Returns once the events are durable and seen by queries. The same events under the same token count once, however
   * often they are inserted; under another token they count once, too, as their ids are the same.
   */
  async insert(events: readonly GroupedEvent[], token: string): Promise<void> {
    if (events.length === 0) return;
    const rows = new RowBinary();
    for (const event of events) writeRow(rows, event);
    const options = { token, acknowledged: 'at_once' } as const;
    await insertRows(this.#client, `exception_events (${COLUMNS})`, rows.bytes(), options);
  }

  /** All events of the service, before long: see `deleteRows`. */
  async deleteService(serviceId: Id<'service'>): Promise<void> {
    const parameters = { service: uuidOf(serviceId) };
    await deleteRows(this.#client, 'exception_events', 'service_id = {service:UUID}', parameters);
    await deleteRows(this.#client, 'exception_origins', 'service_id = {service:UUID}', parameters);
  }
}

/** The codes of the column's Enum8. */
const HANDLED_CODES = { unknown: 0, unhandled: 1, handled: 2 } as const;

function writeRow(rows: RowBinary, { serviceId, groupId, event }: GroupedEvent): void {
  const tags = Object.entries(event.tags);
  rows.uuid(uuidBytes(uuidOf(serviceId)));
  rows.uuid(uuidBytes(uuidOf(groupId)));
  rows.uuid(uuidBytes(event.eventId));
  rows.int64(withinReach(event).epochMilliseconds);
  rows.int64(event.receivedAt.epochMilliseconds);
  rows.text(event.level);
  rows.text(event.environment ?? '');
  rows.text(event.release ?? '');
  rows.text(userKeyOf(event) ?? '');
  rows.uint8(handledCodeOf(event));
  rows.varint(tags.length);
  for (const [name, value] of tags) {
    rows.text(name);
    rows.text(value);
  }
  rows.text(serializeEvent(event));
}

function handledCodeOf(event: ExceptionEvent): number {
  const handled = isHandled(event);
  if (handled === null) return HANDLED_CODES.unknown;
  return handled ? HANDLED_CODES.handled : HANDLED_CODES.unhandled;
}

/** `AGE_DAYS_MAX` days lie in fewer weeks than the hundred partitions that one insert may touch. */
const AGE_DAYS_MAX = 401;

/** A time beyond any retention becomes the time at which the event came. */
function withinReach({ at, receivedAt }: ExceptionEvent): Temporal.Instant {
  const ageMs = receivedAt.epochMilliseconds - at.epochMilliseconds;
  return Math.abs(ageMs) > AGE_DAYS_MAX * 86_400_000 ? receivedAt : at;
}

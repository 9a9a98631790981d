import type { ExceptionEvent } from '#core/exceptions/event.ts';
import { serializeEvent } from '#core/exceptions/event.ts';
import { isHandled, userKeyOf } from '#core/exceptions/triage.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { deleteRows } from '#storage/clickhouse/delete_rows.ts';
import { insertRows } from '#storage/clickhouse/insert_rows.ts';

/** An event that has found its group. */
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
    const rows = Buffer.from(events.map((event) => JSON.stringify(toRow(event))).join('\n'));
    await insertRows(this.#client, `exception_events (${COLUMNS})`, 'JSONCompactEachRow', rows, token);
  }

  /** All events of the service, before long: see `deleteRows`. */
  async deleteService(serviceId: Id<'service'>): Promise<void> {
    const parameters = { service: uuidOf(serviceId) };
    await deleteRows(this.#client, 'exception_events', 'service_id = {service:UUID}', parameters);
  }
}

function toRow({ serviceId, groupId, event }: GroupedEvent): readonly unknown[] {
  const handled = isHandled(event);
  return [
    uuidOf(serviceId),
    uuidOf(groupId),
    toUuid(event.eventId),
    withinReach(event).toString(),
    event.receivedAt.toString(),
    event.level,
    event.environment ?? '',
    event.release ?? '',
    userKeyOf(event) ?? '',
    handled === null ? 'unknown' : handled ? 'handled' : 'unhandled',
    event.tags,
    serializeEvent(event),
  ];
}

/** `AGE_DAYS_MAX` days lie in fewer weeks than the hundred partitions that one insert may touch. */
const AGE_DAYS_MAX = 401;

/** A time beyond any retention becomes the time at which the event came. */
function withinReach({ at, receivedAt }: ExceptionEvent): Temporal.Instant {
  const ageMs = receivedAt.epochMilliseconds - at.epochMilliseconds;
  return Math.abs(ageMs) > AGE_DAYS_MAX * 86_400_000 ? receivedAt : at;
}

function toUuid(eventId: string): string {
  return eventId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

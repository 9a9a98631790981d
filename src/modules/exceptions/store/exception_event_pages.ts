import { type ExceptionEvent, parseEvent } from '#modules/exceptions/decide/event.ts';
import { uuidOf } from '#kernel/ids.ts';
import { ClickHouseStore } from '#storage/clickhouse/read_rows.ts';
import { LOOKED_AT } from '#storage/clickhouse/insert_rows.ts';
import { groupParameters, type GroupScope, isOfGroup } from '#modules/exceptions/store/exception_counter.ts';

/** Position of an event among those of its group, which are ordered by time. */
export interface EventPlace {
  readonly atMs: number;
  /** 32 lower hex digits. */
  readonly eventId: string;
}

export interface EventWithPlace {
  readonly place: EventPlace;
  readonly event: ExceptionEvent;
}

/** Events next to each other, newest first, with the places right before and behind them. */
export interface EventPage {
  readonly events: readonly EventWithPlace[];
  readonly newer: EventPlace | null;
  readonly older: EventPlace | null;
}

interface PageOptions {
  /** The newest event of the page, if it is still there, or else the next older one; null for the newest of all. */
  readonly from: EventPlace | null;
  /** Time of the listed events, in epoch milliseconds; the end is not part of it. */
  readonly within: { readonly fromMs: number; readonly untilMs: number } | null;
  readonly limit: number;
}

/** Rows read for each event that is shown: it may have been sent more than once. */
const COPIES = 10;

const inGroup = (scope: GroupScope): string => `service_id = {service:UUID} AND ${isOfGroup(scope)}
  AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')`;
const PLACE = "(at, event_id) {order} (fromUnixTimestamp64Milli({at:Int64}, 'UTC'), {event:UUID})";

/** Beyond every event that a store can hold. */
const FOREVER_MS = 7_258_118_400_000;

/** Reads a group event by event, however many it has: costs what is shown. */
export class ExceptionEventPages extends ClickHouseStore {
  async list(scope: GroupScope, { from, within, limit }: PageOptions): Promise<EventPage> {
    const parameters = {
      service: uuidOf(scope.serviceId),
      ...groupParameters(scope),
      since: Math.min(FOREVER_MS, Math.max(scope.keptSince.epochMilliseconds, within?.fromMs ?? 0)),
      until: Math.max(0, Math.min(FOREVER_MS, within?.untilMs ?? FOREVER_MS)),
      rows: COPIES * (limit + 1),
    };
    const at = from === null ? {} : { at: from.atMs, event: from.eventId };
    const [places, newer] = await Promise.all([
      this.#places(scope, from === null ? '' : `AND ${PLACE.replace('{order}', '<=')}`, 'DESC', {
        ...parameters,
        ...at,
      }),
      from === null
        ? []
        : this.#places(scope, `AND ${PLACE.replace('{order}', '>')}`, 'ASC', { ...parameters, ...at, rows: 1 }),
    ]);
    const shown = places.slice(0, limit);
    const events = await this.#read(scope, shown, parameters);
    return {
      events: shown.flatMap((place) => {
        const event = events.get(place.eventId);
        return event === undefined ? [] : [{ place, event }];
      }),
      newer: newer[0] ?? null,
      older: places[limit] ?? null,
    };
  }

  /**
   * Reads positions from narrow columns only, so that the wide columns are read for the events that are shown alone.
   */
  async #places(
    scope: GroupScope,
    condition: string,
    order: 'ASC' | 'DESC',
    parameters: Record<string, unknown>,
  ): Promise<EventPlace[]> {
    const rows = await this.#rows<[at: string, eventId: string]>(
      `SELECT at_ms, id FROM (
         SELECT toUnixTimestamp64Milli(at) AS at_ms, event_id AS id FROM exception_events
         PREWHERE ${inGroup(scope)} ${condition} ORDER BY at ${order}, event_id ${order} LIMIT {rows:UInt32})
       ORDER BY at_ms ${order}, id ${order} LIMIT 1 BY id`,
      parameters,
    );
    return rows.map(([at, id]) => ({ atMs: Number(at), eventId: id.replaceAll('-', '') }));
  }

  async #read(
    scope: GroupScope,
    places: readonly EventPlace[],
    parameters: Record<string, unknown>,
  ): Promise<Map<string, ExceptionEvent>> {
    const [first, last] = [places[0], places.at(-1)];
    if (first === undefined || last === undefined) return new Map();
    const rows = await this.#rows<[payload: string]>(
      `SELECT payload FROM exception_events PREWHERE ${inGroup(scope)} AND event_id IN {events:Array(UUID)}
       LIMIT 1 BY event_id`,
      { ...parameters, since: last.atMs, until: first.atMs + 1, events: places.map(({ eventId }) => eventId) },
    );
    const events = rows.map(([payload]) => parseEvent(payload));
    return new Map(events.map((event) => [event.eventId, event]));
  }

  async #rows<Row extends readonly unknown[]>(query: string, parameters: Record<string, unknown>): Promise<Row[]> {
    return await this.rows<Row>(query, parameters, LOOKED_AT);
  }
}

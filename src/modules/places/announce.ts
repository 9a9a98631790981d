import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { DELIVERY_HOURS } from '#modules/places/decide/delivery.ts';
import { placeEventOf } from '#modules/places/decide/place_content.ts';
import { areRoutes, takesIncident } from '#modules/places/decide/place_route.ts';
import { cursorAfter } from '#modules/places/decide/timeline_cursor.ts';
import type { AnnouncedEntry, NewDelivery } from '#modules/places/store/place_delivery_store.ts';
import type { PlaceRow } from '#modules/places/store/place_store.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { sendPlaceOff } from '#storage/queue/jobs.ts';

/** Entries read at once, and how often within one run: the rest comes with the next one. */
const ENTRIES_AT_ONCE = 1_000;
const READS_MAX = 20;

/**
 * Makes deliveries of what has happened to incidents since the last run, and returns how many. It reads the timelines
 * behind a cursor, so that no transaction that pages people writes anything for places. An entry is read again until
 * all before it are committed; what a place was told of already is left out.
 */
export async function announceChanges(runtime: UnitOfWorkRuntime): Promise<number> {
  return await inUnitOfWork(runtime, async (unit) => {
    const { stores, now } = unit;
    const cursor = await stores.placeDeliveries.lockCursor();
    if (cursor === null) return 0;
    let [after, count] = [cursor, 0];
    const read: { id: number; at: Temporal.Instant }[] = [];
    const hasPlaces = await stores.placeDeliveries.hasPlaces();
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      const entries = await stores.placeDeliveries.listEntries(after, ENTRIES_AT_ONCE);
      if (hasPlaces) count += await announce(unit, entries);
      read.push(...entries);
      after = entries.at(-1)?.id ?? after;
      if (entries.length < ENTRIES_AT_ONCE) break;
    }
    const next = cursorAfter(cursor, read, now);
    if (next !== cursor) await stores.placeDeliveries.saveCursor(next);
    return count;
  });
}

async function announce(unit: UnitOfWork, entries: readonly AnnouncedEntry[]): Promise<number> {
  const { stores, now } = unit;
  const oldest = now.subtract({ hours: DELIVERY_HOURS }).epochMilliseconds;
  const entered = entries.flatMap((entry) => {
    const event = placeEventOf(entry.event, entry.data);
    return event === null || entry.isShadow || entry.at.epochMilliseconds < oldest ? [] : [{ entry, event }];
  });
  const listed = await stores.places.listOn([...new Set(entered.map(({ entry }) => entry.orgId))]);
  const places = listed.filter(({ routes }) => areRoutes(routes));
  for (const place of listed) if (!areRoutes(place.routes)) await setAside(unit, place);
  if (places.length === 0) return 0;
  const announced = await stores.placeDeliveries.listAnnounced(
    places.map(({ id }) => id),
    [...new Set(entered.map(({ entry }) => entry.incidentId))],
  );
  const deliveries = entered.flatMap(({ entry, event }): NewDelivery[] =>
    places
      .filter((place) => isFor(place, entry, announced, now))
      .map(({ id: placeId, orgId }) => {
        return { orgId, placeId, incidentId: entry.incidentId, noteId: null, event, source: `timeline ${entry.id}` };
      }),
  );
  return await stores.placeDeliveries.insert(deliveries, now);
}

/** Switches a place off whose routes cannot be read, so that it holds up no other, and tells the owners. */
async function setAside({ stores, now, enqueue }: UnitOfWork, { id: placeId, orgId }: PlaceRow): Promise<void> {
  if (!(await stores.places.switchOff(placeId, now))) return;
  await stores.placeDeliveries.end(placeId, 'The routes of the place cannot be read: set them again.', now);
  for (const { userId, role } of await stores.people.listPlaces(orgId)) {
    if (role === 'owner') enqueue(sendPlaceOff, { placeId, userId });
  }
}

/** Whether a place is told of an entry: a route takes the incident, or it was told of the incident before. */
function isFor(place: PlaceRow, entry: AnnouncedEntry, announced: ReadonlySet<string>, now: Temporal.Instant): boolean {
  if (place.orgId !== entry.orgId || place.createdAt.epochMilliseconds > entry.at.epochMilliseconds) return false;
  if (announced.has(`${place.id} ${entry.incidentId}`)) return true;
  const isSuppressed =
    entry.suppressedUntil !== null && entry.suppressedUntil.epochMilliseconds > now.epochMilliseconds;
  return !isSuppressed && takesIncident(place.routes, entry);
}

/**
 * Makes deliveries of a note for every place that was told of its incident, but for the one where it was written. What
 * happened right before the note is announced before it.
 */
export async function announceNote(
  unit: UnitOfWork,
  { orgId, incidentId }: { readonly orgId: Id<'org'>; readonly incidentId: Id<'incident'> },
  { noteId, writtenAt }: { readonly noteId: Id<'note'>; readonly writtenAt: string | null },
): Promise<void> {
  const { stores, now } = unit;
  const places = await stores.places.listOn([orgId]);
  if (places.length === 0) return;
  await announce(unit, await stores.placeDeliveries.listUnread(incidentId));
  const announced = await stores.placeDeliveries.listAnnounced(
    places.map(({ id }) => id),
    [incidentId],
  );
  const deliveries = places
    .filter(({ id }) => id !== writtenAt && announced.has(`${id} ${incidentId}`))
    .map(({ id: placeId }) => {
      return { orgId, placeId, incidentId, noteId, event: 'note' as const, source: `note ${noteId}` };
    });
  await stores.placeDeliveries.insert(deliveries, now);
}

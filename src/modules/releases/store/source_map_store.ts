import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, PostgresStore, type Row, rowsChanged, rowsOf, toColumns } from '#storage/postgres/store.ts';
import { SourceMapEntity, type SourceMapPlaceEntity } from '#storage/postgres/entities/releases.ts';

export type SourceMapRow = Row<typeof SourceMapEntity>;
export type NewPlace = Omit<Row<typeof SourceMapPlaceEntity>, 'id'>;

/** A stored map: compressed, and its size before. */
export interface StoredContent {
  readonly content: Buffer;
  readonly size: number;
}

/** Code of a release, under one of the addresses by which a build may have uploaded it. */
export interface CodeAddress {
  readonly serviceId: Id<'service'>;
  readonly release: string;
  readonly dist: string | null;
  readonly url: string;
}

export interface FoundPlace {
  readonly bundleId: Id<'bundle'>;
  readonly hash: string;
}

/** Source maps, each stored once in an organization, and the code that they describe. */
export class SourceMapStore extends PostgresStore {
  async insert(map: SourceMapRow): Promise<void> {
    await this.insertInto('source_maps')
      .values(toColumns(SourceMapEntity, map))
      .onConflict((conflict) => conflict.columns(['org_id', 'hash']).doUpdateSet({ created_at: map.createdAt }))
      .execute();
  }

  async addPlaces(places: readonly NewPlace[]): Promise<void> {
    if (places.length === 0) return;
    const added = rowsOf('added', {
      org_id: ['text', places.map(({ orgId }) => orgId)],
      bundle_id: ['text', places.map(({ bundleId }) => bundleId)],
      service_id: ['text', places.map(({ serviceId }) => serviceId)],
      debug_id: ['text', places.map(({ debugId }) => debugId)],
      release: ['text', places.map(({ release }) => release)],
      dist: ['text', places.map(({ dist }) => dist)],
      url: ['text', places.map(({ url }) => url)],
      hash: ['text', places.map(({ hash }) => hash)],
    });
    await this.insertInto('source_map_places')
      .columns(['org_id', 'bundle_id', 'service_id', 'debug_id', 'release', 'dist', 'url', 'hash'])
      .expression(({ selectFrom }) => selectFrom(added).selectAll('added'))
      .execute();
  }

  async removePlacesOf(bundleId: Id<'bundle'>): Promise<void> {
    await this.deleteFrom('source_map_places').where('bundle_id', '=', bundleId).execute();
  }

  /** Returns maps by debug id; of several uploads the newest counts. */
  async findByDebugIds(orgId: Id<'org'>, debugIds: readonly string[]): Promise<Map<string, FoundPlace>> {
    const rows = await this.selectFrom('source_map_places')
      .select(['debug_id as debugId', 'bundle_id as bundleId', 'hash'])
      .distinctOn('debug_id')
      .where('org_id', '=', orgId)
      .where('debug_id', '=', anyOf([...debugIds]))
      .orderBy('debug_id')
      .orderBy('id', 'desc')
      .execute();
    return new Map(rows.flatMap(({ debugId, ...place }) => (debugId === null ? [] : [[debugId, place] as const])));
  }

  /** Returns maps in the order of the addresses, null where no map is known. A map of another `dist` does not count. */
  async findByAddresses(addresses: readonly CodeAddress[]): Promise<(FoundPlace | null)[]> {
    if (addresses.length === 0) return [];
    const wanted = rowsOf('wanted', {
      number: ['integer', addresses.map((_, index) => index)],
      service_id: ['text', addresses.map(({ serviceId }) => serviceId)],
      release: ['text', addresses.map(({ release }) => release)],
      dist: ['text', addresses.map(({ dist }) => dist ?? '')],
      url: ['text', addresses.map(({ url }) => url)],
    });
    const rows = await this.selectFrom(wanted)
      .innerJoin('source_map_places as p', (join) =>
        join
          .onRef('p.service_id', '=', 'wanted.service_id')
          .onRef('p.release', '=', 'wanted.release')
          .onRef('p.url', '=', 'wanted.url')
          .on(({ eb, fn, val }) => eb(fn.coalesce('p.dist', val('')), '=', eb.ref('wanted.dist'))),
      )
      .select(['wanted.number', 'p.bundle_id as bundleId', 'p.hash'])
      .distinctOn('wanted.number')
      .orderBy('wanted.number')
      .orderBy('p.id', 'desc')
      .execute();
    const places = new Map(rows.map(({ number, ...place }) => [number, place]));
    return addresses.map((_, index) => places.get(index) ?? null);
  }

  async findContent(orgId: Id<'org'>, hash: string): Promise<StoredContent | null> {
    const row = await this.selectFrom('source_maps')
      .select(['content', 'size'])
      .where('org_id', '=', orgId)
      .where('hash', '=', hash)
      .executeTakeFirst();
    return row ?? null;
  }

  /** Bytes that the maps of the organization take. */
  async storedBytes(orgId: Id<'org'>): Promise<number> {
    const { bytes } = await this.selectFrom('source_maps')
      .select(({ fn, cast, val }) => cast<number>(fn.coalesce(fn.sum('stored_bytes'), val(0)), 'bigint').as('bytes'))
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow();
    return bytes;
  }

  /** Removes maps that describe nothing any more. Those that came lately may be about to be placed. */
  async removeUnplaced(orgId: Id<'org'> | null, before: Temporal.Instant, limit: number): Promise<number> {
    const removed = await this.deleteFrom('source_maps')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('org_id', 'hash'),
          'in',
          selectFrom('source_maps as m')
            .select(['m.org_id', 'm.hash'])
            .where('m.created_at', '<', before)
            .$if(orgId !== null, (query) => query.where('m.org_id', '=', orgId))
            .where(({ not, exists, selectFrom: from }) =>
              not(
                exists(
                  from('source_map_places as p')
                    .select('p.id')
                    .whereRef('p.org_id', '=', 'm.org_id')
                    .whereRef('p.hash', '=', 'm.hash'),
                ),
              ),
            )
            .limit(limit)
            .$asTuple('org_id', 'hash'),
        ),
      )
      .execute();
    return rowsChanged(removed);
  }
}

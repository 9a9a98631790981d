import { sql } from 'kysely';

import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { PlaceHealth } from '#modules/places/decide/delivery.ts';
import type { MessageReference } from '#modules/places/decide/place_content.ts';
import { PLACES_MAX } from '#modules/places/decide/place_kinds.ts';
import type { ChatPlace } from '#modules/places/decide/chat_places.ts';
import { ChatAccountEntity, PlaceEntity } from '#storage/postgres/entities/places.ts';
import { columns, json, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';

export type PlaceRow = Row<typeof PlaceEntity>;

export type NewPlace = Pick<PlaceRow, 'orgId' | 'kind' | 'name' | 'shown' | 'sealed' | 'settingsRole' | 'routes'>;

/** Places that are ready to be sent to. */
export type ReadyPlace = Pick<PlaceRow, 'id' | 'orgId'>;

/** Places where incidents are announced, and the message of each incident. */
export class PlaceStore extends PostgresStore {
  /** The places of an organization, by name. */
  async list(orgId: Id<'org'>): Promise<PlaceRow[]> {
    return await this.#places().where('p.org_id', '=', orgId).orderBy('p.name').limit(PLACES_MAX).execute();
  }

  async listOn(orgIds: readonly Id<'org'>[]): Promise<PlaceRow[]> {
    if (orgIds.length === 0) return [];
    return await this.#places().where('p.org_id', 'in', orgIds).where('p.is_on', '=', true).execute();
  }

  /** Throws `not_found`. */
  async get(orgId: Id<'org'>, placeId: string): Promise<PlaceRow> {
    return await this.#named(orgId, placeId).executeTakeFirstOrThrow(() => notFound('placeId', 'place'));
  }

  /** Throws `not_found`. Locked until the transaction ends. */
  async lock(orgId: Id<'org'>, placeId: string): Promise<PlaceRow> {
    return await this.#named(orgId, placeId)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('placeId', 'place'));
  }

  /** Finds a place by its id alone: what a vendor sends names no organization. */
  async find(placeId: string): Promise<PlaceRow | null> {
    return (await this.#places().where('p.id', '=', asId('place', placeId)).executeTakeFirst()) ?? null;
  }

  /** Finds the place of this name, in any case. */
  async findNamed(orgId: Id<'org'>, name: string): Promise<PlaceRow | null> {
    const place = await this.#places()
      .where('p.org_id', '=', orgId)
      .where(({ eb, fn }) => eb(fn<string>('lower', ['p.name']), '=', fn<string>('lower', [eb.val(name)])))
      .executeTakeFirst();
    return place ?? null;
  }

  async insert(place: NewPlace, now: Temporal.Instant): Promise<PlaceRow> {
    const health = { failures: 0, failingSince: null, lastFailure: null, lastSuccessAt: null, heldUntil: null };
    const row = {
      id: newId('place'),
      ...place,
      isOn: true,
      ...health,
      switchedOffAt: null,
      claimedUntil: null,
      createdAt: now,
      updatedAt: now,
    };
    await this.insertInto('places').values(toColumns(PlaceEntity, row)).execute();
    return row;
  }

  async save(
    id: Id<'place'>,
    changed: Partial<Pick<PlaceRow, 'name' | 'shown' | 'sealed' | 'settingsRole' | 'routes' | 'isOn'>> &
      Partial<PlaceHealth>,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.updateTable('places')
      .set({
        ...toColumns(PlaceEntity, { ...changed, updatedAt: now }),
        ...(changed.isOn === undefined ? {} : { switched_off_at: null }),
      })
      .where('id', '=', id)
      .execute();
  }

  async delete(id: Id<'place'>): Promise<void> {
    await this.deleteFrom('places').where('id', '=', id).execute();
  }

  /** Lists places that are on and have something to send, the longest waiting first. */
  async listReady(now: Temporal.Instant, limit: number): Promise<ReadyPlace[]> {
    return await this.selectFrom('place_deliveries as d')
      .innerJoin('places as p', 'p.id', 'd.place_id')
      .select(['p.id', 'p.org_id as orgId'])
      .where('d.status', '=', 'waiting')
      .where('d.due_at', '<=', now)
      .where('p.is_on', '=', true)
      .where((eb) => eb.or([eb('p.held_until', 'is', null), eb('p.held_until', '<=', now)]))
      .where((eb) => eb.or([eb('p.claimed_until', 'is', null), eb('p.claimed_until', '<=', now)]))
      .groupBy(['p.id', 'p.org_id'])
      .orderBy(({ fn }) => fn.min('d.due_at'))
      .limit(limit)
      .execute();
  }

  /** Claims the turn of a place, so that one process at a time sends to it; null when another has it. */
  async claim(id: Id<'place'>, now: Temporal.Instant, until: Temporal.Instant): Promise<PlaceRow | null> {
    const claimed = await this.updateTable('places')
      .set({ claimed_until: until })
      .where('id', '=', id)
      .where('is_on', '=', true)
      .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
      .execute();
    return rowsChanged(claimed) === 0 ? null : await this.find(id);
  }

  /** Whether a place is on, and the turn that ends then is not over or another's. Locked until the transaction ends. */
  async lockTurn(id: Id<'place'>, until: Temporal.Instant): Promise<boolean> {
    const held = await this.selectFrom('places')
      .select('id')
      .where('id', '=', id)
      .where('claimed_until', '=', until)
      .where('is_on', '=', true)
      .forUpdate()
      .executeTakeFirst();
    return held !== undefined;
  }

  async release(id: Id<'place'>, until: Temporal.Instant): Promise<void> {
    await this.updateTable('places')
      .set({ claimed_until: null })
      .where('id', '=', id)
      .where('claimed_until', '=', until)
      .execute();
  }

  async saveHealth(id: Id<'place'>, health: PlaceHealth): Promise<void> {
    await this.updateTable('places').set(toColumns(PlaceEntity, health)).where('id', '=', id).execute();
  }

  /** Switches a place off that has failed for a day; false when it is off already. */
  async switchOff(id: Id<'place'>, now: Temporal.Instant): Promise<boolean> {
    const switched = await this.updateTable('places')
      .set({ is_on: false, switched_off_at: now, updated_at: now })
      .where('id', '=', id)
      .where('is_on', '=', true)
      .execute();
    return rowsChanged(switched) > 0;
  }

  async findMessage(placeId: Id<'place'>, incidentId: Id<'incident'>): Promise<MessageReference | null> {
    const message = await this.selectFrom('place_messages')
      .select('reference')
      .where('place_id', '=', placeId)
      .where('incident_id', '=', incidentId)
      .executeTakeFirst();
    return message?.reference ?? null;
  }

  async saveMessage(
    placeId: Id<'place'>,
    incidentId: Id<'incident'>,
    reference: MessageReference,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.insertInto('place_messages')
      .values({ place_id: placeId, incident_id: incidentId, reference: json(reference), sent_at: now })
      .onConflict((conflict) =>
        conflict.columns(['place_id', 'incident_id']).doUpdateSet({ reference: json(reference), sent_at: now }),
      )
      .execute();
  }

  /** Lists the messages of an incident at the organization's places of a kind. */
  async listMessages(
    orgId: Id<'org'>,
    kind: ChatPlace,
    incidentId: string,
  ): Promise<{ placeId: Id<'place'>; reference: MessageReference }[]> {
    return await this.selectFrom('place_messages as m')
      .innerJoin('places as p', 'p.id', 'm.place_id')
      .select(['m.place_id as placeId', 'm.reference'])
      .where('p.org_id', '=', orgId)
      .where('p.kind', '=', kind)
      .where('m.incident_id', '=', asId('incident', incidentId))
      .execute();
  }

  /** Finds what a message at a place of this kind is about; null for a message that the organization did not send. */
  async findIncidentOf(
    orgId: Id<'org'>,
    kind: ChatPlace,
    reference: MessageReference,
  ): Promise<{ placeId: Id<'place'>; incidentId: Id<'incident'> } | null> {
    const message = await this.selectFrom('place_messages as m')
      .innerJoin('places as p', 'p.id', 'm.place_id')
      .select(['m.place_id as placeId', 'm.incident_id as incidentId'])
      .where('p.org_id', '=', orgId)
      .where('p.kind', '=', kind)
      .where(({ ref }) => sql<boolean>`${ref('m.reference')}::jsonb @> ${json(reference)}::jsonb`)
      .executeTakeFirst();
    return message ?? null;
  }

  #places() {
    return this.selectFrom('places as p').select(columns(PlaceEntity, 'p'));
  }

  #named(orgId: Id<'org'>, placeId: string) {
    return this.#places().where('p.org_id', '=', orgId).where('p.id', '=', asId('place', placeId));
  }
}

export type ChatAccountRow = Row<typeof ChatAccountEntity>;

export interface ChatIdentity {
  readonly orgId: Id<'org'>;
  readonly kind: ChatPlace;
  readonly account: string;
}

/** Chat accounts that people have linked, and the codes by which they do. */
export class ChatAccountStore extends PostgresStore {
  /** The linked accounts of a person in an organization. */
  async list(orgId: Id<'org'>, userId: Id<'user'>): Promise<ChatAccountRow[]> {
    return await this.#accounts()
      .where('a.org_id', '=', orgId)
      .where('a.user_id', '=', userId)
      .where('a.account', 'is not', null)
      .orderBy('a.kind')
      .execute();
  }

  /** Makes a code by which an account is linked; an earlier one of the person for this kind of place ends. */
  async insertCode(
    code: Pick<ChatAccountRow, 'orgId' | 'userId' | 'kind' | 'codeHash' | 'codeExpiresAt'>,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.deleteFrom('chat_accounts')
      .where('org_id', '=', code.orgId)
      .where('user_id', '=', code.userId)
      .where('kind', '=', code.kind)
      .where('account', 'is', null)
      .execute();
    const row = { id: newId('chataccount'), ...code, account: null, name: null, presses: [], createdAt: now };
    await this.insertInto('chat_accounts')
      .values(toColumns(ChatAccountEntity, { ...row, linkedAt: null }))
      .execute();
  }

  /** Finds who has this code, locked until the transaction ends; null when it is wrong or too old. */
  async lockCode(
    { orgId, kind, codeHash }: { orgId: Id<'org'>; kind: ChatPlace; codeHash: Buffer },
    now: Temporal.Instant,
  ): Promise<ChatAccountRow | null> {
    const code = await this.#accounts()
      .where('a.code_hash', '=', codeHash)
      .where('a.org_id', '=', orgId)
      .where('a.kind', '=', kind)
      .where('a.code_expires_at', '>', now)
      .forUpdate()
      .executeTakeFirst();
    return code ?? null;
  }

  /** Links the account to the person of the code, which is used up; whoever had it linked before has it no more. */
  async link(code: ChatAccountRow, account: string, name: string, now: Temporal.Instant): Promise<void> {
    const { db } = this;
    await db
      .deleteFrom('chat_accounts')
      .where('org_id', '=', code.orgId)
      .where('kind', '=', code.kind)
      .where('account', '=', account)
      .execute();
    await db
      .updateTable('chat_accounts')
      .set({ account, name, code_hash: null, code_expires_at: null, linked_at: now })
      .where('id', '=', code.id)
      .execute();
  }

  async find({ orgId, kind, account }: ChatIdentity): Promise<ChatAccountRow | null> {
    return (await this.#linked({ orgId, kind, account }).executeTakeFirst()) ?? null;
  }

  /** Finds it and locks it until the transaction ends: two presses are counted one after the other. */
  async lock(identity: ChatIdentity): Promise<ChatAccountRow | null> {
    return (await this.#linked(identity).forUpdate().executeTakeFirst()) ?? null;
  }

  async savePresses(id: Id<'chataccount'>, presses: readonly string[]): Promise<void> {
    await this.updateTable('chat_accounts')
      .set({ presses: json(presses) })
      .where('id', '=', id)
      .execute();
  }

  /** Removes a linked account of a person. Throws `not_found`. */
  async remove(orgId: Id<'org'>, userId: Id<'user'>, chatAccountId: string): Promise<ChatAccountRow> {
    const id = asId('chataccount', chatAccountId);
    const account = await this.#accounts()
      .where('a.id', '=', id)
      .where('a.org_id', '=', orgId)
      .where('a.user_id', '=', userId)
      .where('a.account', 'is not', null)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('chatAccountId', 'linked chat account'));
    await this.deleteFrom('chat_accounts').where('id', '=', id).execute();
    return account;
  }

  /** Removes codes that nobody typed in time. */
  async removeExpired(now: Temporal.Instant): Promise<void> {
    await this.deleteFrom('chat_accounts').where('code_expires_at', '<', now).execute();
  }

  #accounts() {
    return this.selectFrom('chat_accounts as a').select(columns(ChatAccountEntity, 'a'));
  }

  #linked({ orgId, kind, account }: ChatIdentity) {
    return this.#accounts().where('a.org_id', '=', orgId).where('a.kind', '=', kind).where('a.account', '=', account);
  }
}

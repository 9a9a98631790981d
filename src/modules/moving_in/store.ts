import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { MovedItem, Verdict } from '#modules/moving_in/decide/ledger.ts';
import {
  allBut,
  columnNames,
  columns,
  PostgresStore,
  recordsOf,
  type Row,
  toColumns,
  toRecords,
} from '#storage/postgres/store.ts';
import { MoveInAnswerEntity, MoveInEntity, MoveInItemEntity } from '#storage/postgres/entities/moving_in.ts';

export type MoveInRow = Omit<Row<typeof MoveInEntity>, 'file' | 'markdown'> & { readonly hasFile: boolean };

/** Moves of an organization that are kept; with a further one the oldest goes. */
const KEPT_MAX = 10;
const ITEMS_AT_ONCE = 1_000;

const SHOWN = allBut(MoveInEntity, 'file', 'markdown');

/** Moves from other tools, with what was read of them. */
export class MoveInStore extends PostgresStore {
  /** The moves of an organization, newest first. */
  async list(orgId: Id<'org'>): Promise<MoveInRow[]> {
    return await this.#rows().where('m.org_id', '=', orgId).orderBy('m.id', 'desc').limit(KEPT_MAX).execute();
  }

  /** Throws `not_found`. */
  async get(orgId: Id<'org'>, moveInId: string): Promise<MoveInRow> {
    return await this.#rows()
      .where('m.org_id', '=', orgId)
      .where('m.id', '=', asId('movein', moveInId))
      .executeTakeFirstOrThrow(() => notFound('moveInId', 'move from another tool'));
  }

  /** Throws `not_found`. Locked until the transaction ends. */
  async lock(orgId: Id<'org'>, moveInId: string): Promise<MoveInRow> {
    await this.selectFrom('move_ins as m')
      .select('m.id')
      .where('m.org_id', '=', orgId)
      .where('m.id', '=', asId('movein', moveInId))
      .forUpdate()
      .execute();
    return await this.get(orgId, moveInId);
  }

  /** Inserts a move, and deletes the oldest ones. */
  async insert(
    move: Pick<MoveInRow, 'orgId' | 'tool' | 'proofFrom' | 'createdBy'>,
    now: Temporal.Instant,
  ): Promise<Id<'movein'>> {
    const id = newId('movein');
    const empty = { status: 'collecting', progress: '', fault: null, file: null, markdown: null } as const;
    const row = { id, ...move, ...empty, summary: null, plan: null, applied: 0, createdAt: now, updatedAt: now };
    await this.insertInto('move_ins').values(toColumns(MoveInEntity, row)).execute();
    const newest = this.selectFrom('move_ins as n')
      .select('n.id')
      .where('n.org_id', '=', move.orgId)
      .orderBy('n.id', 'desc')
      .limit(KEPT_MAX);
    await this.deleteFrom('move_ins').where('org_id', '=', move.orgId).where('id', 'not in', newest).execute();
    return id;
  }

  async save(
    id: Id<'movein'>,
    changed: Partial<Omit<Row<typeof MoveInEntity>, 'id' | 'orgId' | 'tool' | 'createdAt'>>,
  ): Promise<void> {
    await this.updateTable('move_ins').set(toColumns(MoveInEntity, changed)).where('id', '=', id).execute();
  }

  /** Returns the configuration file or the Markdown of the report, from one character to another. */
  async readText(
    id: Id<'movein'>,
    column: 'file' | 'markdown',
    at: { readonly from: number; readonly length: number },
  ): Promise<string | null> {
    const { db } = this;
    const row = await db
      .selectFrom('move_ins as m')
      .select(({ fn, ref, val }) =>
        fn<string | null>('substr', [ref(`m.${column}`), val(at.from + 1), val(at.length)]).as('text'),
      )
      .where('m.id', '=', id)
      .executeTakeFirst();
    return row?.text ?? null;
  }

  /** Characters of what is kept of a move until it is read. */
  async countKept(id: Id<'movein'>): Promise<number> {
    const row = await this.selectFrom('move_in_answers as a')
      .select(({ fn }) => fn.sum<string | null>(fn<number>('length', ['a.content'])).as('length'))
      .where('a.move_in_id', '=', id)
      .executeTakeFirst();
    return Number(row?.length ?? 0);
  }

  /** Keeps a part of an uploaded file, in place of one that is there. */
  async keepPart(moveInId: Id<'movein'>, name: string, part: number, content: string): Promise<void> {
    await this.#keep({ moveInId, name, part, isUpload: true, content, next: null });
  }

  async keepAnswer(
    moveInId: Id<'movein'>,
    { name, text, next }: { readonly name: string; readonly text: string; readonly next: string | null },
  ): Promise<void> {
    await this.#keep({ moveInId, name, part: 0, isUpload: false, content: text, next });
  }

  /** The files that were uploaded, each put together of its parts. */
  async listFiles(moveInId: Id<'movein'>): Promise<{ name: string; text: string }[]> {
    const parts = await this.#answers(moveInId, true).orderBy('a.name').orderBy('a.part').execute();
    const files = Map.groupBy(parts, ({ name }) => name);
    return [...files].map(([name, list]) => ({ name, text: list.map(({ content }) => content).join('') }));
  }

  async listAnswers(moveInId: Id<'movein'>): Promise<{ name: string; text: string; next: string | null }[]> {
    const answers = await this.#answers(moveInId, false).execute();
    return answers.map(({ name, content, next }) => ({ name, text: content, next }));
  }

  async deleteKept(moveInId: Id<'movein'>): Promise<void> {
    await this.deleteFrom('move_in_answers').where('move_in_id', '=', moveInId).execute();
  }

  /** Writes what was read anew. */
  async replaceItems(moveInId: Id<'movein'>, items: readonly MovedItem[]): Promise<void> {
    const { db } = this;
    await db.deleteFrom('move_in_items').where('move_in_id', '=', moveInId).execute();
    for (let at = 0; at < items.length; at += ITEMS_AT_ONCE) {
      const rows = items.slice(at, at + ITEMS_AT_ONCE).map((item, index) => {
        const { kind, id, name, verdict, reason, todo } = item;
        return { moveInId, position: at + index, kind, itemId: id, name, verdict, reason, todo };
      });
      await db
        .insertInto('move_in_items')
        .columns(columnNames(MoveInItemEntity))
        .expression(({ selectFrom }) =>
          selectFrom(recordsOf('item', MoveInItemEntity, toRecords(rows.map((row) => withoutNull(row))))).selectAll(),
        )
        .execute();
    }
  }

  /** Lists what was read, in the order of reading, after a position. */
  async listItems(
    moveInId: Id<'movein'>,
    { verdict, after, limit }: { readonly verdict: Verdict | null; readonly after: number; readonly limit: number },
  ): Promise<Row<typeof MoveInItemEntity>[]> {
    let items = this.selectFrom('move_in_items as i')
      .select(columns(MoveInItemEntity, 'i'))
      .where('i.move_in_id', '=', moveInId)
      .where('i.position', '>', after);
    if (verdict !== null) items = items.where('i.verdict', '=', verdict);
    return await items.orderBy('i.position').limit(limit).execute();
  }

  async #keep(answer: Row<typeof MoveInAnswerEntity>): Promise<void> {
    const row = toColumns(MoveInAnswerEntity, { ...answer, content: answer.content.replaceAll('\0', '') });
    await this.insertInto('move_in_answers')
      .values(row)
      .onConflict((at) =>
        at.columns(['move_in_id', 'name', 'part']).doUpdateSet({ content: row.content, next: row.next }),
      )
      .execute();
  }

  #answers(moveInId: Id<'movein'>, isUpload: boolean) {
    return this.selectFrom('move_in_answers as a')
      .select(columns(MoveInAnswerEntity, 'a'))
      .where('a.move_in_id', '=', moveInId)
      .where('a.is_upload', '=', isUpload);
  }

  #rows() {
    return this.selectFrom('move_ins as m')
      .select(columns(MoveInEntity, 'm', SHOWN))
      .select(({ eb }) => eb('m.file', 'is not', null).$castTo<boolean>().as('hasFile'));
  }
}

/** PostgreSQL has no NUL character in texts. */
function withoutNull<Item extends Readonly<Record<string, string | number>>>(item: Item): Item {
  const entries = Object.entries(item).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.replaceAll('\0', '') : value,
  ]);
  return Object.fromEntries(entries) as Item;
}

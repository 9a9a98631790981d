import { MONITORS_MAX, mayCreateByDsn } from '#modules/monitors/decide/check_in.ts';
import { isAtOrBefore } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { CheckInEntity } from '#storage/postgres/entities/monitors.ts';

export type WaitingCheckIn = Row<typeof CheckInEntity>;
export type NewCheckIn = Omit<WaitingCheckIn, 'number'>;

/** Limit on the check-ins of one service that wait: of those with the DSN, which is public, and of those with the key. */
const WAITING_MAX = 5_000;
/** Limit on the check-ins of one service in one turn, so that others need not wait for one that sends very many. */
const TURN_MAX = 25;

/** Reason why a check-in is not taken. */
export type CheckInRefusal = 'too_many_monitors' | 'too_many_new_monitors' | 'too_many_waiting' | 'key_only';

function isReplaceable({ is_kept }: { readonly is_kept: boolean }): boolean {
  return !is_kept;
}

/** Check-ins between their arrival and the moment they are looked at. */
export class CheckInStore extends PostgresStore {
  /** Null when it is taken. One of a service that is gone is dropped. */
  async add(checkIn: NewCheckIn): Promise<CheckInRefusal | null> {
    const { serviceId, slug, environment } = checkIn;
    const { db } = this;
    const service = await db
      .selectFrom('services')
      .select('id')
      .where('id', '=', serviceId)
      .where('deleted_at', 'is', null)
      .forKeyShare()
      .executeTakeFirst();
    if (service === undefined) return null;
    const waiting = await db
      .selectFrom('check_ins')
      .select('number')
      .where('service_id', '=', serviceId)
      .where('by_key', '=', checkIn.byKey)
      .limit(WAITING_MAX)
      .execute();
    if (waiting.length >= WAITING_MAX) return 'too_many_waiting';
    const monitors = await db
      .selectFrom('monitors')
      .select(['slug', 'environment', 'key_only', 'is_kept', 'schedule', 'created_at'])
      .where('service_id', '=', serviceId)
      .limit(MONITORS_MAX)
      .execute();
    const monitor = monitors.find((candidate) => candidate.slug === slug && candidate.environment === environment);
    if (monitor?.key_only === true && !checkIn.byKey) return 'key_only';
    if (monitor === undefined && monitors.length >= MONITORS_MAX && !(checkIn.byKey && monitors.some(isReplaceable))) {
      return 'too_many_monitors';
    }
    const since = checkIn.receivedAt.subtract({ hours: 1 });
    const recent = monitors.filter(
      (candidate) => isReplaceable(candidate) && isAtOrBefore(since, candidate.created_at),
    );
    const schedules = recent.map(({ schedule }) => schedule);
    if (monitor === undefined && !checkIn.byKey && !mayCreateByDsn(schedules, checkIn.config?.schedule ?? null)) {
      return 'too_many_new_monitors';
    }
    await db.insertInto('check_ins').values(toColumns(CheckInEntity, checkIn)).execute();
    return null;
  }

  /** Some of each service, the organizations in turn; those of a service in the order in which they came. */
  async listWaiting(limit: number): Promise<WaitingCheckIn[]> {
    const all = Object.keys(CheckInEntity.properties) as (keyof WaitingCheckIn)[];
    const ofServices = this.selectFrom('check_ins as c')
      .select(columns(CheckInEntity, 'c'))
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy('c.service_id').orderBy('c.number'))
          .as('nth'),
      );
    const ofOrganizations = this.selectFrom(ofServices.as('w'))
      .select(all)
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy('orgId').orderBy('nth').orderBy('number'))
          .as('turn'),
      )
      .where('nth', '<=', TURN_MAX);
    return await this.selectFrom(ofOrganizations.as('o'))
      .select(all)
      .orderBy('turn')
      .orderBy('number')
      .limit(limit)
      .execute();
  }

  /** Returns the check-ins that are still there, in their order, locked until the transaction ends. */
  async lock(numbers: readonly number[]): Promise<WaitingCheckIn[]> {
    return await this.selectFrom('check_ins as c')
      .select(columns(CheckInEntity, 'c'))
      .where('c.number', '=', anyOf(numbers))
      .orderBy('c.number')
      .forUpdate()
      .skipLocked()
      .execute();
  }

  async remove(numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return;
    await this.deleteFrom('check_ins').where('number', '=', anyOf(numbers)).execute();
  }
}

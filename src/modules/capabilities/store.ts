import type { Expression, Kysely } from 'kysely';

import type { BillingPeriod, CapabilityState } from '#modules/capabilities/decide/billing.ts';
import type { Capability } from '#modules/capabilities/decide/capability.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  columns,
  PostgresStore,
  prepared,
  type Row,
  rowsChanged,
  toColumns,
  type Values,
} from '#storage/postgres/store.ts';
import { BillingPeriodEntity, ServiceCapabilityEntity } from '#storage/postgres/entities/services.ts';
import type { Tables } from '#storage/postgres/tables.ts';

const ENTRY = ['capability', 'startsAt', 'endsAt', 'amountCents', 'currency'] as const;

export type LedgerEntry = Pick<Row<typeof BillingPeriodEntity>, (typeof ENTRY)[number]> & {
  readonly periodId: Id<'period'>;
};

/** A ledger entry and its service, under the name that the service had then. */
export type LedgerLine = LedgerEntry & Pick<Row<typeof BillingPeriodEntity>, 'serviceId' | 'serviceName'>;

/** Sums of all periods that began in a month. */
export interface LedgerMonth {
  readonly month: string;
  readonly totalCents: number;
  readonly lineCount: number;
}

/** A capability whose period has ended and that is still enabled. */
export type DueRenewal = Pick<Row<typeof ServiceCapabilityEntity>, 'serviceId' | 'capability'> & {
  readonly orgId: Id<'org'>;
};

function ledgerOf(db: Kysely<Tables>, orgId: Id<'org'> | Expression<Id<'org'>>) {
  return db
    .selectFrom('billing_periods as b')
    .select('b.id as periodId')
    .select(columns(BillingPeriodEntity, 'b', ENTRY))
    .where('b.org_id', '=', orgId);
}

interface PeriodsOfService {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly limit: number;
}

const LIST_PERIODS = prepared((db, { orgId, serviceId, limit }: Values<PeriodsOfService>) =>
  ledgerOf(db, orgId)
    .where('b.service_id', '=', serviceId)
    .orderBy('b.starts_at', 'desc')
    .orderBy('b.capability')
    .limit(limit),
);

/** Stores the capabilities of services, and the ledger of the periods they were charged for. */
export class CapabilityStore extends PostgresStore {
  /** Says whether the console shows the organization what capabilities cost; returns whether that was different before. */
  async setShowsPrices(orgId: Id<'org'>, showsPrices: boolean): Promise<boolean> {
    const changed = await this.updateTable('organizations')
      .set({ shows_prices: showsPrices })
      .where('id', '=', orgId)
      .where('shows_prices', '<>', showsPrices)
      .execute();
    return rowsChanged(changed) > 0;
  }

  async find(serviceId: Id<'service'>, capability: Capability): Promise<CapabilityState | null> {
    const state = await this.selectFrom('service_capabilities')
      .select(['is_enabled as isEnabled', 'billing_anchor as anchor', 'billed_until as billedUntil'])
      .where('service_id', '=', serviceId)
      .where('capability', '=', capability)
      .executeTakeFirst();
    return state ?? null;
  }

  /** The caller holds the lock on the service, which makes read, decide, save one step. */
  async save(
    serviceId: Id<'service'>,
    capability: Capability,
    { isEnabled, anchor: billingAnchor, billedUntil }: CapabilityState,
    now: Temporal.Instant,
  ): Promise<void> {
    const row = { serviceId, capability, isEnabled, enabledAt: now, billingAnchor, billedUntil };
    await this.insertInto('service_capabilities')
      .values(toColumns(ServiceCapabilityEntity, row))
      .onConflict((conflict) =>
        conflict
          .columns(['service_id', 'capability'])
          .doUpdateSet((eb) => ({
            is_enabled: isEnabled,
            billing_anchor: billingAnchor,
            billed_until: billedUntil,
            enabled_at: eb
              .case()
              .when('service_capabilities.is_enabled', '=', true)
              .then(eb.ref('service_capabilities.enabled_at'))
              .else(eb.ref('excluded.enabled_at'))
              .end(),
          })),
      )
      .execute();
  }

  /** Adds one line to the ledger. The same period twice is one charge: (service, capability, start) is unique. */
  async charge(
    service: { readonly orgId: Id<'org'>; readonly id: Id<'service'>; readonly name: string },
    { capability, startsAt, endsAt, amountCents, currency }: BillingPeriod,
    now: Temporal.Instant,
  ): Promise<void> {
    const row = {
      id: newId('period'),
      orgId: service.orgId,
      serviceId: service.id,
      serviceName: service.name,
      capability,
      startsAt,
      endsAt,
      amountCents,
      currency,
      createdAt: now,
    };
    await this.insertInto('billing_periods')
      .values(toColumns(BillingPeriodEntity, row))
      .onConflict((conflict) => conflict.columns(['service_id', 'capability', 'starts_at']).doNothing())
      .execute();
  }

  /** The service's ledger, newest period first. */
  async listPeriods(orgId: Id<'org'>, serviceId: Id<'service'>, limit: number): Promise<LedgerEntry[]> {
    return await LIST_PERIODS.rows(this.session, { orgId, serviceId, limit });
  }

  /** The organization's ledger of all services, gone ones included, newest period first. */
  async listPeriodsOfAll(orgId: Id<'org'>, limit: number): Promise<LedgerLine[]> {
    return await ledgerOf(this.db, orgId)
      .select(columns(BillingPeriodEntity, 'b', ['serviceId', 'serviceName']))
      .orderBy('b.starts_at', 'desc')
      .orderBy('b.service_name')
      .orderBy('b.service_id')
      .orderBy('b.capability')
      .limit(limit)
      .execute();
  }

  /**
   * Lists the sums of the periods that began in each month, newest first: the months are those of UTC, as `2027-02`.
   */
  async listMonths(orgId: Id<'org'>): Promise<LedgerMonth[]> {
    return await this.selectFrom('billing_periods as b')
      .select(({ fn, ref, val, cast }) => [
        fn<string>('to_char', [fn('timezone', [val('UTC'), ref('b.starts_at')]), val('YYYY-MM')]).as('month'),
        cast<number>(fn.sum('b.amount_cents'), 'double precision').as('totalCents'),
        cast<number>(fn.countAll(), 'integer').as('lineCount'),
      ])
      .where('b.org_id', '=', orgId)
      .groupBy('month')
      .orderBy('month', 'desc')
      .execute();
  }

  async listDueRenewals(now: Temporal.Instant, limit: number): Promise<DueRenewal[]> {
    return await this.selectFrom('service_capabilities as c')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'c.service_id').on('s.deleted_at', 'is', null))
      .select(['s.org_id as orgId', 's.id as serviceId', 'c.capability'])
      .where('c.is_enabled', '=', true)
      .where('c.billed_until', '<=', now)
      .orderBy('c.billed_until')
      .limit(limit)
      .execute();
  }
}

import type { BillingPeriod, CapabilityState } from '#core/capabilities/billing.ts';
import type { Capability } from '#core/capabilities/capability.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A period as it stands in the ledger. */
export interface LedgerEntry extends BillingPeriod {
  readonly periodId: Id<'period'>;
}

/** The same with whose it is, under the name that the service had. */
export interface LedgerLine extends LedgerEntry {
  readonly serviceId: Id<'service'>;
  readonly serviceName: string;
}

/** A capability whose period has ended and that is still enabled. */
export interface DueRenewal {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly capability: Capability;
}

/** Which capabilities a service has, and the ledger of the periods it was charged for. */
export class CapabilityStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async find(serviceId: Id<'service'>, capability: Capability): Promise<CapabilityState | null> {
    return await this.#session.sql.row<CapabilityState>(
      `select is_enabled as "isEnabled", billing_anchor as anchor, billed_until as "billedUntil"
       from service_capabilities where service_id = $1 and capability = $2`,
      [serviceId, capability],
    );
  }

  /** The caller holds the lock on the service, which makes read, decide, save one step. */
  async save(
    serviceId: Id<'service'>,
    capability: Capability,
    state: CapabilityState,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.#session.sql.run(
      `insert into service_capabilities (service_id, capability, is_enabled, enabled_at, billing_anchor, billed_until)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (service_id, capability) do update set is_enabled = excluded.is_enabled,
         billing_anchor = excluded.billing_anchor, billed_until = excluded.billed_until,
         enabled_at = case when service_capabilities.is_enabled then service_capabilities.enabled_at else excluded.enabled_at end`,
      [serviceId, capability, state.isEnabled, now.toString(), state.anchor.toString(), state.billedUntil.toString()],
    );
  }

  /** Adds one line to the ledger. The same period twice is one charge: (service, capability, start) is unique. */
  async charge(
    service: { readonly orgId: Id<'org'>; readonly id: Id<'service'>; readonly name: string },
    period: BillingPeriod,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.#session.sql.run(
      `insert into billing_periods (id, org_id, service_id, service_name, capability, starts_at, ends_at, amount_cents, currency, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (service_id, capability, starts_at) do nothing`,
      [
        newId('period'),
        service.orgId,
        service.id,
        service.name,
        period.capability,
        period.startsAt.toString(),
        period.endsAt.toString(),
        period.amountCents,
        period.currency,
        now.toString(),
      ],
    );
  }

  /** The service's ledger, newest period first. */
  async listPeriods(orgId: Id<'org'>, serviceId: Id<'service'>, limit: number): Promise<LedgerEntry[]> {
    return await this.#session.sql.rows(
      `select id as "periodId", capability, starts_at as "startsAt", ends_at as "endsAt",
         amount_cents as "amountCents", currency
       from billing_periods where org_id = $1 and service_id = $2 order by starts_at desc, capability limit $3`,
      [orgId, serviceId, limit],
    );
  }

  /** The organization's ledger of all services, gone ones included, newest period first. */
  async listPeriodsOfAll(orgId: Id<'org'>, limit: number): Promise<LedgerLine[]> {
    return await this.#session.sql.rows(
      `select id as "periodId", service_id as "serviceId", service_name as "serviceName", capability,
         starts_at as "startsAt", ends_at as "endsAt", amount_cents as "amountCents", currency
       from billing_periods where org_id = $1 order by starts_at desc, service_name, service_id, capability limit $2`,
      [orgId, limit],
    );
  }

  async listDueRenewals(now: Temporal.Instant, limit: number): Promise<DueRenewal[]> {
    return await this.#session.sql.rows(
      `select s.org_id as "orgId", s.id as "serviceId", c.capability
       from service_capabilities c join services s on s.id = c.service_id and s.deleted_at is null
       where c.is_enabled and c.billed_until <= $1 order by c.billed_until limit $2`,
      [now.toString(), limit],
    );
  }
}

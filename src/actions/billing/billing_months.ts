import { type Static, Type } from 'typebox';

import { IdText, Timestamp } from '#actions/fields.ts';
import { CapabilityName } from '#actions/services/view.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { LedgerLine } from '#storage/postgres/capability_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

const Euros = Type.Number({ description: 'in EUR' });

export const BillingView = Type.Object({
  currency: Type.Literal('EUR'),
  months: Type.Array(
    Type.Object({
      month: Type.String({ description: 'in which the periods began, UTC; such as 2026-11' }),
      total: Euros,
      lines: Type.Array(
        Type.Object({
          serviceId: IdText,
          serviceName: Type.String({ description: 'as it was when the period began' }),
          capability: CapabilityName,
          periodStart: Timestamp,
          periodEnd: Timestamp,
          amount: Euros,
        }),
      ),
    }),
    { description: 'newest first' },
  ),
});

const LINES_MAX = 10_000;

/** The ledger, each period in the month in which it began. */
export async function readBilling(stores: Stores, orgId: Id<'org'>): Promise<Static<typeof BillingView>> {
  const lines = await stores.capabilities.listPeriodsOfAll(orgId, LINES_MAX);
  const months = Map.groupBy(lines, ({ startsAt }) => toTimestamp(startsAt).slice(0, 'YYYY-MM'.length));
  return { currency: 'EUR', months: [...months].map(([month, of]) => toMonth(month, of)) };
}

function toMonth(month: string, lines: readonly LedgerLine[]) {
  return {
    month,
    total: toEuros(lines.reduce((cents, { amountCents }) => cents + amountCents, 0)),
    lines: lines.map(({ serviceId, serviceName, capability, startsAt, endsAt, amountCents }) => ({
      serviceId,
      serviceName,
      capability,
      periodStart: toTimestamp(startsAt),
      periodEnd: toTimestamp(endsAt),
      amount: toEuros(amountCents),
    })),
  };
}

function toEuros(cents: number): number {
  return cents / 100;
}

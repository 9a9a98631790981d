import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, Timestamp } from '#actions/fields.ts';
import { CapabilityName } from '#modules/services/view.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { LedgerLine, LedgerMonth } from '#modules/capabilities/store.ts';

const Euros = Type.Number({ description: 'in EUR' });

const BillingView = Type.Object({
  currency: Type.Literal('EUR'),
  months: Type.Array(
    Type.Object({
      month: Type.String({ description: 'in which the periods began, UTC; such as 2026-11' }),
      total: Euros,
      lineCount: Type.Integer({
        description: 'how many lines the month has; those of the oldest months may be left out',
      }),
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

/** Returns the ledger, each period in the month in which it began. */
export const getBilling = defineOperation({
  name: 'get_billing',
  summary: 'Get what was charged for, month by month, newest first.',
  permission: 'organization:manage',
  effect: 'read',
  result: BillingView,
  async handle(_input, { caller, stores }) {
    const months = await stores.capabilities.listMonths(caller.orgId);
    const lines = Map.groupBy(await stores.capabilities.listPeriodsOfAll(caller.orgId, LINES_MAX), ({ startsAt }) =>
      toTimestamp(startsAt).slice(0, 'YYYY-MM'.length),
    );
    return { currency: 'EUR' as const, months: months.map((month) => toMonth(month, lines.get(month.month) ?? [])) };
  },
});

function toMonth({ month, totalCents, lineCount }: LedgerMonth, lines: readonly LedgerLine[]) {
  return {
    month,
    total: toEuros(totalCents),
    lineCount,
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

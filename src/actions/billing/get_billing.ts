import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText, Timestamp } from '#actions/fields.ts';
import { CapabilityName } from '#actions/services/view.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { LedgerLine } from '#storage/postgres/capability_store.ts';

const Euros = Type.Number({ description: 'in EUR' });

const BillingView = Type.Object({
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
export const getBilling = defineAction({
  name: 'get_billing',
  consoleOnly: true,
  summary: 'Get what was charged for, month by month, newest first.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: BillingView,
  example: {},
  async handle(_input, { caller, stores }) {
    const lines = await stores.capabilities.listPeriodsOfAll(caller.orgId, LINES_MAX);
    const months = Map.groupBy(lines, ({ startsAt }) => toTimestamp(startsAt).slice(0, 'YYYY-MM'.length));
    return { currency: 'EUR' as const, months: [...months].map(([month, of]) => toMonth(month, of)) };
  },
});

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

import type { InputOf } from '#console/api/actions.ts';

/** Filter of the audit log in an address. Days are in the viewer's time zone. */
export interface AuditFilter {
  readonly from?: string;
  readonly to?: string;
  readonly actor?: string;
  readonly via?: string;
  readonly action?: string;
  readonly target?: string;
  readonly result?: string;
}

const NAMES = ['from', 'to', 'actor', 'via', 'action', 'target', 'result'] as const;

export function readAuditFilter(search: Record<string, unknown>): AuditFilter {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}

type AuditInput = Omit<InputOf<'list_audit_log'>, 'cursor' | 'limit'>;

/**
 * Converts a filter to the request, from the beginning of the first day to the end of the last. The server refuses
 * values that it does not know.
 */
export function auditInput({ from, to, ...others }: AuditFilter): AuditInput {
  const begin = startOfDay(from, 0);
  const end = startOfDay(to, 1);
  const marks = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)) as AuditInput;
  return { ...marks, ...(begin !== null && { from: begin }), ...(end !== null && { to: end }) };
}

/** Returns the start of the day, `daysLater` days after `day`, in the viewer's zone; null if `day` is not a date. */
function startOfDay(day: string | undefined, daysLater: number): string | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  if (year === undefined) return null;
  return new Date(Number(year), Number(month) - 1, Number(date) + daysLater).toISOString();
}

interface DaySpan {
  readonly title: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Returns the usual choices of days, in the viewer's zone. */
export function daySpans(now: Date): DaySpan[] {
  const daysAgo = (days: number): string => {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days, 12);
    return [day.getFullYear(), day.getMonth() + 1, day.getDate()]
      .map((part) => String(part).padStart(2, '0'))
      .join('-');
  };
  return [
    { title: 'All days', from: undefined, to: undefined },
    { title: 'Today', from: daysAgo(0), to: daysAgo(0) },
    { title: 'Yesterday', from: daysAgo(1), to: daysAgo(1) },
    { title: 'Last 7 days', from: daysAgo(6), to: daysAgo(0) },
  ];
}

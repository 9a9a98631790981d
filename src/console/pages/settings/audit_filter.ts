/** What the address says of the audit log; days are days of the viewer. */
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

/** As the server takes it: from the beginning of the first day to the end of the last. */
export function auditParameters({ from, to, ...others }: AuditFilter): URLSearchParams {
  const parameters = new URLSearchParams(Object.entries(others).filter(([, value]) => value !== undefined));
  const begin = startOfDay(from, 0);
  const end = startOfDay(to, 1);
  if (begin !== null) parameters.set('from', begin);
  if (end !== null) parameters.set('to', end);
  return parameters;
}

/** Of so many days later, in the viewer's zone. */
function startOfDay(day: string | undefined, daysLater: number): string | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  if (year === undefined) return null;
  return new Date(Number(year), Number(month) - 1, Number(date) + daysLater).toISOString();
}

/** Load in an address: the team, and the month as 2026-11; without a month it is the present one. */
export interface LoadSearch {
  readonly team?: string;
  readonly month?: string;
}

export function readLoadSearch({ team, month }: Record<string, unknown>): LoadSearch {
  return {
    ...(typeof team === 'string' && team !== '' && { team }),
    ...(typeof month === 'string' && /^20\d\d-(0[1-9]|1[0-2])$/.test(month) && { month }),
  };
}

/** Returns the month of a time by the clock of the viewer. */
export function monthOf(now: number): string {
  const date = new Date(now);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`;
}

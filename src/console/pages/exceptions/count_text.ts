const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** A count in a few letters: `950`, `12K`. The whole number belongs into the tooltip. */
export function shortCount(count: number): string {
  return count < 10_000 ? count.toLocaleString() : COMPACT.format(count);
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

const SHARE = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

export function shareText(part: number, whole: number): string {
  const share = whole === 0 ? 0 : part / whole;
  return share > 0 && share < 0.01 ? '<1%' : SHARE.format(share);
}

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A UTC day as people write it. */
export function dayText(day: string): string {
  return DAY.format(new Date(`${day}T00:00:00Z`));
}

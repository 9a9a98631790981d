import { dateFormat, numberFormat } from '#console/components/text/time_text.ts';

const threeDigits = numberFormat({ maximumSignificantDigits: 3 });

/** Scales of counts, as those of metrics, see `modules/metrics/decide/quantity.ts`. */
const SCALES = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** Formats a count in a few characters: `9,500`, `12.3 k`. The full number belongs into the tooltip. */
export function shortCount(count: number): string {
  const rounded = Number(count.toPrecision(3));
  const scale = count < 10_000 ? undefined : SCALES.find(([size]) => rounded >= size);
  if (scale === undefined) return count.toLocaleString();
  const [size, symbol] = scale;
  return `${threeDigits(rounded / size)}\u00a0${symbol}`;
}

export function countText(count: number, singular: string, many = `${singular}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? singular : many}`;
}

const percent = numberFormat({ style: 'percent', maximumFractionDigits: 0 });

export function shareText(part: number, whole: number): string {
  const share = whole === 0 ? 0 : part / whole;
  return share > 0 && share < 0.01 ? '<1%' : percent(share);
}

const DAY = dateFormat({ day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Formats a UTC day for people. */
export function dayText(day: string): string {
  return DAY.format(new Date(`${day}T00:00:00Z`));
}

/** Percentiles, in the unit of the samples. */
export interface Spread {
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** The nearest-rank percentiles: each is one of the samples. Throws without any. */
export function spreadOf(samples: readonly number[]): Spread {
  if (samples.length === 0) throw new RangeError('no samples');
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { min: at(0), p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), max: at(1) };
}

/** `12.3 ms`, `4.56 s`: three significant figures. */
export function duration(ms: number): string {
  return ms < 1_000 ? `${significant(ms)} ms` : `${significant(ms / 1_000)} s`;
}

/** `1,234,567`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** `1.23 ×`: the ratio of two figures. */
export function ratio(value: number, base: number): string {
  return base === 0 ? '–' : `${(value / base).toFixed(2)} ×`;
}

/** `1.23 %` of a share from 0 to 1. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

export function spreadCells(spread: Spread): Record<'p50' | 'p90' | 'p99' | 'max', string> {
  const { p50, p90, p99, max } = spread;
  return { p50: duration(p50), p90: duration(p90), p99: duration(p99), max: duration(max) };
}

/**
 * A table with aligned columns: the first to the left, figures to the right. All rows have the columns
 * of the first.
 */
export function tableOf(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '));
  return lines.map((line) => `  ${line}`).join('\n');
}

function significant(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

import type { PlannedQuestion, QuestionGroup } from '#storage/clickhouse/rule_plan.ts';
import { rowKeyOf, type Shape } from '#storage/clickhouse/rule_query.ts';

/** The columns behind target and slot, in the order of rule_query.ts. */
type Columns = readonly number[];

interface Slot {
  readonly fromMs: number;
  readonly columns: Columns;
}

/** What the queries of a group said, put together slot by slot into the value of each window. */
export class RuleAnswers {
  readonly #rowKeys: ReadonlyMap<string, string>;
  readonly #slots = new Map<string, Slot[]>();

  constructor({ targets }: QuestionGroup) {
    this.#rowKeys = new Map(targets.map((target, index) => [target.key, rowKeyOf(target, index)]));
  }

  add(shape: Shape, rows: readonly (readonly unknown[])[]): void {
    for (const [rowKey, from, ...columns] of rows) {
      const key = `${shape} ${String(rowKey)}`;
      const slot = { fromMs: Number(from), columns: columns.map(toNumber) };
      const known = this.#slots.get(key);
      if (known === undefined) this.#slots.set(key, [slot]);
      else known.push(slot);
    }
  }

  /** The value over the question's window; null without data. */
  valueOf({ target, aggregation, fromMs }: PlannedQuestion): number | null {
    const all = (shape: Shape): readonly Slot[] =>
      this.#slots.get(`${shape} ${this.#rowKeys.get(target.key) ?? ''}`) ?? [];
    const within = (shape: Shape): Columns[] =>
      all(shape)
        .filter((slot) => slot.fromMs >= fromMs)
        .map(({ columns }) => columns);
    switch (aggregation) {
      case 'avg': {
        const samples = within('samples');
        return valueIf(samples.length > 0, total(samples, 1) / total(samples, 0));
      }
      case 'count':
        return valueIf(within('samples').length > 0, total(within('samples'), 0));
      case 'min':
        return valueIf(within('samples').length > 0, Math.min(...column(within('samples'), 2)));
      case 'max':
        return valueIf(within('samples').length > 0, Math.max(...column(within('samples'), 3)));
      case 'last':
        return valueIf(within('last').length > 0, total(within('last'), 1));
      case 'sum': {
        const [samples, growth] = [within('samples'), within('growth')];
        // A counter with one sample in the window has grown by nothing, which is a value all the same.
        const isCounted = all('growth').some(({ columns }) => (columns[1] ?? 0) >= fromMs);
        return valueIf(isCounted || total(samples, 4) > 0, total(samples, 5) + total(growth, 0));
      }
    }
  }
}

function column(rows: readonly Columns[], index: number): number[] {
  return rows.map((columns) => columns[index] ?? 0);
}

function total(rows: readonly Columns[], index: number): number {
  return column(rows, index).reduce((sum, value) => sum + value, 0);
}

/** Sums beyond the range of numbers are the largest of them, as in what a query answers. */
function valueIf(hasData: boolean, value: number): number | null {
  if (!hasData) return null;
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
}

/** ClickHouse writes whole numbers of 64 bits, and those that JSON lacks, as texts. */
function toNumber(value: unknown): number {
  if (value === 'inf') return Infinity;
  return value === '-inf' ? -Infinity : Number(value);
}

import {
  type BinaryOperationNode,
  type OperationNode,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  ReferenceNode,
  ColumnNode,
  ValueNode,
} from 'kysely';

import { Temporal, toTimestamp } from '#kernel/time.ts';

/** Columns that say in a word what has become of a row, on which partial indexes depend. */
const COLUMNS_OF_WORDS: ReadonlySet<string> = new Set(['status', 'state']);
const WORD = /^[a-z_]{1,40}$/;

/**
 * Compiles queries so that an instant is a parameter like any other, and that a status they ask for is part of their text:
 * a plan that is made once for all parameters cannot use an index over the rows of one status, and would read all rows.
 */
export class QueryCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    super.appendValue(toParameter(value));
  }

  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const words = COLUMNS_OF_WORDS.has(columnOf(node.leftOperand)) ? wordsOf(node.rightOperand) : null;
    if (words === null) {
      super.visitBinaryOperation(node);
      return;
    }
    this.visitNode(node.leftOperand);
    this.append(' ');
    this.visitNode(node.operator);
    this.append(` ${words}`);
  }
}

/** Returns the column's name, or nothing if this is no column. */
function columnOf(node: OperationNode): string {
  const column = ReferenceNode.is(node) ? node.column : node;
  return ColumnNode.is(column) ? column.column.name : '';
}

/** Returns words as SQL, quoted; null if any is no plain word. */
function wordsOf(node: OperationNode): string | null {
  if (ValueNode.is(node)) return wordOf(node.value);
  if (!PrimitiveValueListNode.is(node)) return null;
  const words = node.values.map(wordOf);
  return words.includes(null) ? null : `(${words.join(', ')})`;
}

function wordOf(value: unknown): string | null {
  return typeof value === 'string' && WORD.test(value) ? `'${value}'` : null;
}

export function toParameter(value: unknown): unknown {
  if (value instanceof Temporal.Instant) return instantText(value);
  return Array.isArray(value) ? value.map(toParameter) : value;
}

/** Returns the same text as `toString`, which takes twice as long. */
export function instantText(instant: Temporal.Instant): string {
  return instant.epochNanoseconds % 1_000_000n === 0n ? toTimestamp(instant) : instant.toString();
}

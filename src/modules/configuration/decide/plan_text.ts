import type { ChangedField, Plan } from '#modules/configuration/decide/plan.ts';
import { operationOf } from '#modules/configuration/decide/operation_calls.ts';

/** A plan in words and in JSON, besides the decision. */
interface ShownPlan {
  readonly plan: Pick<Plan, 'changes' | 'left' | 'records'>;
  readonly meaning: readonly string[];
  readonly notes: readonly string[];
  readonly fingerprint: string;
}

/** Parts of a plan that its reader may see whole. */
interface Shows {
  readonly phones: boolean;
  /** Whether the keys of DSNs are shown: to the operator alone, since nothing records who reads a plan. */
  readonly keys: boolean;
}

/** Returns the JSON of a plan, with what its reader may not see masked. */
export function planJson({ plan, meaning, notes, fingerprint }: ShownPlan, shows: Shows) {
  return {
    changes: plan.changes.map((change) => {
      const { action, kind, key, name, id, fields } = change;
      const shown = fields.map((field) => masked(field, shows));
      return { action, kind, key, name, id, operation: operationOf(change), fields: shown };
    }),
    meaning,
    notes,
    notInFile: plan.left,
    unrecorded: plan.records.length,
    fingerprint,
  };
}

function masked(field: ChangedField, { phones, keys }: Shows): ChangedField {
  if (field.field === 'phone' && !phones) return eachValue(field, (value) => ending(value, 2));
  return field.field === 'sentry' && !keys ? eachValue(field, withoutKeys) : field;
}

function eachValue({ field, ...values }: ChangedField, change: (value: unknown) => unknown): ChangedField {
  return {
    field,
    ...('before' in values && { before: change(values.before) }),
    ...('after' in values && { after: change(values.after) }),
  };
}

function withoutKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { publicKey, furtherKeys, ...rest } = value as { publicKey?: unknown; furtherKeys?: unknown };
  const further = Array.isArray(furtherKeys) ? furtherKeys.map((key: unknown) => ending(key, 4)) : [];
  return { publicKey: ending(publicKey, 4), ...rest, furtherKeys: further };
}

function ending(value: unknown, length: number): unknown {
  return typeof value === 'string' ? `…${value.slice(-length)}` : value;
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const;

/** Longest value in a line of the diff. */
const VALUE_LENGTH_MAX = 160;

/** Returns the plan as a diff that a person reviews. */
export function planText({ plan, meaning, notes, fingerprint }: ShownPlan): string {
  const { changes, left, records } = plan;
  const lines = changes.flatMap(({ action, kind, key, name, fields }) => [
    `${SIGNS[action]} ${kind} ${key}${name === key ? '' : `  ${oneLine(name)}`}`,
    ...fields.map((field) => `    ${fieldText(field)}`),
  ]);
  const count = (action: keyof typeof SIGNS) => changes.filter((change) => change.action === action).length;
  const summary =
    changes.length === 0
      ? 'No changes: everything is as in the file.'
      : `${count('create')} to create, ${count('update')} to change, ${count('delete')} to delete.`;
  return [
    ...lines,
    ...(lines.length > 0 ? [''] : []),
    ...section('What it means:', meaning),
    ...section('To know:', notes),
    ...section(
      'Made by this file and not in it any more (--prune deletes them):',
      left.map(({ kind, key }) => `${kind} ${key}`),
    ),
    summary,
    ...(records.length > 0 ? [`${records.length} that are there already will be marked as managed by this file.`] : []),
    ...(changes.length > 0 ? [`Fingerprint of this plan: ${fingerprint}`] : []),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${oneLine(line)}`), ''];
}

function fieldText(changed: ChangedField): string {
  const { field, before, after } = changed;
  if (before === undefined) return `${field}: ${valueText(after)}`;
  if (after === undefined) return `${field}: without ${valueText(before)}`;
  return `${field}: ${valueText(before)} → ${valueText(after)}`;
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? oneLine(value) : (JSON.stringify(value) ?? '');
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX - 1)}…` : text;
}

/** Returns a text without line breaks and control characters, which could pretend to be another line. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ');
}

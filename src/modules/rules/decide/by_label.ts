import { createHash } from 'node:crypto';

import type { MeasuredValue } from '#modules/rules/decide/breach.ts';
import type { Comparator } from '#modules/rules/decide/kind_settings.ts';

/** Most values of a label that have an incident of their own at a time; the others share one. */
export const OWN_INCIDENTS_MAX = 100;

/** Part of all values of the label that have no incident of their own. */
export const REST = 'rest';
const OF_VALUE = 'by.';
/** Longest label and value that stand in the key of an incident as they are. */
const TEXT_LENGTH_MAX = 200;

/** Returns the part of a rule that a value of its label is: with the rule's id, the key of its incident. */
export function partOfValue(label: string, value: string): string {
  return `${OF_VALUE}${shortened(label)}=${shortened(value)}`;
}

export function keyStartOfValues(ruleId: string): string {
  return `${ruleId}.${OF_VALUE}`;
}

export function isOfValue(part: string): boolean {
  return part.startsWith(OF_VALUE);
}

function shortened(text: string): string {
  if (text.length <= TEXT_LENGTH_MAX) return text;
  return `${text.slice(0, TEXT_LENGTH_MAX)}…${createHash('sha256').update(text).digest('base64url')}`;
}

export interface MeasuredPart {
  /** Empty text for the whole rule. */
  readonly part: string;
  /** Value of the label that it is; null for the rest, for the whole, and for a value that sends nothing. */
  readonly value: string | null;
  readonly measured: MeasuredValue;
  /** Number of values that breach in it: more than one for the rest only. */
  readonly breaching: number;
}

interface LabelledRule {
  readonly label: string;
  readonly comparator: Comparator;
  readonly threshold: number;
}

/** Parts of a rule of which something is known before an evaluation. */
export interface KnownParts {
  /** Parts with an open incident. */
  readonly open: ReadonlySet<string>;
  /** Parts of which something is remembered. */
  readonly remembered: ReadonlySet<string>;
}

/**
 * Divides what was measured by label into the parts that are judged: the values with an open incident or a memory, then those
 * that breach, the furthest beyond the threshold first, up to 100 in all; and the rest, of which the furthest value counts. A
 * value that has an incident and sends nothing has no data. Healthy values that nobody remembers are part of the rest.
 */
export function divideByLabel(
  byValue: ReadonlyMap<string, MeasuredValue>,
  { label, comparator, threshold }: LabelledRule,
  knownParts: KnownParts,
): MeasuredPart[] {
  const values = new Map([...byValue].map(([value, measured]) => [partOfValue(label, value), { value, measured }]));
  const breaching = [...values]
    .filter(([, { measured }]) => measured.value !== null && isBeyond(comparator, measured.value, threshold))
    .toSorted(([a, { measured }], [b, { measured: other }]) => {
      const distance = beyond(comparator, other.value ?? 0) - beyond(comparator, measured.value ?? 0);
      return distance !== 0 ? distance : a < b ? -1 : 1;
    })
    .map(([part]) => part);
  const [open, remembered] = [
    [...knownParts.open].filter(isOfValue),
    [...knownParts.remembered].filter(isOfValue).toSorted(),
  ];
  const apart = new Set([...new Set([...open, ...remembered, ...breaching])].slice(0, ownMax(open)));
  const parts = [...apart].map((part): MeasuredPart => {
    const { value = null, measured = { value: null } } = values.get(part) ?? {};
    return { part, value, measured, breaching: 1 };
  });
  const others = [...values].filter(([part]) => !apart.has(part)).map(([, { measured }]) => measured);
  // Where each value has an incident of its own, the rest is nothing, and not without data.
  if (others.length === 0 && values.size > 0) return parts;
  const rest: MeasuredPart = {
    part: REST,
    value: null,
    measured: furthest(comparator, others) ?? { value: null },
    breaching: breaching.filter((part) => !apart.has(part)).length,
  };
  return [...parts, rest];
}

/** An incident that is open keeps its place, also where more are open than new ones may be. */
function ownMax(open: readonly string[]): number {
  return Math.max(OWN_INCIDENTS_MAX, open.length);
}

/** Returns the value furthest beyond, or least far from, any threshold; undefined without any. */
export function furthest(comparator: Comparator, values: Iterable<MeasuredValue>): MeasuredValue | undefined {
  let worst: MeasuredValue | undefined;
  for (const measured of values) {
    if (measured.value === null) continue;
    const isWorse = worst === undefined || beyond(comparator, measured.value) > beyond(comparator, worst.value ?? 0);
    if (isWorse) worst = measured;
  }
  return worst;
}

function beyond(comparator: Comparator, value: number): number {
  return comparator.startsWith('>') ? value : -value;
}

function isBeyond(comparator: Comparator, value: number, threshold: number): boolean {
  if (value === threshold) return comparator.endsWith('=');
  return beyond(comparator, value) > beyond(comparator, threshold);
}

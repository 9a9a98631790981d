import type { Series } from '#modules/metrics/decide/point.ts';
import { toSeriesText } from '#ingest/admission/labels.ts';

/** Whether label names and values in turn hold this label. */
export function hasLabel(labels: readonly string[], label: string): boolean {
  for (let i = 0; i < labels.length; i += 2) if (labels[i] === label) return true;
  return false;
}

/** Formats a series for messages. */
export function textOf({ name, labels }: Series): string {
  const named = Array.from({ length: labels.length / 2 }, (_, i) => ({
    name: labels[i * 2] ?? '',
    value: labels[i * 2 + 1] ?? '',
  }));
  return toSeriesText(name, named);
}

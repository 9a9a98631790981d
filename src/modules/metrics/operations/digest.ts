import type { Static } from 'typebox';

import type { MetricSeriesView } from '#modules/metrics/operations/view.ts';

/** Returns the summary before the points. */
export function digestOfSeries({ points, summary, ...series }: Static<typeof MetricSeriesView>): object {
  return { ...series, summary, points };
}

import type { Static } from 'typebox';

import type { MetricSeriesView } from '#actions/metrics/view.ts';

/** Returns the summary before the points. */
export function digestOfSeries({ points, summary, ...series }: Static<typeof MetricSeriesView>): object {
  return { ...series, summary, points };
}

import type { Rule } from '#console/api/actions.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { noQuantilesText } from '#modules/metrics/decide/quantile.ts';

/** Text on why a metric rule cannot fire: its metric has not arrived, or has no quantiles. */
export function MissingMetric({ missing }: { readonly missing: NonNullable<Rule['missingMetric']> }) {
  const { metricName, nearestNames, noQuantiles, withoutCommon } = missing;
  if (noQuantiles !== null) {
    return (
      <>{noQuantilesText(isolateBidi(noQuantiles.metricName), noQuantiles.kind)}. Until then the rule cannot fire.</>
    );
  }
  if (withoutCommon !== undefined) {
    return (
      <>
        Both sides of <code>{metricName}</code> have arrived, and no value of {isolateBidi(withoutCommon)} is on both,
        so the rule cannot fire: choose a label that both sides have.
      </>
    );
  }
  return (
    <>
      No point of <code>{metricName}</code> has arrived yet, so the rule cannot fire.
      {nearestNames.length > 0 && ` Did you mean ${nearestNames.join(' or ')}?`}
    </>
  );
}

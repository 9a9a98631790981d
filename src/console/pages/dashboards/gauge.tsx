import classes from '#console/pages/dashboards/gauge.module.css';
import { type Measure, quantityText } from '#modules/metrics/decide/quantity.ts';

interface GaugeProps {
  readonly label: string;
  readonly value: number;
  readonly threshold: number;
  /** Highest value of the period. */
  readonly highest: number;
  readonly measure: Measure;
}

/** Bar of a number against its threshold, which is said in words as well. */
export function Gauge({ label, value, threshold, highest, measure }: GaugeProps) {
  const end = Math.max(highest, threshold, 0) * 1.1 || 1;
  const share = (number: number) => `${Math.min(100, Math.max(0, (100 * number) / end))}%`;
  const isBeyond = value >= threshold;
  return (
    <div className={`${classes.gauge} dimmed tiny`} data-beyond={isBeyond ? '' : undefined}>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={end}
        aria-valuenow={Math.min(end, Math.max(0, value))}
      >
        <span style={{ width: share(value) }} />
        <i style={{ left: share(threshold) }} />
      </div>
      {isBeyond ? 'at or above' : 'below'} {quantityText(threshold, measure)}
    </div>
  );
}

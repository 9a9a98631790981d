import type { DeployDay } from '#console/api/exceptions.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import classes from '#console/pages/exceptions/day_bars.module.css';
import { deployText } from '#console/pages/exceptions/deploy_text.ts';

interface DayBarsProps {
  /** Events of each day, oldest first, today last. */
  readonly counts: readonly number[];
  readonly days: readonly string[];
  /** Deploys, which mark their days. */
  readonly deploys: readonly DeployDay[];
}

const HEIGHT = 24;
const STEP = 8;
/** Smallest height of a bar: a day with events must not look like one without. */
const HEIGHT_MIN = 2;

/** Bars of the number of events on each of the last days. */
export function DayBars({ counts, days, deploys }: DayBarsProps) {
  const most = Math.max(1, ...counts);
  const today = counts.at(-1) ?? 0;
  const all = counts.reduce((sum, count) => sum + count, 0);
  const total = deploys.reduce((sum, { count }) => sum + count, 0);
  const deployed = total === 0 ? '' : `, ${countText(total, 'deploy')}`;
  const label = `${all.toLocaleString()} events in ${counts.length} days, ${today.toLocaleString()} today${deployed}`;
  const deployOn = new Map(deploys.map((deploy) => [deploy.date, deploy]));
  return (
    <svg
      className={classes.bars}
      viewBox={`0 0 ${counts.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {counts.map((count, index) => {
        const height = count === 0 ? 1 : Math.max(HEIGHT_MIN, (count / most) * HEIGHT);
        const deploy = deployOn.get(days[index] ?? '');
        return (
          // Days never change places.
          // eslint-disable-next-line react/no-array-index-key
          <g key={index}>
            <rect
              x={index * STEP}
              y={HEIGHT - height}
              width={STEP - 2}
              height={height}
              className={count === 0 ? classes.none : classes.some}
            />
            {deploy !== undefined && (
              <rect x={index * STEP - 1.5} y={0} width={1} height={HEIGHT} className={classes.deploy}>
                <title>{deployText(deploy)}</title>
              </rect>
            )}
          </g>
        );
      })}
    </svg>
  );
}

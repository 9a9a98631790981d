import type { ExceptionOverview } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { clockText } from '#console/components/text/time_text.ts';
import { countText, shortCount } from '#console/pages/exceptions/count_text.ts';
import classes from '#console/pages/exceptions/days_chart.module.css';

/** Chart of one bar an hour, of an exception that began within a day. */
export function HoursChart({ hours }: { readonly hours: NonNullable<ExceptionOverview['hours']> }) {
  const most = Math.max(1, ...hours.map(({ count }) => count));
  return (
    <Card title="Events by hour" about={`It began within the last 24 hours; at most ${shortCount(most)} in an hour`}>
      <ol className={classes.bars}>
        {hours.map(({ at, count }) => {
          const text = `${clockText(at)}: ${countText(count, 'event')}`;
          return (
            <li key={at}>
              <span className={classes.bar} role="img" aria-label={text} title={text}>
                <span style={{ height: count === 0 ? 1 : `max(3px, ${(100 * count) / most}%)` }} />
              </span>
            </li>
          );
        })}
      </ol>
      <div className={classes.axis} aria-hidden>
        <span>24 h ago</span>
        <span>now</span>
      </div>
    </Card>
  );
}

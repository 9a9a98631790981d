import type { ExceptionEvent } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/exceptions/event/breadcrumbs.module.css';
import { fieldText } from '#console/pages/exceptions/field_text.ts';

/** Card of the events before the exception, the newest last, as in a log. */
export function Breadcrumbs({ event: { breadcrumbs } }: { readonly event: ExceptionEvent }) {
  if (breadcrumbs.length === 0) return null;
  return (
    <Card title="Breadcrumbs" about="What happened before, oldest first">
      <ol className={classes.crumbs}>
        {breadcrumbs.map(({ timestamp, type, category, level, message, data }, index) => {
          const details = fieldText(data);
          const said = message ?? details;
          return (
            // The same thing can happen many times.
            // eslint-disable-next-line react/no-array-index-key
            <li key={index} data-level={level}>
              <span className={classes.at}>{timestamp !== null && <Timestamp at={timestamp} format="clock" />}</span>
              <span className={classes.category}>{category ?? type ?? ''}</span>
              <span className={classes.said} title={message === null || details === '' ? said : `${said}\n${details}`}>
                {level !== null && level !== 'info' && <b>{level} </b>}
                {said}
                {message !== null && details !== '' && <span className={classes.data}> {details}</span>}
              </span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

import { Link } from '@tanstack/react-router';

import type { ExceptionOverview } from '#console/api/exceptions.ts';
import { Name } from '#console/components/text/name.tsx';
import { conditionText } from '#modules/exceptions/decide/search_query.ts';
import { Card } from '#console/components/card.tsx';
import { Shares } from '#console/pages/exceptions/shares.tsx';
import classes from '#console/pages/exceptions/overview_cards.module.css';

/** Card of the tags that most of the events share. */
export function TagsCard({
  overview: { serviceId, tags, taggedEvents, eventCount },
}: {
  readonly overview: ExceptionOverview;
}) {
  if (tags.length === 0) return null;
  const isSample = taggedEvents < eventCount;
  return (
    <Card title="Tags" about={isSample ? `Of its newest ${taggedEvents.toLocaleString()} events` : undefined}>
      {tags.map(({ key, values }) => (
        <div key={key} className={classes.group}>
          <h3 className={classes.key}>{key}</h3>
          <Shares
            label={key}
            values={values.map(({ value, count }) => ({
              value,
              count,
              shown: (
                <Link
                  to="/exceptions"
                  search={{ service: serviceId, q: conditionText({ field: 'tag', key, value }) }}
                  title={`Exceptions with ${key} ${value}`}
                >
                  <Name>{value}</Name>
                </Link>
              ),
            }))}
            whole={taggedEvents}
          />
        </div>
      ))}
    </Card>
  );
}

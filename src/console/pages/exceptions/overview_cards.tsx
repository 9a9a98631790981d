import { Link } from '@tanstack/react-router';

import type { ExceptionOverview } from '#console/api/exceptions.ts';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Card } from '#console/components/card.tsx';
import { IncidentStatus } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { GroupStatusBadge } from '#console/pages/exceptions/group_status.tsx';
import classes from '#console/pages/exceptions/overview_cards.module.css';
import { ReleaseLink } from '#console/pages/exceptions/release_link.tsx';
import { Shares } from '#console/pages/exceptions/shares.tsx';

interface CardProps {
  readonly overview: ExceptionOverview;
}

/** Card of the incidents of the group. */
export function IncidentsCard({ overview: { incidents, incidentsTotal } }: CardProps) {
  if (incidents.length === 0) return null;
  const more = incidentsTotal - incidents.length;
  return (
    <Card
      title="Incidents"
      rows={
        <>
          {incidents.map(({ incidentId, number, title, status, triggeredAt }) => (
            <li key={incidentId} className={classes.row}>
              <Link to="/incidents/$incidentId" params={{ incidentId }} title={title}>
                <bdi>{withoutBidiControls(title)}</bdi>
              </Link>
              <span className={classes.sub}>
                <IncidentStatus status={status} /> #{number}, <Timestamp at={triggeredAt} />
              </span>
            </li>
          ))}
          {more > 0 && <li className={classes.row}>and {more.toLocaleString()} older ones</li>}
        </>
      }
    />
  );
}

const RELEASES_SHOWN = 8;

/** Card of the environments and releases of the events. */
export function OriginsCard({ overview }: CardProps) {
  const { serviceId, environments, releases, releasesTotal, eventCount } = overview;
  if (environments.length === 0 && releases.length === 0) return null;
  const shares = releases.map(({ release, events, users, firstSeenAt, lastSeenAt }) => ({
    value: release,
    count: events,
    shown: <ReleaseLink serviceId={serviceId} release={release} />,
    sub: (
      <>
        {countText(users, 'user')}, first <Timestamp at={firstSeenAt} />, last <Timestamp at={lastSeenAt} />
      </>
    ),
  }));
  const [first, rest] = [shares.slice(0, RELEASES_SHOWN), shares.slice(RELEASES_SHOWN)];
  return (
    <Card title="Releases and environments">
      {releases.length > 0 && (
        <div className={classes.group}>
          <h3 className={classes.key}>Releases, last seen first</h3>
          <Shares label="Releases" values={first} whole={eventCount} />
          {rest.length > 0 && (
            <details className={classes.more}>
              <summary>{countText(releasesTotal - first.length, 'older release')}</summary>
              <Shares label="Older releases" values={rest} whole={eventCount} />
              {releasesTotal > releases.length && <p>Only the last 100 are shown.</p>}
            </details>
          )}
        </div>
      )}
      {environments.length > 0 && (
        <div className={classes.group}>
          <h3 className={classes.key}>Environments</h3>
          <Shares label="Environments" values={environments} whole={eventCount} />
        </div>
      )}
    </Card>
  );
}

export function SimilarCard({ overview: { similar } }: CardProps) {
  if (similar.length === 0) return null;
  return (
    <Card
      title="Similar exceptions"
      rows={similar.map(({ groupId, title, status, lastSeenAt, because }) => (
        <li key={groupId} className={classes.row}>
          <Link to="/exceptions/$groupId" params={{ groupId }} title={title}>
            <bdi>{withoutBidiControls(title)}</bdi>
          </Link>
          <span className={classes.sub}>{because}</span>
          <span className={classes.sub}>
            <GroupStatusBadge status={status} /> last <Timestamp at={lastSeenAt} />
          </span>
        </li>
      ))}
    />
  );
}

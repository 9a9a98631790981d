import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { type ExceptionOverview, refreshExceptions } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { IncidentStatus } from '#console/components/status.tsx';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { countText, shareText } from '#console/pages/exceptions/count_text.ts';
import { GroupStatusBadge } from '#console/pages/exceptions/group_status.tsx';
import { ReleaseLink } from '#console/pages/exceptions/release_link.tsx';
import { useAnswerIncidents } from '#console/pages/incidents/answer_incidents.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { conditionText, type EventCondition } from '#modules/exceptions/decide/search_query.ts';
import classes from '#console/pages/exceptions/overview_cards.module.css';
import sharesClasses from '#console/pages/exceptions/shares.module.css';

interface CardProps {
  readonly overview: ExceptionOverview;
}

export function IncidentsCard({ overview: { groupId, incidents, incidentsTotal } }: CardProps) {
  const { org, may } = useOrganization();
  const queryClient = useQueryClient();
  const answering = useAnswerIncidents();
  const acknowledge = (incidentId: string): void =>
    answering.mutate(
      { answer: 'acknowledge', incidentIds: [incidentId] },
      { onSettled: () => void refreshExceptions(queryClient, org.orgId, [groupId]) },
    );
  if (incidents.length === 0) return null;
  const more = incidentsTotal - incidents.length;
  return (
    <Card
      title="Incidents"
      rows={
        <>
          {incidents.map(({ incidentId, number, title, status, triggeredAt }) => (
            <li key={incidentId} className={`${classes.row} stack small`}>
              <Link to="/incidents/$incidentId" params={{ incidentId }} title={title}>
                <bdi>{withoutBidiControls(title)}</bdi>
              </Link>
              <span className="dimmed tiny">
                <IncidentStatus status={status} /> #{number}, <Timestamp at={triggeredAt} />
              </span>
              {status === 'triggered' && may('oncall:edit') && (
                <Button
                  size="xs"
                  variant="default"
                  loading={answering.isPending}
                  onClick={() => acknowledge(incidentId)}
                  aria-label={`Acknowledge #${number}`}
                  title="It goes on paging until somebody answers"
                >
                  Acknowledge
                </Button>
              )}
            </li>
          ))}
          {more > 0 && <li className={`${classes.row} stack small`}>and {more.toLocaleString()} older ones</li>}
        </>
      }
    />
  );
}

interface ConditionLinkProps {
  readonly serviceId: string;
  readonly condition: EventCondition;
}

/** Link from a value of an event to the exceptions of its service that have an event with it. */
export function ConditionLink({ serviceId, condition }: ConditionLinkProps) {
  const name = condition.field === 'tag' ? condition.key : condition.field;
  return (
    <Link
      to="/exceptions"
      search={{ service: serviceId, q: conditionText(condition) }}
      title={`Exceptions with ${name} ${condition.value}`}
    >
      <Name>{condition.value}</Name>
    </Link>
  );
}

const RELEASES_SHOWN = 8;

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
          <Shares
            label="Environments"
            values={environments.map(({ value, count }) => ({
              value,
              count,
              shown: <ConditionLink serviceId={serviceId} condition={{ field: 'env', value }} />,
            }))}
            whole={eventCount}
          />
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
        <li key={groupId} className={`${classes.row} stack small`}>
          <Link to="/exceptions/$groupId" params={{ groupId }} title={title}>
            <bdi>{withoutBidiControls(title)}</bdi>
          </Link>
          <span className="dimmed tiny">{because}</span>
          <span className="dimmed tiny">
            <GroupStatusBadge status={status} /> last <Timestamp at={lastSeenAt} />
          </span>
        </li>
      ))}
    />
  );
}

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
              shown: <ConditionLink serviceId={serviceId} condition={{ field: 'tag', key, value }} />,
            }))}
            whole={taggedEvents}
          />
        </div>
      ))}
    </Card>
  );
}

interface Share {
  readonly value: string;
  readonly count: number;
  readonly sub?: ReactNode;
  /** Content shown in place of the value. */
  readonly shown?: ReactNode;
}

interface SharesProps {
  readonly label: string;
  readonly values: readonly Share[];
  readonly whole: number;
}

/** Bars of the share of all events that each value has. */
function Shares({ label, values, whole }: SharesProps) {
  return (
    <ul className={`${sharesClasses.shares} plain-list`} aria-label={label}>
      {values.map(({ value, count, sub, shown }) => (
        <li key={value} title={countText(count, 'event')}>
          <span
            className={sharesClasses.bar}
            style={{ width: `${whole === 0 ? 0 : (100 * count) / whole}%` }}
            aria-hidden
          />
          <span className={`${sharesClasses.value} stack shrinks`}>
            {shown ?? <Name>{value}</Name>}
            {sub !== undefined && <span className="dimmed tiny">{sub}</span>}
          </span>
          <span className={`${sharesClasses.share} rigid numbers`}>{shareText(count, whole)}</span>
        </li>
      ))}
    </ul>
  );
}

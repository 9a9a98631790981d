import { Code, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { groupSearchQuery } from '#console/api/exceptions.ts';
import { incidentSearchQuery } from '#console/api/incidents.ts';
import { monitorsQuery } from '#console/api/services.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Name } from '#console/components/text/name.tsx';
import { IncidentStatus, Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import type { ChartSeries } from '#console/components/time_chart/chart_series.ts';
import classes from '#console/pages/dashboards/dashboards.module.css';
import { DashboardLink } from '#console/pages/dashboards/dashboard_link.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useTimeline } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { Widget } from '#modules/dashboards/decide/widget.ts';
import { type Measure, quantityText } from '#modules/metrics/decide/quantity.ts';

const INCIDENTS = 20;
const HOUR_MS = 3_600_000;

/** Widget of open incidents: of a service, or of all. */
export function IncidentsWidget({ serviceId }: { readonly serviceId: string | null }) {
  const { orgId } = useOrganization().org;
  const search = { status: 'open' as const, limit: INCIDENTS, ...(serviceId !== null && { serviceId }) };
  const list = useInfiniteQuery(incidentSearchQuery(orgId, search));
  const { data, error, refetch } = list;
  if (error !== null && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height="100%" />;
  const incidents = data.pages.flatMap((page) => page.incidents);
  if (incidents.length === 0) return <p className={`${classes.empty} dimmed small`}>No open incidents.</p>;
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label="Open incidents">
      <ul className={`${classes.rows} plain-list`}>
        {incidents.map(({ incidentId, title, status, triggeredAt, serviceName }) => (
          <li key={incidentId}>
            <IncidentStatus status={status} />
            <span className={`${classes.grow} grow`}>
              <Link to="/incidents/$incidentId" params={{ incidentId }} className="plain-link">
                <Name>{title}</Name>
              </Link>
              <span className={`${classes.sub} ellipsis dimmed tiny`}>
                <Name>{serviceName}</Name>
              </span>
            </span>
            <Timestamp at={triggeredAt} format="age" />
          </li>
        ))}
      </ul>
      <LoadMore list={list} />
    </div>
  );
}

/** Widget of unresolved exceptions, the last seen first: of a service, or of all. */
export function ExceptionsWidget({ serviceId }: { readonly serviceId: string | null }) {
  const { orgId } = useOrganization().org;
  const search = { status: 'unresolved' as const, limit: INCIDENTS, ...(serviceId !== null && { serviceId }) };
  const list = useInfiniteQuery(groupSearchQuery(orgId, search));
  const { data, error, refetch } = list;
  if (error !== null && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height="100%" />;
  const groups = data.pages.flatMap((page) => page.groups);
  if (groups.length === 0) return <p className={`${classes.empty} dimmed small`}>No unresolved exceptions.</p>;
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label="Unresolved exceptions">
      <ul className={`${classes.rows} plain-list`}>
        {groups.map(({ groupId, title, serviceName, eventCount, lastSeenAt }) => (
          <li key={groupId}>
            <span className={`${classes.grow} grow`}>
              <Link to="/exceptions/$groupId" params={{ groupId }} className="plain-link">
                <Name>{title}</Name>
              </Link>
              <span className={`${classes.sub} ellipsis dimmed tiny`}>
                {countText(eventCount, 'event')}, <Name>{serviceName}</Name>
              </span>
            </span>
            <Timestamp at={lastSeenAt} format="age" />
          </li>
        ))}
      </ul>
      <LoadMore list={list} />
    </div>
  );
}

/** Widget of the scheduled jobs of a service, those that fail first. */
export function MonitorsWidget({ serviceId }: { readonly serviceId: string | null }) {
  const { orgId } = useOrganization().org;
  const { data, error, refetch } = useQuery({
    ...monitorsQuery(orgId, serviceId ?? ''),
    enabled: serviceId !== null,
    refetchInterval: 60_000,
  });
  if (serviceId === null)
    return <p className={`${classes.empty} dimmed small`}>No service is chosen yet. Choose one above.</p>;
  if (error !== null && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height="100%" />;
  if (data.monitors.length === 0)
    return <p className={`${classes.empty} dimmed small`}>No scheduled job has checked in.</p>;
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label="Cron monitors">
      <ul className={`${classes.rows} plain-list`}>
        {data.monitors.map(({ monitorId, slug, environment, schedule, runs }) => {
          const status = runs[0]?.status;
          const isBad = status === 'error' || status === 'missed' || status === 'timeout';
          return (
            <li key={monitorId}>
              <Status tone={isBad ? 'red' : status === undefined ? 'gray' : 'green'}>
                {isBad ? 'failing' : (status ?? 'no run')}
              </Status>
              <span className={`${classes.grow} grow`}>
                <Link to="/services/$serviceId" params={{ serviceId }} className="plain-link">
                  <Name>{slug}</Name>
                </Link>
                <span className={`${classes.sub} ellipsis dimmed tiny`}>
                  <Name>{environment}</Name>, {schedule ?? 'no schedule'}
                </span>
              </span>
              {runs[0] !== undefined && <Timestamp at={runs[0].startedAt} format="age" />}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Widget of who is on call: of one team, or of each that has schedules. */
export function OnCallWidget({ teamId }: { readonly teamId: string | null }) {
  const [from] = useState(() => serverNow());
  const { timeline, query } = useTimeline({ from, to: from + HOUR_MS }, { teamId: teamId ?? undefined });
  if (query.error !== null && timeline === null) return <ErrorAlert error={query.error} />;
  if (timeline === null) return <Skeleton height="100%" />;
  const { schedules, nameOf } = timeline;
  if (schedules.length === 0) {
    return (
      <p className={`${classes.empty} dimmed small`}>{teamId === null ? 'No team' : 'This team'} has no schedule.</p>
    );
  }
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label="On call">
      <ul className={`${classes.rows} plain-list`}>
        {schedules.map(({ scheduleId, teamName, name, onCall }) => (
          <li key={scheduleId}>
            <span className={`${classes.grow} grow`}>
              {onCall === null ? 'Nobody' : <Name>{onCall.userIds.map(nameOf).join(', ')}</Name>}
              <span className={`${classes.sub} ellipsis dimmed tiny`}>
                <Name>{teamName}</Name>, <Name>{name}</Name>
              </span>
            </span>
            {onCall?.until != null && (
              <span className="dimmed tiny rigid">
                until <Timestamp at={onCall.until} format="date_time" />
              </span>
            )}
          </li>
        ))}
      </ul>
      <LoadMore list={query} />
    </div>
  );
}

interface TableOfSeriesProps {
  readonly series: readonly ChartSeries[];
  /** The part of a split that each series is. */
  readonly parts: readonly {
    readonly label: string | undefined;
    readonly value: string | null;
    readonly isOther: boolean;
  }[];
  readonly measure: Measure;
  /** Dashboard that rows of a split lead to, with their value of its label; null for none. */
  readonly leadsTo: string | null;
  readonly serviceId: string | null;
}

/** Table with one row for each line, the greatest newest value first. */
export function TableOfSeries({ series, parts, measure, leadsTo, serviceId }: TableOfSeriesProps) {
  const rows = series
    .map((line, place) => ({ ...line, part: parts[place] }))
    .filter(({ values }) => values.length > 0)
    .toSorted((a, b) => (b.values.at(-1) ?? 0) - (a.values.at(-1) ?? 0));
  if (rows.length === 0) return <p className={`${classes.empty} dimmed small`}>No points in this period.</p>;
  return (
    <table className={`${classes.table} numbers`}>
      <thead>
        <tr>
          <th scope="col">Series</th>
          <th scope="col">Newest</th>
          <th scope="col">Lowest</th>
          <th scope="col">Highest</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, values, openValues, part }) => (
          <tr key={name}>
            <td className={classes.seriesName}>
              {leadsTo === null || part?.label === undefined || part.isOther || !part.value ? (
                <Name>{name}</Name>
              ) : (
                <DashboardLink dashboardId={leadsTo} serviceId={serviceId} values={{ [part.label]: part.value }}>
                  <Name>{name}</Name>
                </DashboardLink>
              )}
            </td>
            <Value value={values.at(-1) ?? 0} measure={measure} openValues={openValues} />
            <Value value={values.reduce((a, b) => Math.min(a, b))} measure={measure} openValues={openValues} />
            <Value value={values.reduce((a, b) => Math.max(a, b))} measure={measure} openValues={openValues} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ValueProps {
  readonly value: number;
  readonly measure: Measure;
  readonly openValues: ReadonlySet<number> | undefined;
}

function Value({ value, measure, openValues }: ValueProps) {
  return (
    <td>
      {openValues?.has(value) === true && 'more than '}
      {quantityText(value, measure)}
    </td>
  );
}

/** Text in which headings begin with #, items with -; everything else is a paragraph. */
export function TextWidget({ text }: { readonly text: string }) {
  const lines = text.split('\n').map((line, place) => ({ line: line.trimEnd(), place }));
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label="Text">
      {lines.map(({ line, place }) => {
        const heading = /^#{1,4}\s+(.*)$/.exec(line)?.[1];
        if (heading !== undefined) return <h3 key={place}>{heading}</h3>;
        const item = /^[-*]\s+(.*)$/.exec(line)?.[1];
        return (
          <p key={place} className={item === undefined ? classes.paragraph : classes.item} dir="auto">
            <Linked text={item ?? line} />
          </p>
        );
      })}
    </div>
  );
}

/** Text whose addresses are links. */
function Linked({ text }: { readonly text: string }) {
  return text.split(/(https?:\/\/[^\s<>"')]+)/).map((part, place) =>
    place % 2 === 1 ? (
      <a key={place} href={part} target="_blank" rel="noreferrer noopener">
        {part}
      </a>
    ) : (
      part
    ),
  );
}

/** Widget that another program made: its content is kept. */
export function UnknownWidget({ widget }: { readonly widget: Widget }) {
  const { type, query } = widget.stored;
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label="Content of the widget">
      <p className={`${classes.empty} dimmed small`}>
        {type === undefined || type === ''
          ? 'This widget has no type, so it cannot be shown here.'
          : `A widget of the type ${type} cannot be shown here.`}{' '}
        It is kept as it is.
      </p>
      {query !== undefined && <Code block>{JSON.stringify(query, null, 2).slice(0, 2_000)}</Code>}
    </div>
  );
}

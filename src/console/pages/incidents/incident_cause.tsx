import { Group, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo } from 'react';

import { actionQuery, type Incident, type ResultOf } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { type Frame, functionOf, placeOf } from '#console/components/text/frame_text.ts';
import { Sentence } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import type { ChartMarker } from '#console/components/time_chart/chart_series.ts';
import { BEFORE_MINUTES, metricSearch } from '#console/pages/incidents/metric_search.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { shownFacts } from '#modules/alerts/decide/shown_facts.ts';
import { AGGREGATION_NOUNS } from '#modules/metrics/decide/aggregation.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { comparedTexts, measureOf } from '#modules/metrics/decide/quantity.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import classes from '#console/pages/incidents/incident_cause.module.css';

/** Cause of the incident: what made the rule fire. A storm shows it in its own card. */
export function IncidentCause({ incident }: { readonly incident: Incident }) {
  switch (incident.kind) {
    case 'manual':
      return null;
    case 'alert':
      return <AlertDetails incident={incident} />;
    case 'exception':
      return incident.exceptionGroupId === null ? null : <ExceptionDetails incident={incident} />;
    case 'metric_threshold': {
      const measured = incident.details as Partial<Measurement>;
      if (measured.metricName === undefined || measured.threshold === undefined) return null;
      return <MetricDetails incident={incident} measured={measured as Measurement} />;
    }
  }
}

interface CauseLinksProps {
  readonly incident: Incident;
  readonly children: ReactNode;
}

/** Links in the head of a cause: to the rule that opened the incident, and to what it saw. */
function CauseLinks({ incident: { ruleId }, children }: CauseLinksProps) {
  return (
    <Group gap="md" wrap="nowrap">
      {ruleId !== null && (
        <Link to="/rules/$ruleId" params={{ ruleId }}>
          The rule
        </Link>
      )}
      {children}
    </Group>
  );
}

function MetricDetails({ incident, measured }: { readonly incident: Incident; readonly measured: Measurement }) {
  const { metricName, aggregation, comparator, windowMinutes } = measured;
  const { value, threshold } = comparedTexts(measured, measureOf(metricName, aggregation));
  return (
    <Card
      title="What was measured"
      action={
        <CauseLinks incident={incident}>
          <Link to="/explore" search={metricSearch(incident, measured, serverNow())}>
            In Metrics
          </Link>
        </CauseLinks>
      }
    >
      <div className={classes.measure}>
        <span className={classes.value}>{value}</span>
        <span>
          {comparator} {threshold}
        </span>
      </div>
      <p className="dimmed small flush">
        {AGGREGATION_NOUNS[aggregation]} of <code>{metricName}</code> over {windowMinutes} min
      </p>
      <div className={classes.chart}>
        <MetricChart incident={incident} measured={measured} />
      </div>
    </Card>
  );
}

/** Details of the alert that opened the incident, in the words of its tool, which are not trusted. */
function AlertDetails({ incident }: { readonly incident: Incident }) {
  const { tool, source, key, facts, links, images } = shownFacts({ ...incident.details });
  const pictures = images.map(({ href, text }) => ({ href, text: `Image: ${text}` }));
  const origin = [source === null ? null : `Source: ${source}`, key === null ? null : `key: ${key}`];
  return (
    <Card
      title={tool === null ? 'What the tool said' : `What ${tool} said`}
      about={<Sentence>{origin.filter((text) => text !== null).join('; ')}</Sentence>}
    >
      {links.length + pictures.length > 0 && (
        <ul className={`${classes.links} plain-list wraps`}>
          {[...links, ...pictures].map(({ href, text }) => (
            <li key={href}>
              <a href={href} target="_blank" rel="noopener noreferrer nofollow">
                <bdi>{text}</bdi>
              </a>
            </li>
          ))}
        </ul>
      )}
      <dl className={`${classes.facts} flush`}>
        {facts.map(({ name, value }) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

const TimeChart = lazyPart(() => import('#console/components/time_chart/time_chart.tsx').then((m) => m.TimeChart));

/** Measurement in the details of an incident; see `src/modules/rules/apply_metric_rule.ts`. */
interface Measurement extends MetricThreshold {
  readonly value: number | null;
  readonly isMoreThan?: boolean;
}

/** Chart of the metric from 30 minutes before the incident until now, with the threshold. */
function MetricChart({ incident, measured }: { readonly incident: Incident; readonly measured: Measurement }) {
  const { org } = useOrganization();
  // Loads the file while the data is loading, not afterwards.
  useEffect(() => TimeChart.preload(), []);
  const { metricName, aggregation, comparator, threshold } = measured;
  const { triggeredAt, resolvedAt } = incident;
  const minutes = Math.ceil((serverNow() - Date.parse(triggeredAt)) / 60_000) + BEFORE_MINUTES;
  // Rounded up, so that a page that stays open does not ask for a new window every minute.
  const windowMinutes = Math.min(Math.ceil(minutes / 15) * 15, WINDOW_MINUTES_MAX);
  const { data, error } = useQuery({
    ...actionQuery(org.orgId, 'services', 'query_metric', {
      serviceId: incident.serviceId,
      metricName,
      aggregation,
      windowMinutes,
    }),
    refetchInterval: incident.status === 'resolved' ? false : 30_000,
  });
  const series = useMemo(
    () => [
      {
        name: metricName,
        times: data?.points.map(({ at }) => Date.parse(at)) ?? [],
        values: data?.points.map(({ value }) => value) ?? [],
      },
    ],
    [data, metricName],
  );
  const markers = useMemo(
    (): ChartMarker[] => [
      { at: Date.parse(triggeredAt), label: 'Triggered', tone: 'red' },
      ...(resolvedAt === null ? [] : [{ at: Date.parse(resolvedAt), label: 'Resolved', tone: 'green' } as const]),
    ],
    [triggeredAt, resolvedAt],
  );
  if (error !== null && data === undefined) return <ErrorAlert error={error} title="The metric could not be loaded" />;
  if (data === undefined) return <Skeleton height="100%" />;
  return (
    <TimeChart
      label={metricName}
      series={series}
      from={Date.parse(data.from)}
      to={Date.parse(data.to)}
      stepMs={data.stepSeconds * 1_000}
      measure={measureOf(metricName, aggregation)}
      threshold={{ comparator, value: threshold }}
      markers={markers}
      whileLoading={<Skeleton height="100%" />}
    />
  );
}

const ExceptionStays = lazyPart(() =>
  import('#console/pages/incidents/exception_stays.tsx').then((m) => m.ExceptionStays),
);

type Event = ResultOf<'get_exception_group'>['recentEvents'][number];

const FRAMES_SHOWN = 5;

/** Details of the exception behind an incident: its message and the frames of the program's own code. */
export function ExceptionDetails({ incident }: { readonly incident: Incident }) {
  const groupId = incident.exceptionGroupId ?? '';
  const { data, error } = useQuery({
    ...actionQuery(useOrganization().org.orgId, 'exceptions', 'get_exception_group', { groupId }),
    enabled: groupId !== '',
  });
  if (groupId === '') return <Card title="The exception">It is no longer stored.</Card>;
  if (error !== null && data === undefined)
    return <ErrorAlert error={error} title="The exception could not be loaded" />;
  if (data === undefined) return <Skeleton height={200} radius="lg" mb="lg" />;
  const event = data.recentEvents[0];
  const raised = event?.exceptions.at(-1);
  return (
    <Card
      title={raised?.type ?? data.type ?? 'The exception'}
      about={data.culprit ?? undefined}
      action={
        <CauseLinks incident={incident}>
          <Link to="/exceptions/$groupId" params={{ groupId }}>
            Open the exception
          </Link>
        </CauseLinks>
      }
    >
      <pre className={`${classes.message} small mono`}>{raised?.value ?? event?.message ?? data.title}</pre>
      <p className="dimmed small flush">
        {count(data.eventCount, 'event', 'events')}
        {data.userCount > 0 && `, ${count(data.userCount, 'user', 'users')}`}, first seen{' '}
        <Timestamp at={data.firstSeenAt} />, last <Timestamp at={data.lastSeenAt} />
        {event?.environment != null && `, in ${event.environment}`}
        {event?.release != null && `, release ${event.release}`}
      </p>
      {event !== undefined && <Frames frames={framesOf(event)} />}
      {incident.status === 'resolved' && data.status === 'unresolved' && <ExceptionStays groupId={groupId} />}
    </Card>
  );
}

/** Returns the frames, the innermost first. */
function framesOf(event: Event): Frame[] {
  const frames = event.exceptions.at(-1)?.frames ?? event.frames;
  const inAppFrames = frames.filter(({ inApp }) => inApp);
  return (inAppFrames.length > 0 ? inAppFrames : frames).slice(-FRAMES_SHOWN).reverse();
}

function Frames({ frames }: { readonly frames: readonly Frame[] }) {
  if (frames.length === 0) return null;
  return (
    <ol className={`${classes.frames} plain-list bordered`} aria-label="Stack frames of your own code, innermost first">
      {frames.map((frame, index) => (
        // A stack can contain the same frame many times.
        // eslint-disable-next-line react/no-array-index-key
        <li key={index} className={classes.frame}>
          {functionOf(frame)}{' '}
          <span className="dimmed">
            {frame.sourceUrl === null ? placeOf(frame) : <a href={frame.sourceUrl}>{placeOf(frame)}</a>}
          </span>
          {index === 0 && frame.code !== null && <code className={classes.code}>{frame.code.line}</code>}
        </li>
      ))}
    </ol>
  );
}

function count(number: number, singular: string, many: string): string {
  return `${number} ${number === 1 ? singular : many}`;
}

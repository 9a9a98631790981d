import { Button } from '@mantine/core';
import { useMutation, usePrefetchQuery, useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { invoke, serviceQuery, type ServiceWithKeys } from '#console/api/actions.ts';
import { openByServiceQuery } from '#console/api/incidents.ts';
import { ingestStatusQuery } from '#console/api/organization.ts';
import { maintenanceQuery } from '#console/api/rules.ts';
import {
  feedbackQuery,
  monitorsQuery,
  releaseHealthQuery,
  releasesQuery,
  serviceActivityQuery,
} from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { ManagedMark } from '#console/components/managed_mark.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { IconDownload, IconServerOff, IconSettings } from '#console/icons.ts';
import { Sparkline } from '#console/pages/services/sparkline.tsx';
import { Status } from '#console/components/status.tsx';
import { isolateBidi, withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { wholeNumberText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { countText, shortCount } from '#console/pages/exceptions/count_text.ts';
import { saveFile } from '#console/pages/exceptions/save_file.ts';
import { MaintenanceNotice } from '#console/pages/rules/maintenance_notice.tsx';
import { IngestCard } from '#console/pages/services/ingest_card.tsx';
import { KeysCard } from '#console/pages/services/keys_card.tsx';
import { MonitorsCard } from '#console/pages/services/monitors_card.tsx';
import { ExceptionsCard, OnCallCard, OpenIncidentsCard } from '#console/pages/services/overview_cards.tsx';
import { ReleasesCard } from '#console/pages/services/releases_card.tsx';
import { OtherToolsCard, RulesCard } from '#console/pages/services/rules_card.tsx';
import { NotLoaded } from '#console/shell/in_other_organization.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import eventExtrasClasses from '#console/pages/exceptions/event/event_extras.module.css';
import healthCardClasses from '#console/pages/services/health_card.module.css';
import classes from '#console/pages/services/overview_cards.module.css';

const GoldenCharts = lazyPart(() => import('#console/pages/services/golden_charts.tsx').then((m) => m.GoldenCharts));

const route = getRouteApi('/inside/services/$serviceId');

export function ServicePage() {
  const { serviceId } = route.useParams();
  const { org } = useOrganization();
  const loading = useQuery(serviceQuery(org.orgId, serviceId));
  const { data } = loading;
  const isPartLoading = useArePartsLoading(serviceId);
  const back = <Back to="/services">Services</Back>;
  if (data !== undefined && !isPartLoading) return <Service key={serviceId} service={data} back={back} />;
  return (
    <Page title="Service" above={back}>
      <NotLoaded
        noun="Service"
        icon={<IconServerOff size={24} />}
        query={loading}
        find={(client, orgId) => client.fetchQuery(serviceQuery(orgId, serviceId))}
        heights={[180, 180]}
      />
    </Page>
  );
}

/**
 * Whether cards are loading whose height depends on their data: content below them must not move when it arrives. They
 * are fetched together with the service.
 */
function useArePartsLoading(serviceId: string): boolean {
  const { orgId } = useOrganization().org;
  usePrefetchQuery(serviceActivityQuery(orgId, serviceId));
  const parts = useQueries({
    queries: [
      maintenanceQuery(orgId, { serviceId }),
      openByServiceQuery(orgId),
      ingestStatusQuery(orgId, serviceId),
      monitorsQuery(orgId, serviceId),
      releaseHealthQuery(orgId, serviceId),
      releasesQuery(orgId, serviceId),
    ],
  });
  return parts.some(
    ({ isPending, fetchStatus, failureCount }) => isPending && fetchStatus === 'fetching' && failureCount === 0,
  );
}

function Service({ service, back }: { readonly service: ServiceWithKeys; readonly back: React.ReactNode }) {
  const { org, may } = useOrganization();
  const { serviceId, name, environment, scmOwner, scmRepo, team, capabilities } = service;
  const { data: ingest } = useQuery(ingestStatusQuery(org.orgId, serviceId));
  const hasSentMetrics = ingest !== undefined && ingest.metrics.lastSeenAt !== null;
  const hasSentNothing = ingest !== undefined && !hasSentMetrics && ingest.exceptions.lastSeenAt === null;
  const repository = scmOwner !== null && scmRepo !== null ? `${scmOwner}/${scmRepo}` : scmRepo;
  const lead = [environment, repository, team === null ? null : `owned by ${isolateBidi(team.name)}`]
    .filter((text) => text !== null)
    .join(', ');
  return (
    <Page
      title={name}
      permission="services:edit"
      above={back}
      lead={lead === '' ? undefined : lead}
      actions={
        <Button
          renderRoot={(props: object) => <Link to="/services/$serviceId/settings" params={{ serviceId }} {...props} />}
          variant="default"
          leftSection={<IconSettings size={16} />}
        >
          Settings
        </Button>
      }
    >
      <MaintenanceNotice of={{ serviceId }} />
      {hasSentNothing && <KeysCard service={service} />}
      {hasSentNothing && <OtherToolsCard service={service} />}
      <HealthCard service={service} />
      {may('oncall:view') && (
        <div className={classes.pair}>
          <OpenIncidentsCard serviceId={serviceId} />
          <OnCallCard serviceId={serviceId} />
        </div>
      )}
      {hasSentMetrics && may('dashboards:view') && <GoldenCharts serviceId={serviceId} />}
      {capabilities.includes('exceptions') && may('exceptions:view') && !hasSentNothing && (
        <div className={classes.pair}>
          <ExceptionsCard serviceId={serviceId} sort="first" />
          <ExceptionsCard serviceId={serviceId} sort="events" />
        </div>
      )}
      <MonitorsCard service={service} />
      <RulesCard service={service} />
      <IngestCard service={service} />
      <SessionsCard serviceId={serviceId} />
      {capabilities.includes('exceptions') && <ReleasesCard service={service} />}
      <FeedbackCard serviceId={serviceId} />
      <ManagedMark id={serviceId} />
    </Page>
  );
}

const REFRESH_MS = 60_000;
/** Percentage of sessions without a crash; a lower one deserves a look. */
const GOOD_PERCENT = 99.5;

/** Card of the share of each release's sessions that ended without a crash; nothing if no client sends sessions. */
function SessionsCard({ serviceId }: { readonly serviceId: string }) {
  const { org } = useOrganization();
  const { data } = useQuery({ ...releaseHealthQuery(org.orgId, serviceId), refetchInterval: REFRESH_MS });
  if (data === undefined || data.releases.length === 0) return null;
  const { releases, total } = data;
  return (
    <Card
      title="Sessions by release"
      about={`In the last 14 days${total > releases.length ? `, the ${releases.length} of ${total} releases with most` : ''}`}
      rows={releases.map(({ release, sessions, crashed, errored, crashFreePercent }) => (
        <Row
          key={release}
          title={<Name>{release}</Name>}
          sub={`${countText(sessions, 'session')}, ${crashed.toLocaleString()} crashed, ${errored.toLocaleString()} with errors`}
        >
          {crashFreePercent !== null && (
            <Status tone={crashFreePercent >= GOOD_PERCENT ? 'green' : 'amber'}>{crashFreePercent}% crash-free</Status>
          )}
        </Row>
      ))}
    />
  );
}

/** Card of users' feedback, also about events that never arrived; nothing if there is none. */
function FeedbackCard({ serviceId }: { readonly serviceId: string }) {
  const { orgId } = useOrganization().org;
  const { data } = useQuery(feedbackQuery(orgId, serviceId));
  const download = useMutation({
    mutationFn: async (attachmentId: string) => {
      const { name, content } = await invoke(orgId, 'read_event_attachment', { serviceId, attachmentId });
      saveFile(name, content);
    },
  });
  if (data === undefined || data.feedback.length === 0) return null;
  const { feedback, total } = data;
  return (
    <>
      <Card
        title="User feedback"
        about={total > feedback.length ? `The newest ${feedback.length} of ${total.toLocaleString()}` : undefined}
        rows={feedback.map(({ eventId, name, email, comments, url, at, attachments }, index) => (
          <Row
            // People may say the same twice.
            // eslint-disable-next-line react/no-array-index-key
            key={index}
            title={
              <div dir="auto" className={eventExtrasClasses.comments}>
                {withoutBidiControls(comments)}
              </div>
            }
            sub={
              <>
                <Name>{[name, email].filter((part) => part !== null).join(', ') || 'Someone'}</Name>,{' '}
                <Timestamp at={at} />
                {url !== null && (
                  <>
                    , on <Name>{url}</Name>
                  </>
                )}
                {eventId !== null && `, about event ${eventId}`}
              </>
            }
          >
            {attachments.map((file) => (
              <Button
                key={file.attachmentId}
                size="xs"
                variant="default"
                leftSection={<IconDownload size={14} />}
                loading={download.isPending && download.variables === file.attachmentId}
                onClick={() => download.mutate(file.attachmentId)}
                aria-label={`Download ${file.name}`}
              >
                <Name>{file.name}</Name>
              </Button>
            ))}
          </Row>
        ))}
      />
      {download.error !== null && <ErrorAlert error={download.error} title="The file could not be loaded" />}
    </>
  );
}

/** Card of the service's health: open incidents, what it sent in the last day, and what watches it. */
function HealthCard({ service }: { readonly service: ServiceWithKeys }) {
  const { orgId } = useOrganization().org;
  const { serviceId, alertRules, capabilities } = service;
  const open = useQuery(openByServiceQuery(orgId)).data?.services;
  const counts = open?.find((candidate) => candidate.serviceId === serviceId);
  const { data: activity } = useQuery({ ...serviceActivityQuery(orgId, serviceId), refetchInterval: REFRESH_MS });
  const paging = alertRules.filter(({ enabled, escalationPolicyId }) => enabled && escalationPolicyId !== null).length;
  return (
    <Card title="Health" about="The last 24 hours.">
      <dl className={healthCardClasses.figures}>
        <Figure name="Open incidents">
          {open === undefined ? (
            <Waiting />
          ) : counts === undefined ? (
            <Status tone="green">none</Status>
          ) : (
            <Link to="/incidents" search={{ service: serviceId }}>
              {counts.triggered > 0 && (
                <Status tone="red" isUrgent>
                  {counts.triggered} triggered
                </Status>
              )}{' '}
              {counts.acknowledged > 0 && <Status tone="amber">{counts.acknowledged} acknowledged</Status>}
            </Link>
          )}
        </Figure>
        <Figure name="Exceptions">
          {activity === undefined ? (
            <Waiting />
          ) : (
            <Activity values={activity.events} unit="event" isOn={capabilities.includes('exceptions')} tone="red" />
          )}
        </Figure>
        <Figure name="Metric points">
          {activity === undefined ? (
            <Waiting />
          ) : (
            <Activity values={activity.points} unit="point" isOn={capabilities.includes('metrics')} tone="blue" />
          )}
        </Figure>
        <Figure name="Refused data">
          {activity === undefined ? (
            <Waiting />
          ) : activity.refused === 0 ? (
            <span className={`${healthCardClasses.figure} nowrap numbers`}>0</span>
          ) : (
            <Status tone="amber">{wholeNumberText(activity.refused)}</Status>
          )}
        </Figure>
        <Figure name="Rules">
          <span className={`${healthCardClasses.figure} nowrap numbers`}>{alertRules.length}</span>{' '}
          <span className="dimmed">{pagingText(paging, alertRules.length)}</span>
        </Figure>
      </dl>
    </Card>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className={healthCardClasses.item}>
      <dt className={`${healthCardClasses.name} dimmed tiny strong`}>{name}</dt>
      <dd className={`${healthCardClasses.value} small flush`}>{children}</dd>
    </div>
  );
}

/** Placeholder of the same height as what follows. */
function Waiting() {
  return <span className="dimmed">…</span>;
}

interface ActivityProps {
  readonly values: readonly number[];
  readonly unit: 'event' | 'point';
  readonly isOn: boolean;
  readonly tone: 'red' | 'blue';
}

function Activity({ values, unit, isOn, tone }: ActivityProps) {
  const total = values.reduce((sum, value) => sum + value, 0);
  const text = `${wholeNumberText(total)} ${unit}${total === 1 ? '' : 's'} in the last 24 hours`;
  if (!isOn && total === 0) return <span className="dimmed">not enabled</span>;
  return (
    <div className={`${healthCardClasses.activity} row`} title={text}>
      <span className={`${healthCardClasses.figure} nowrap numbers`}>{shortCount(total)}</span>
      {total > 0 && <Sparkline values={values} label={text} tone={tone} />}
    </div>
  );
}

/** Returns how many of the rules page somebody, as text: the count of all stands before it. */
function pagingText(paging: number, all: number): string {
  if (paging === 0) return all === 1 ? 'pages nobody' : 'page nobody';
  if (paging === all) return all === 1 ? 'pages somebody' : 'page somebody';
  return `of which ${paging} ${paging === 1 ? 'pages' : 'page'} somebody`;
}

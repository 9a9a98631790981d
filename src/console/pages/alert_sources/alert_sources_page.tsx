import { Alert, Button, Group, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import { serviceQuery, type ServiceWithKeys } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { alertSourcesQuery } from '#console/api/services.ts';
import { policyQuery } from '#console/api/teams.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { Name, Sentence } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconServerOff } from '#console/icons.ts';
import { ConnectCard } from '#console/pages/alert_sources/connect_card.tsx';
import {
  conditionsText,
  OUTCOME_NAMES,
  type Route,
  type Source,
  type SourcesOfService,
} from '#console/pages/alert_sources/route_draft.ts';
import { type ChosenTool, firstTool, toolOfSource } from '#console/pages/alert_sources/tool_snippets.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { InOtherOrganization } from '#console/shell/in_other_organization.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import type { RouteCondition } from '#modules/alerts/decide/route.ts';

const route = getRouteApi('/inside/services/$serviceId/alerts');

const REFRESH_MS = 10_000;

/** Page of the tools that send alerts of a service: how one is connected, what each has sent, and what becomes of it. */
export function AlertSourcesPage() {
  const { serviceId } = route.useParams();
  const { orgId } = useOrganization().org;
  const service = useQuery(serviceQuery(orgId, serviceId));
  const sources = useQuery({ ...alertSourcesQuery(orgId, serviceId), refetchInterval: REFRESH_MS });
  const error = service.error ?? sources.error;
  const back = (
    <Back to="/services/$serviceId" params={{ serviceId }}>
      <Name>{service.data?.name ?? 'Service'}</Name>
    </Back>
  );
  return (
    <Page
      title="Sources and routes"
      above={back}
      lead="Alerts from other tools: what watches your systems already can page people here: it needs an address and a key, and nothing else."
    >
      {isApiError(error, 404) && (
        <InOtherOrganization find={(client, id) => client.fetchQuery(serviceQuery(id, serviceId))}>
          <EmptyState icon={<IconServerOff size={24} />} title="Service not found">
            It was deleted, or it belongs to an organization that you are not in.
          </EmptyState>
        </InOtherOrganization>
      )}
      {!isApiError(error, 404) &&
        // What has loaded stays when loading it again fails: a form may be open over it.
        (service.data !== undefined && sources.data !== undefined ? (
          <Parts key={serviceId} service={service.data} sources={sources.data} />
        ) : error !== null ? (
          <ErrorAlert error={error} onRetry={() => void Promise.all([service.refetch(), sources.refetch()])} />
        ) : (
          <Stack>
            <Skeleton height={180} radius="lg" />
            <Skeleton height={180} radius="lg" />
          </Stack>
        ))}
    </Page>
  );
}

function Parts({ service, sources }: { readonly service: ServiceWithKeys; readonly sources: SourcesOfService }) {
  const { may } = useOrganization();
  const { serviceId } = service;
  const [chosen, setChosen] = useState<ChosenTool>(() => {
    const [first] = sources.sources;
    return first === undefined ? { tool: firstTool(), name: '' } : toolOfSource(first);
  });
  const connect = (source: Source) => {
    setChosen(toolOfSource(source));
    document.querySelector('#connect')?.scrollIntoView();
  };
  return (
    <>
      {!service.capabilities.includes('oncall') && may('services:edit') && (
        <Alert color="yellow" title="Alerts are refused">
          On-call is not enabled for this service.{' '}
          <Link to="/services/$serviceId/settings" params={{ serviceId }}>
            Enable it
          </Link>
        </Alert>
      )}
      {sources.sources.length > 0 && <SourcesCard sources={sources} onConnect={connect} />}
      <ConnectCard sources={sources} chosen={chosen} onChoose={setChosen} />
      <RoutesCard sources={sources} />
    </>
  );
}

const EditRoutes = lazyDialog(() => import('#console/pages/alert_sources/edit_routes.tsx').then((m) => m.EditRoutes));

/** Card of the routes: what becomes of an alert. */
function RoutesCard({ sources }: { readonly sources: SourcesOfService }) {
  const { may } = useOrganization();
  const [isEditing, setIsEditing] = useState(false);
  return (
    <Card
      title="Routes"
      about="The first route whose conditions are all true takes the alert. The last one takes what is left."
      action={
        may('oncall:edit') && (
          <Button variant="default" size="xs" onClick={() => setIsEditing(true)} aria-label="Edit the routes">
            Edit
          </Button>
        )
      }
      rows={sources.routes.map((route, index) => (
        // Routes have no identity but their place.
        // eslint-disable-next-line react/no-array-index-key
        <RouteRow key={index} route={route} />
      ))}
    >
      {isEditing && <EditRoutes sources={sources} onClose={() => setIsEditing(false)} />}
    </Card>
  );
}

function RouteRow({ route: { conditions, outcome, policyId, pagesOnRise, isUnreadable } }: { readonly route: Route }) {
  const { orgId } = useOrganization().org;
  const policy = useQuery({ ...policyQuery(orgId, policyId ?? ''), enabled: policyId !== null });
  return (
    <Row
      title={<Sentence>{conditionsText(conditions as readonly RouteCondition[])}</Sentence>}
      sub={
        isUnreadable ? (
          'Cannot be read and takes no alert: set its conditions again'
        ) : outcome !== 'page' ? (
          OUTCOME_NAMES[outcome]
        ) : policyId === null ? (
          'Opens an incident that pages nobody: no policy is chosen'
        ) : (
          <>
            Pages by{' '}
            <Link to="/oncall/policies/$policyId" params={{ policyId }}>
              <Name>{policy.data?.name ?? 'an escalation policy'}</Name>
            </Link>
            {pagesOnRise && ', and again if it becomes more severe'}
          </>
        )
      }
    />
  );
}

const EditSource = lazyDialog(() => import('#console/pages/alert_sources/edit_source.tsx').then((m) => m.EditSource));
const EditMapping = lazyDialog(() =>
  import('#console/pages/alert_sources/edit_mapping.tsx').then((m) => m.EditMapping),
);
const Bodies = lazyDialog(() => import('#console/pages/alert_sources/bodies.tsx').then((m) => m.Bodies));

type Opened = 'settings' | 'mapping' | 'bodies';

interface SourcesCardProps {
  readonly sources: SourcesOfService;
  /** Called to show the lines and the test of a source. */
  onConnect(source: Source): void;
}

function SourcesCard({ sources: { sources }, onConnect }: SourcesCardProps) {
  return (
    <Card
      title="Sources"
      about="Each tool that has sent something with the key of this service."
      rows={sources.map((source) => (
        <SourceRow key={source.sourceId} source={source} onConnect={() => onConnect(source)} />
      ))}
    />
  );
}

function SourceRow({ source, onConnect }: { readonly source: Source; readonly onConnect: () => void }) {
  const { may } = useOrganization();
  const [opened, setOpened] = useState<Opened | null>(null);
  const { tool, lastAlertAt, lastRefusedAt } = source;
  const isRefused = lastRefusedAt !== null && (lastAlertAt === null || lastRefusedAt > lastAlertAt);
  const close = () => setOpened(null);
  const button = (part: Opened, label: string) => (
    <Button variant="default" size="xs" onClick={() => setOpened(part)} aria-label={`${label} of ${tool}`}>
      {label}
    </Button>
  );
  return (
    <Row
      title={
        <>
          <Name>{tool}</Name>{' '}
          {isRefused ? (
            <Status tone="red">refused</Status>
          ) : (
            lastAlertAt !== null && <Status tone="green">receiving</Status>
          )}
        </>
      }
      sub={
        <>
          {source.unreadableSettings && 'Some settings cannot be read, and defaults apply: set them again. '}
          <SourceFacts source={source} />
        </>
      }
    >
      <Group gap="xs">
        <Button variant="default" size="xs" onClick={onConnect} aria-label={`Lines and test of ${tool}`}>
          Lines and test
        </Button>
        {may('oncall:edit') && button('settings', 'Settings')}
        {source.protocol === 'webhook' && may('oncall:edit') && may('services:edit') && button('mapping', 'Mapping')}
        {may('services:edit') && button('bodies', 'Last bodies')}
      </Group>
      {opened === 'settings' && <EditSource source={source} onClose={close} />}
      {opened === 'mapping' && <EditMapping source={source} onClose={close} />}
      {opened === 'bodies' && <Bodies source={source} onClose={close} />}
    </Row>
  );
}

function SourceFacts({ source }: { readonly source: Source }) {
  const { lastAlertAt, alertsLastHour, alertsLastDay, accepted, refused, lastRefusedAt, lastRefusal } = source;
  return (
    <>
      <div>
        {lastAlertAt === null ? (
          'No alert yet'
        ) : (
          <>
            Last alert <Timestamp at={lastAlertAt} />
          </>
        )}
        {`; ${countText(alertsLastHour, 'alert')} within the hour, ${alertsLastDay.toLocaleString()} within the day; `}
        {`${countText(accepted, 'event')} in all`}
      </div>
      {lastRefusedAt !== null && (
        <div>
          {`${countText(refused, 'request')} refused, the last one `}
          <Timestamp at={lastRefusedAt} />
          {lastRefusal !== null && (
            <>
              : <bdi>{lastRefusal}</bdi>
            </>
          )}
        </div>
      )}
    </>
  );
}

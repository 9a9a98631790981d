import { Alert, Skeleton, Stack } from '@mantine/core';
import { IconServerOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { serviceQuery } from '#console/api/queries.ts';
import { alertSourcesQuery } from '#console/api/services.ts';
import { Back } from '#console/components/back.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Page } from '#console/components/page.tsx';
import { ConnectCard } from '#console/pages/alert_sources/connect_card.tsx';
import type { Source, SourcesOfService } from '#console/pages/alert_sources/route_draft.ts';
import { RoutesCard } from '#console/pages/alert_sources/routes_card.tsx';
import { SourcesCard } from '#console/pages/alert_sources/sources_card.tsx';
import { type ChosenTool, firstTool, toolOfSource } from '#console/pages/alert_sources/tool_snippets.ts';
import { InOtherOrganization } from '#console/shell/in_other_organization.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

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
      title="Alerts from other tools"
      above={back}
      lead="What watches your systems already can page people here: it needs an address and a key, and nothing else."
    >
      {isApiError(error, 404) && (
        <InOtherOrganization find={(client, id) => client.fetchQuery(serviceQuery(id, serviceId))}>
          <EmptyState icon={<IconServerOff size={24} />} title="Service not found">
            It was deleted, or it belongs to an organization that you are not in.
          </EmptyState>
        </InOtherOrganization>
      )}
      {error !== null && !isApiError(error, 404) && (
        <ErrorAlert error={error} onRetry={() => void Promise.all([service.refetch(), sources.refetch()])} />
      )}
      {error === null &&
        (service.data !== undefined && sources.data !== undefined ? (
          <Parts key={serviceId} service={service.data} sources={sources.data} />
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
      {!service.capabilities.includes('oncall') && (
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

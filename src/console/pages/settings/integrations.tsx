import { Box, Button, Skeleton, Text } from '@mantine/core';
import { IconPlus, IconServer2 } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { addressOf } from '#console/api/http.ts';
import { serviceQuery } from '#console/api/queries.ts';
import { serviceSearchQuery } from '#console/api/services.ts';
import { Card } from '#console/components/card.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Page } from '#console/components/page.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { IngestCard } from '#console/pages/services/ingest_card.tsx';
import { KeysCard } from '#console/pages/services/keys_card.tsx';
import { ConfigurationFiles } from '#console/pages/settings/configuration_files.tsx';
import { TraceLinkCard } from '#console/pages/settings/trace_link_card.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';

const route = getRouteApi('/inside/settings/integrations');

/** Page of what sends data here and what may act here, with the keys and addresses that each needs. */
export function Integrations() {
  return (
    <Page title="Integrations" lead="What sends data to this organization, and what may act in it." isNarrow>
      <Senders />
      <Programs />
      <TraceLinkCard />
      <ConfigurationFiles />
    </Page>
  );
}

function Senders() {
  const { org, may } = useOrganization();
  const { service: wanted } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useInfiniteQuery(serviceSearchQuery(org.orgId, { limit: 1 }));
  const serviceId = wanted ?? data?.pages[0]?.services[0]?.serviceId;
  if (data === undefined) {
    return error === null ? (
      <Skeleton height={420} radius="lg" />
    ) : (
      <ErrorAlert error={error} onRetry={() => void refetch()} />
    );
  }
  if (serviceId === undefined) {
    return (
      <EmptyState
        icon={<IconServer2 size={24} />}
        title="No service yet"
        actions={
          may('services:edit') && (
            <Button
              leftSection={<IconPlus size={16} />}
              renderRoot={(props) => <Link to="/services" search={{ create: true }} {...props} />}
            >
              Create a service
            </Button>
          )
        }
      >
        Data comes from services. Create one, and it gets the key that it sends with.
      </EmptyState>
    );
  }
  return (
    <>
      <Box mb="lg">
        <ServicePicker
          label="Service"
          placeholder="Which service sends"
          value={serviceId}
          onChange={(chosen) =>
            void navigate({
              search: chosen === undefined ? {} : { service: chosen },
              replace: true,
              resetScroll: false,
            })
          }
        />
      </Box>
      <Sender key={serviceId} serviceId={serviceId} />
    </>
  );
}

function Sender({ serviceId }: { readonly serviceId: string }) {
  const { orgId } = useOrganization().org;
  const { data, error, refetch } = useQuery(serviceQuery(orgId, serviceId));
  if (error !== null && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height={420} radius="lg" mt="lg" />;
  return (
    <>
      <IngestCard service={data} />
      <KeysCard service={data} />
    </>
  );
}

/** Card of the addresses that programs call, and where to create what they need. */
function Programs() {
  return (
    <Card
      title="Programs and assistants"
      about="They do what people do here, with the permissions that they were given."
    >
      <CopyField label="REST" value={addressOf(API_PATHS.actions)} />
      <Text size="sm" c="dimmed" mb="md">
        With an <Link to="/settings/api-keys">API key</Link>. Every action is in the{' '}
        <a href={addressOf('docs')}>API reference</a>, and examples are in the{' '}
        <a href={addressOf('docs/sending_data')}>guide to sending data</a>.
      </Text>
      <CopyField label="MCP" value={addressOf(API_PATHS.mcp)} />
      <Text size="sm" c="dimmed">
        Give it to an assistant: it asks you to log in, and is then one of the{' '}
        <Link to="/settings/apps">connected apps</Link>. See the <a href={addressOf('docs/agents')}>guide to agents</a>.
      </Text>
    </Card>
  );
}

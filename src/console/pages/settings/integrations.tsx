import { Box, Button, Group, Skeleton, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { actionQuery, invoke, serviceQuery } from '#console/api/actions.ts';
import { addressOf, isApiError } from '#console/api/http.ts';
import { serviceSearchQuery } from '#console/api/services.ts';
import { sessionQuery } from '#console/api/session.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Page } from '#console/components/page.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconPlus, IconServer2 } from '#console/icons.ts';
import { IngestCard } from '#console/pages/services/ingest_card.tsx';
import { KeysCard } from '#console/pages/services/keys_card.tsx';
import { IssueTrackersCard } from '#console/pages/settings/issue_trackers.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';
import { parseTraceLink, TRACE_ID, TRACE_LINK_LENGTH_MAX } from '#modules/metrics/decide/trace_link.ts';

const route = getRouteApi('/inside/settings/integrations');

/** Page of what sends data here and what may act here, with the keys and addresses that each needs. */
export function Integrations() {
  return (
    <Page title="Integrations" lead="What sends data to this organization, and what may act in it." isNarrow>
      <Senders />
      <Programs />
      <IssueTrackersCard />
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

/** Card on the configuration files of the organization, and whether people may change by hand what they manage. */
function ConfigurationFiles() {
  const { org, isAdmin } = useOrganization();
  const queryClient = useQueryClient();
  const query = actionQuery(org.orgId, 'settings', 'list_configuration_files', {});
  const { data, error } = useQuery(query);
  const setting = useMutation({
    mutationFn: (isAllowed: boolean) =>
      invoke(org.orgId, 'set_managed_changes', { managedChanges: isAllowed ? 'allowed' : 'refused' }),
    async onSuccess({ managedChanges }) {
      showSuccess(
        managedChanges === 'allowed'
          ? 'What files manage may be changed by hand.'
          : 'What files manage is changed only by applying a file.',
      );
      await queryClient.invalidateQueries({ queryKey: query.queryKey });
    },
  });
  return (
    <Card title="Configuration files">
      <Stack gap="sm">
        {error !== null && <ErrorAlert title="The files could not be loaded" error={error} />}
        {data?.files.length === 0 && (
          <Text size="sm" c="dimmed">
            No file manages anything here. The command “tocsin config pull” writes the organization as one.
          </Text>
        )}
        {data?.files.map(({ file, resources, changedAt }) => (
          <Text key={file} size="sm">
            <b>{file}</b> manages {resources.toLocaleString('en')} {resources === 1 ? 'resource' : 'resources'}, since{' '}
            <Timestamp at={changedAt} />
          </Text>
        ))}
        <Switch
          label="People may change by hand what a file manages"
          description="If not, such a change is refused with the name of the file."
          checked={data?.managedChanges !== 'refused'}
          disabled={data === undefined || !isAdmin || setting.isPending}
          onChange={(event) => setting.mutate(event.currentTarget.checked)}
        />
        {setting.isError && <ErrorAlert title="Nothing was changed" error={setting.error} />}
      </Stack>
    </Card>
  );
}

/** Card of the address where the organization looks at traces, so that charts can link to them. */
function TraceLinkCard() {
  const { org, isAdmin } = useOrganization();
  const queryClient = useQueryClient();
  const { form, draft } = useDraftForm({
    form: 'set_trace_link',
    base: { traceLink: org.traceLink ?? '' },
    validate: { traceLink: faultOf },
  });
  const setting = useMutation({
    mutationFn: ({ traceLink }: typeof form.values) =>
      invoke(org.orgId, 'set_trace_link', {
        traceLink: traceLink.trim() === '' ? null : traceLink.trim(),
        basedOn: org.traceLink,
      }),
    onError: async (error, values) => {
      form.setErrors(faultsAtFields(error, values));
      // The form shows what the other person has saved beside the input.
      if (isApiError(error, 409)) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
    async onSuccess({ traceLink }) {
      showSuccess(traceLink === null ? 'Trace ids are no longer links.' : 'Trace ids are links now.');
      draft.done();
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <Card title="Traces" about="Dots in charts are single observations. Their trace ids can lead to your tracing tool.">
      <Form error={setting.error} draft={draft} onSubmit={form.onSubmit((values) => setting.mutate(values))}>
        <Stack gap="sm">
          <DraftNotice draft={draft} labels={{ traceLink: 'Address of a trace' }} />
          <Group align="start">
            <TextInput
              {...form.getInputProps('traceLink')}
              label="Address of a trace"
              description={`${TRACE_ID} stands for the id. Empty: ids are only copied.`}
              placeholder={`https://traces.example.com/trace/${TRACE_ID}`}
              inputMode="url"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={TRACE_LINK_LENGTH_MAX}
              disabled={!isAdmin}
              flex="1 1 18rem"
            />
            {isAdmin && (
              <Button
                type="submit"
                variant="default"
                mt={{ base: 0, xs: 46 }}
                loading={setting.isPending}
                disabled={!form.isDirty() || draft.conflicts.length > 0}
              >
                Save
              </Button>
            )}
          </Group>
          {!isAdmin && <p className="dimmed">Only owners and admins can change it.</p>}
          {setting.isError && (
            <ErrorAlert title="The address was not saved" error={setting.error} atFields={form.values} />
          )}
        </Stack>
      </Form>
    </Card>
  );
}

function faultOf(text: string): string | null {
  if (text.trim() === '') return null;
  const parsed = parseTraceLink(text);
  const message = parsed.kind === 'faults' ? parsed.faults[0]?.message : undefined;
  return message === undefined ? null : `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
}

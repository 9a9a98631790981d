import { Button, Group, NumberInput, Skeleton, Stack, Switch, Text } from '@mantine/core';
import { type InfiniteData, useInfiniteQuery, type UseInfiniteQueryResult, useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke, type ResultOf } from '#console/api/actions.ts';
import { addressOf, isApiError } from '#console/api/http.ts';
import { agentSearchQuery } from '#console/api/organization.ts';
import { Card } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import type { Column } from '#console/components/lists/data_table.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Page } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { IconRobot } from '#console/icons.ts';
import { SearchedList } from '#console/pages/settings/searched_list.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { WRITES_AN_HOUR_MAX } from '#modules/agents/decide/agent_settings.ts';
import { HOLD_MINUTES_MAX } from '#modules/agents/decide/lease.ts';
import { API_PATHS } from '#kernel/api_paths.ts';

type Settings = ResultOf<'get_agents'>['settings'];
type Agent = ResultOf<'get_agents'>['agents'][number];

const route = getRouteApi('/inside/settings/agents');

/** Page of what agents may do in the organization: the switch, their limits, and which of them respond to incidents. */
export function Agents() {
  const { org } = useOrganization();
  const { q } = route.useSearch();
  const text = useDebounced(q?.trim() ?? '');
  const query = useInfiniteQuery(agentSearchQuery(org.orgId, text === '' ? {} : { text }));
  const { data, error, refetch } = query;
  const settings = data?.pages[0]?.settings;
  return (
    <Page
      title="AI agents"
      lead={
        <>
          Agents may look, note, propose and ask during an incident. People decide, and paging waits for no agent unless
          you allow it here. <a href={addressOf('docs/agents')}>How agents respond</a>
        </>
      }
    >
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={240} radius="lg" />}
      {settings !== undefined && (
        <>
          <StopSwitch settings={settings} />
          <Limits settings={settings} />
          <Responders query={query} text={q} />
        </>
      )}
    </Page>
  );
}

function StopSwitch({ settings: { areStopped } }: { readonly settings: Settings }) {
  const { org, isAdmin } = useOrganization();
  const refresh = useRefresh();
  const [isAsking, setIsAsking] = useState(false);
  const stopping = useMutation({
    mutationFn: (stopped: boolean) => invoke(org.orgId, 'stop_agents', { stopped }),
    async onSuccess({ areStopped: stopped }) {
      setIsAsking(false);
      showSuccess(stopped ? 'All agents are stopped.' : 'Agents are allowed again.');
      await refresh('settings');
    },
  });
  const mayChange = areStopped ? org.role === 'owner' : isAdmin;
  return (
    <Card
      title={areStopped ? <Status tone="red">All agents are stopped</Status> : 'All agents'}
      about={
        areStopped
          ? 'Every request of an agent is refused. Only an owner can allow them again.'
          : 'Stopping them takes effect with their next request. Their leases end, and nothing they proposed is carried out.'
      }
      action={
        mayChange && (
          <Button
            {...(areStopped ? { variant: 'default' } : { color: 'red' })}
            onClick={() => (areStopped ? stopping.mutate(false) : setIsAsking(true))}
            loading={stopping.isPending}
          >
            {areStopped ? 'Allow agents again' : 'Stop all agents'}
          </Button>
        )
      }
    >
      {stopping.isError && !isAsking && <ErrorAlert title="Nothing was changed" error={stopping.error} />}
      {isAsking && (
        <Confirm
          title="Stop all agents?"
          button="Stop all agents"
          saving={stopping}
          onConfirm={() => stopping.mutate(true)}
          onClose={() => setIsAsking(false)}
        >
          Everything that comes over MCP is refused from now on, also of apps that members have connected. People and
          paging are not affected.
        </Confirm>
      )}
    </Card>
  );
}

interface LimitValues {
  readonly writesAnHour: number | null;
  readonly holdMinutes: number | null;
}

const LIMIT_LABELS: Readonly<Record<keyof LimitValues, string>> = {
  writesAnHour: 'Changes of one agent within an hour',
  holdMinutes: 'Minutes that a lease may hold the first step',
};

function Limits({ settings: { writesAnHour, holdMinutes } }: { readonly settings: Settings }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const stored: LimitValues = { writesAnHour, holdMinutes };
  const [values, setValues, draft] = useDraftState<LimitValues>({ form: 'set_agent_limits', base: stored });
  const wanted = { writesAnHour: values.writesAnHour, holdMinutes: values.holdMinutes ?? 0 };
  const isDirty = wanted.writesAnHour !== writesAnHour || wanted.holdMinutes !== holdMinutes;
  const saving = useMutation({
    mutationFn: () => invoke(org.orgId, 'set_agent_limits', { ...wanted, basedOn: { writesAnHour, holdMinutes } }),
    async onSuccess() {
      showSuccess('The limits are saved.');
      draft.done();
      await refresh('settings');
    },
    // The form shows what the other person has saved beside the input.
    onError: (error) => (isApiError(error, 409) ? refresh('settings') : undefined),
  });
  const isOwner = org.role === 'owner';
  const faults = faultsAtFields(saving.error, wanted);
  return (
    <Card title="Limits" about={isOwner ? undefined : 'Only owners can change them.'}>
      <Form
        error={saving.error}
        draft={draft}
        onSubmit={() => {
          if (isDirty && draft.conflicts.length === 0) saving.mutate();
        }}
      >
        <Stack gap="sm">
          <DraftNotice
            draft={draft}
            labels={LIMIT_LABELS}
            show={(_, value) => (typeof value === 'number' ? String(value) : 'no cap')}
          />
          <NumberInput
            label={LIMIT_LABELS.writesAnHour}
            description="Empty: no cap, but 60 for agents that respond to incidents"
            value={values.writesAnHour ?? ''}
            onChange={(writes) => setValues({ ...values, writesAnHour: writes === '' ? null : Number(writes) })}
            error={faults['writesAnHour']}
            min={1}
            max={WRITES_AN_HOUR_MAX}
            allowDecimal={false}
            disabled={!isOwner}
            maw={360}
          />
          <NumberInput
            label={LIMIT_LABELS.holdMinutes}
            description="0: paging never waits for an agent. At most 10; it never holds any later step"
            value={values.holdMinutes ?? ''}
            onChange={(hold) => setValues({ ...values, holdMinutes: hold === '' ? null : Number(hold) })}
            error={faults['holdMinutes']}
            min={0}
            max={HOLD_MINUTES_MAX}
            allowDecimal={false}
            disabled={!isOwner}
            maw={360}
          />
          {saving.isError && (
            <ErrorAlert
              title={
                isApiError(saving.error, 409)
                  ? 'Somebody else has changed them in the meantime'
                  : 'The limits were not saved'
              }
              error={saving.error}
              atFields={wanted}
            />
          )}
          {isOwner && (
            <Group>
              <Button
                type="submit"
                variant="default"
                disabled={!isDirty || draft.conflicts.length > 0}
                loading={saving.isPending}
              >
                Save limits
              </Button>
            </Group>
          )}
        </Stack>
      </Form>
    </Card>
  );
}

interface RespondersProps {
  readonly query: UseInfiniteQueryResult<InfiniteData<ResultOf<'get_agents'>>>;
  readonly text: string | undefined;
}

function Responders({ query, text }: RespondersProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const navigate = route.useNavigate();
  const setting = useMutation({
    mutationFn: ({ agentId, isResponder }: Agent) =>
      invoke(org.orgId, 'set_responder', { agentId, enabled: !isResponder }),
    async onSuccess({ isResponder }, { name }) {
      showSuccess(isResponder ? named`${name} may respond now.` : named`${name} may no longer respond.`);
      await refresh('settings');
    },
  });
  return (
    <Card
      title="Who may respond to incidents"
      about="Off for every connected app and API key until an owner turns it on."
    >
      <Stack>
        <CopyField label="MCP address for responders" value={addressOf(API_PATHS.responder)} />
        {setting.isError && <ErrorAlert title="Nothing was changed" error={setting.error} />}
        <div>
          <SearchedList
            label="agents"
            what="agent"
            columns={columnsWith(org.role === 'owner', setting.isPending, (agent) => setting.mutate(agent))}
            query={query}
            itemsOf={({ agents }) => agents}
            keyOf={({ agentId }) => agentId}
            text={text}
            onSearch={(wanted) => void navigate({ search: wanted === undefined ? {} : { q: wanted }, replace: true })}
            empty={
              <EmptyState icon={<IconRobot size={24} />} title="No agent yet">
                Connect an app, or create an API key with permission to view on-call: it appears here.
              </EmptyState>
            }
            skeleton={null}
          />
        </div>
      </Stack>
    </Card>
  );
}

const columnsWith = (isOwner: boolean, isPending: boolean, onChange: (agent: Agent) => void): Column<Agent>[] => [
  {
    id: 'name',
    title: 'Agent',
    isMain: true,
    sortBy: ({ name }) => name.toLowerCase(),
    cell: ({ name, kind }) => (
      <>
        <Text size="sm" fw={560}>
          <Name>{name}</Name>
        </Text>
        <Text size="xs" c="dimmed">
          {kind === 'app' ? 'connected app' : 'API key'}
        </Text>
      </>
    ),
  },
  {
    id: 'user',
    title: 'Acts as',
    sortBy: ({ userName }) => userName ?? '',
    cell: ({ userName }) => (userName === null ? 'the organization' : <Name>{userName}</Name>),
  },
  {
    id: 'used',
    title: 'Last used',
    sortBy: ({ lastUsedAt }) => lastUsedAt ?? '',
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Timestamp at={lastUsedAt} />),
  },
  {
    id: 'responds',
    title: 'May respond',
    cell: (agent) =>
      isOwner ? (
        <Switch
          aria-label={`${agent.name} may respond to incidents`}
          checked={agent.isResponder}
          disabled={isPending}
          onChange={() => onChange(agent)}
        />
      ) : (
        <Status tone={agent.isResponder ? 'green' : 'gray'}>{agent.isResponder ? 'yes' : 'no'}</Status>
      ),
  },
];

import { Button, Skeleton } from '@mantine/core';
import { IconUsersPlus } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke, type ResultOf } from '#console/api/actions.ts';
import { teamsQuery, topicKey } from '#console/api/queries.ts';
import { EmptyState } from '#console/components/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { named } from '#console/components/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Page } from '#console/components/page.tsx';
import { useDraftState } from '#console/components/use_draft.ts';
import { BackToPolicies } from '#console/pages/policies/policy_page.tsx';
import { addStep, type PolicyDraft, toStepInputs } from '#console/pages/policies/policy_draft.ts';
import { PolicyForm } from '#console/pages/policies/policy_form.tsx';
import { POLICY_TEMPLATES } from '#console/pages/policies/policy_templates.ts';
import { Templates } from '#console/pages/policies/templates.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/oncall/policies/new');

/** A new policy: empty, or from a template of the address. */
export function NewPolicy() {
  const { org, may } = useOrganization();
  const { data, error, refetch } = useQuery(teamsQuery(org.orgId));
  return (
    <Page title="Create a policy" above={<BackToPolicies />} lead="Minutes count from the trigger of an incident.">
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={320} radius="lg" />}
      {data !== undefined && !may('oncall:edit') && <p>Your role does not change policies.</p>}
      {data?.teams.length === 0 && (
        <EmptyState
          icon={<IconUsersPlus size={24} />}
          title="A policy belongs to a team"
          actions={
            <Button component={Link} to="/oncall/teams">
              Create a team
            </Button>
          }
        >
          It pages the people on call in the schedules of its team.
        </EmptyState>
      )}
      {data !== undefined && data.teams.length > 0 && may('oncall:edit') && <Form teams={data.teams} />}
    </Page>
  );
}

function Form({ teams }: { readonly teams: ResultOf<'list_teams'>['teams'] }) {
  const { org } = useOrganization();
  const { team: wantedTeam, template } = route.useSearch();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [base] = useState((): PolicyDraft => {
    const team = teams.find(({ teamId }) => teamId === wantedTeam) ?? (teams.length === 1 ? teams[0] : undefined);
    return { name: '', teamId: team?.teamId ?? '', steps: addStep([]) };
  });
  const [values, setValues, draft] = useDraftState({ form: 'create_escalation_policy', base });
  const fromTemplate = (index: number): void => {
    const chosen = POLICY_TEMPLATES[index];
    if (chosen === undefined) return;
    const members = teams.find(({ teamId }) => teamId === values.teamId)?.members ?? [];
    const steps = chosen.steps(members.map(({ userId }) => userId));
    setValues({ ...values, name: values.name === '' ? chosen.name : values.name, steps });
  };
  const [isBegun, setIsBegun] = useState(false);
  if (!isBegun) {
    setIsBegun(true);
    if (template !== undefined && draft.restoredAt === null) fromTemplate(template);
  }
  const creating = useMutation({
    mutationFn: () => {
      const { name, teamId, steps } = values;
      return invoke(org.orgId, 'create_escalation_policy', { teamId, name: name.trim(), steps: toStepInputs(steps) });
    },
    async onSuccess({ policyId, name }) {
      draft.done();
      showSuccess(named`${name} is created. Choose it in an alert rule.`);
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
      await navigate({ to: '/oncall/policies/$policyId', params: { policyId } });
    },
  });
  return (
    <PolicyForm
      values={values}
      setValues={setValues}
      draft={draft}
      isNew
      button="Create"
      isPending={creating.isPending}
      error={creating.error}
      onSave={() => creating.mutate()}
      onCancel={() => {
        draft.startOver();
        void navigate({ to: '/oncall/policies' });
      }}
    >
      <Templates onChoose={fromTemplate} />
    </PolicyForm>
  );
}

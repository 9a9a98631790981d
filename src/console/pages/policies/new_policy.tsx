import { Button, Skeleton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { teamNamesQuery, teamQuery } from '#console/api/teams.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Page } from '#console/components/page.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { IconUsersPlus } from '#console/icons.ts';
import { BackToPolicies } from '#console/pages/policies/policy_page.tsx';
import { addStep, NO_REPEAT, type PolicyDraft, toPolicyInput } from '#console/pages/policies/policy_draft.ts';
import { POLICY_TEMPLATES } from '#console/pages/policies/policy_templates.ts';
import { Templates } from '#console/pages/policies/templates.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const PolicyForm = lazyPart(() => import('#console/pages/policies/policy_form.tsx').then((m) => m.PolicyForm));

const route = getRouteApi('/inside/oncall/policies/new');

/** Page of a new policy: empty, or from a template in the address. */
export function NewPolicy() {
  const { org, may } = useOrganization();
  const { team: wantedTeam, template } = route.useSearch();
  const { data, error, refetch } = useQuery(teamNamesQuery(org.orgId, { limit: 1 }));
  const firstTeamId = wantedTeam ?? (data?.total === 1 ? data.teams[0]?.teamId : undefined) ?? '';
  // A template may page its members.
  const team = useQuery({ ...teamQuery(org.orgId, firstTeamId), enabled: firstTeamId !== '' });
  // A template names the members and schedules that the team has now, not those of an earlier answer.
  const [isCurrent, setIsCurrent] = useState(template === undefined);
  if (!isCurrent && !team.isFetching && data !== undefined) setIsCurrent(true);
  const isLoading =
    (data === undefined && error === null) || (firstTeamId !== '' && (team.isPending || (!isCurrent && !team.isError)));
  return (
    <Page title="Create a policy" above={<BackToPolicies />} lead="Minutes count from the trigger of an incident.">
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {isLoading && <Skeleton height={320} radius="lg" />}
      {data !== undefined && !may('oncall:edit') && <p>Your role cannot change policies.</p>}
      {data?.total === 0 && (
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
      {data !== undefined && data.total > 0 && !isLoading && may('oncall:edit') && (
        <Form firstTeamId={team.isError ? '' : firstTeamId} />
      )}
    </Page>
  );
}

/** Template that the steps came from, and the team for which it made them. */
interface Applied {
  readonly index: number;
  readonly steps: PolicyDraft['steps'];
  readonly teamId: string;
}

/** Form of a new policy. `firstTeamId` is empty if there are several teams to choose from. */
function Form({ firstTeamId }: { readonly firstTeamId: string }) {
  const { org } = useOrganization();
  const { template } = route.useSearch();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [base] = useState((): PolicyDraft => ({
    name: '',
    teamId: firstTeamId,
    steps: addStep([]),
    repeat: NO_REPEAT,
    hours: null,
  }));
  const [values, setValues, draft] = useDraftState({ form: 'create_escalation_policy', base });
  const hasTeam = values.teamId !== '';
  const team = useQuery({ ...teamQuery(org.orgId, values.teamId), enabled: hasTeam });
  const memberIds = team.data?.members.map(({ userId }) => userId) ?? [];
  const scheduleIds = team.data?.schedules.map(({ scheduleId }) => scheduleId) ?? [];
  const [isCut, setIsCut] = useState(false);
  const [applied, setApplied] = useState<Applied | null>(null);
  const fromTemplate = (index: number): void => {
    const chosen = POLICY_TEMPLATES[index];
    if (chosen === undefined) return;
    const steps = chosen.steps(memberIds, scheduleIds);
    const isOfMembers = steps.some(({ targetUserIds }) => targetUserIds.length > 0);
    setIsCut(isOfMembers && (team.data?.memberCount ?? 0) > memberIds.length);
    setApplied({ index, steps, teamId: values.teamId });
    setValues({ ...values, name: values.name === '' ? chosen.name : values.name, steps });
  };
  const [isBegun, setIsBegun] = useState(false);
  if (!isBegun) {
    setIsBegun(true);
    if (template !== undefined && draft.restoredAt === null) fromTemplate(template);
  }
  // A template that nobody has changed names the people and schedules of the team that is chosen later.
  const isOfOther = applied !== null && applied.teamId !== values.teamId && applied.steps === values.steps;
  if (isOfOther && team.data !== undefined) fromTemplate(applied.index);
  const creating = useMutation({
    mutationFn: () => {
      const { name, teamId } = values;
      return invoke(org.orgId, 'add_escalation_policy', { teamId, name: name.trim(), ...toPolicyInput(values) });
    },
    async onSuccess({ policyId, name }) {
      draft.done();
      showSuccess(named`${name} is created. Choose it in an alert rule.`);
      await refresh('teams');
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
      onCancel={() => void navigate({ to: '/oncall/policies' })}
    >
      <Templates onChoose={fromTemplate} isDisabled={hasTeam && team.isPending} />
      {isCut && (
        <p role="status">
          The last step pages the first {memberIds.length.toLocaleString()} of {team.data?.memberCount.toLocaleString()}{' '}
          members: a step pages no more people than that by name.
        </p>
      )}
    </PolicyForm>
  );
}

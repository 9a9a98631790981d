import { Checkbox, Skeleton, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { addToTeam, strangersOf, teamNamesQuery, teamQuery } from '#console/api/teams.ts';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { newDraft, rotationInput, SCHEDULE_LABELS, type ScheduleDraft } from '#console/pages/oncall/schedule_draft.ts';
import { JoinTeam, showNotJoined } from '#console/pages/oncall/join_team.tsx';
import { ScheduleForm } from '#console/pages/oncall/schedule_form.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/oncall/schedules/new');

export function NewSchedule() {
  const { org, may } = useOrganization();
  const { data, error, refetch } = useQuery(teamNamesQuery(org.orgId, { limit: 1 }));
  return (
    <Page title="Create a schedule" above={<Back to="/oncall">On-call</Back>}>
      {!may('oncall:edit') && <p>Your role may not create a schedule. Ask an owner or an admin.</p>}
      {may('oncall:edit') && error !== null && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {may('oncall:edit') && error === null && data === undefined && <Skeleton height={420} radius="lg" />}
      {may('oncall:edit') && data !== undefined && <Form firstTeamId={data.teams[0]?.teamId ?? null} />}
    </Page>
  );
}

/** Form of a new schedule. `firstTeamId` is null if there is no team yet. */
function Form({ firstTeamId }: { readonly firstTeamId: string | null }) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const refresh = useRefresh();
  const { team: wanted } = route.useSearch();
  const [base] = useState(() => newDraft(serverNow(), wanted ?? firstTeamId ?? ''));
  const [draft, setDraft, stored] = useDraftState<ScheduleDraft>({ form: 'new_schedule', base });
  const [isContinued, setIsContinued] = useState(false);
  const teamId = firstTeamId === null ? '' : draft.teamId || firstTeamId;
  const team = useQuery({ ...teamQuery(orgId, teamId), enabled: teamId !== '' });
  const people = [...new Set(draft.turns.flatMap(({ userIds }) => userIds))];
  const strangers = teamId === '' ? people : strangersOf(people, team.data);
  const creating = useMutation({
    mutationFn: async () => {
      const { timezone, rotationType, rotationConfig } = rotationInput(draft);
      const schedule = { name: draft.name.trim(), timezone, rotationType, rotationConfig, startAt: draft.handOverAt };
      return teamId === ''
        ? await invoke(orgId, 'create_team_schedule', { teamName: draft.teamName.trim() || 'On-call', ...schedule })
        : await invoke(orgId, 'create_schedule', { teamId, ...schedule });
    },
    async onSuccess({ scheduleId, teamId: ownTeamId, name, warnings }) {
      stored.done();
      if (draft.joinTeam) {
        await addToTeam(orgId, ownTeamId, strangers).catch(showNotJoined);
      }
      showSuccess(named`${name} is created.`, warnings);
      const to = isContinued ? '/oncall/schedules/$scheduleId/edit' : '/oncall/schedules/$scheduleId';
      await navigate({ to, params: { scheduleId } });
    },
    onSettled: () => refresh('teams'),
  });
  return (
    <ScheduleForm
      draft={draft}
      onChange={setDraft}
      teamId={teamId}
      further={
        <>
          <JoinTeam
            strangers={strangers}
            isChecked={draft.joinTeam}
            onChange={(joinTeam) => setDraft({ ...draft, joinTeam })}
          />
          <Checkbox
            label="Then add layers, hours or holidays"
            description="Nights by others and office hours are layers above this rotation; holidays are chosen at each of them."
            checked={isContinued}
            onChange={(event) => setIsContinued(event.currentTarget.checked)}
          />
        </>
      }
      button="Create"
      isPending={creating.isPending}
      error={creating.error}
      onSubmit={() => creating.mutate()}
      onCancel={() => void navigate({ to: '/oncall' })}
      stored={stored}
      notice={<DraftNotice draft={stored} labels={SCHEDULE_LABELS} />}
      team={(fault) =>
        firstTeamId === null ? (
          <TextInput
            label="Team"
            description="Schedules belong to a team. This one is created with it."
            placeholder="On-call"
            value={draft.teamName}
            onChange={({ currentTarget }) => setDraft({ ...draft, teamName: currentTarget.value })}
            maxLength={500}
            error={fault}
          />
        ) : (
          <TeamPicker
            label="Team"
            placeholder="Choose a team"
            isRequired
            value={teamId}
            onChange={(chosen) => setDraft({ ...draft, teamId: chosen ?? firstTeamId })}
            error={fault}
          />
        )
      }
    />
  );
}

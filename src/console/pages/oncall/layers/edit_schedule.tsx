import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { addToTeam, strangersOf, teamQuery } from '#console/api/teams.ts';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import {
  LAYERS_LABELS,
  type LayersDraft,
  layersDraftOf,
  layersInput,
} from '#console/pages/oncall/layers/layers_draft.ts';
import { LayersForm } from '#console/pages/oncall/layers/layers_form.tsx';
import { JoinTeam, showNotJoined } from '#console/pages/oncall/join_team.tsx';
import { ScheduleFrame } from '#console/pages/oncall/schedule_frame.tsx';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/oncall/schedules/$scheduleId/edit');

export function EditSchedule() {
  const { scheduleId } = route.useParams();
  const { may } = useOrganization();
  return (
    <ScheduleFrame scheduleId={scheduleId} title={(name) => `Edit ${name}`}>
      {(schedule) =>
        may('oncall:edit') ? (
          <Form key={scheduleId} schedule={schedule} />
        ) : (
          <p>Your role cannot change this schedule.</p>
        )
      }
    </ScheduleFrame>
  );
}

function Form({ schedule }: { readonly schedule: ShownSchedule }) {
  const { orgId } = useOrganization().org;
  const { scheduleId, teamId, updatedAt } = schedule;
  const navigate = useNavigate();
  const refresh = useRefresh();
  const base = useMemo(() => layersDraftOf(schedule), [schedule]);
  const [draft, setDraft, stored] = useDraftState<LayersDraft>({ form: `schedule_layers ${scheduleId}`, base });
  const back = () => navigate({ to: '/oncall/schedules/$scheduleId', params: { scheduleId } });
  const [joinTeam, setJoinTeam] = useState(true);
  const team = useQuery(teamQuery(orgId, teamId));
  // Whoever took turns before stays what they are, whatever else is edited.
  const added = peopleOf(draft).difference(peopleOf(base));
  const strangers = strangersOf([...added], team.data);
  const saving = useMutation({
    mutationFn: () =>
      invoke(orgId, 'set_schedule_layers', {
        scheduleId,
        readAt: updatedAt,
        name: draft.name.trim(),
        ...layersInput(draft, schedule),
      }),
    async onSuccess({ name, warnings }) {
      stored.done();
      if (joinTeam) await addToTeam(orgId, teamId, strangers).catch(showNotJoined);
      showSuccess(named`${name} is saved.`, warnings);
      await back();
    },
    // After a conflict the form shows what somebody else has changed.
    onSettled: () => refresh('teams'),
  });
  return (
    <LayersForm
      draft={draft}
      onChange={setDraft}
      schedule={schedule}
      isPending={saving.isPending}
      isBlocked={stored.conflicts.length > 0}
      error={saving.error}
      onSubmit={() => saving.mutate()}
      onCancel={() => void back()}
      further={<JoinTeam strangers={strangers} isChecked={joinTeam} onChange={setJoinTeam} />}
      stored={stored}
      notice={<DraftNotice draft={stored} labels={LAYERS_LABELS} show={showField} />}
    />
  );
}

function peopleOf({ layers }: LayersDraft): Set<string> {
  return new Set(layers.flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds)));
}

function showField(field: keyof LayersDraft, value: unknown): string {
  if (field === 'layers') return (value as LayersDraft['layers']).map(({ name }) => name).join(', ');
  if (field === 'keepTurns') return value === true ? 'stay' : 'change at once';
  return String(value);
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';
import { named } from '#console/components/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { draftOf, rotationInput } from '#console/pages/oncall/schedule_draft.ts';
import { ScheduleForm } from '#console/pages/oncall/schedule_form.tsx';
import { ScheduleFrame } from '#console/pages/oncall/schedule_frame.tsx';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

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
          <p>Your role may see this schedule, and not change it.</p>
        )
      }
    </ScheduleFrame>
  );
}

function Form({ schedule }: { readonly schedule: ShownSchedule }) {
  const { orgId } = useOrganization().org;
  const { scheduleId, updatedAt } = schedule;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState(() => draftOf(schedule));
  const back = () => navigate({ to: '/oncall/schedules/$scheduleId', params: { scheduleId } });
  const saving = useMutation({
    mutationFn: () =>
      invoke(orgId, 'change_schedule', {
        scheduleId,
        readAt: updatedAt,
        name: draft.name.trim(),
        ...rotationInput(draft, schedule),
      }),
    async onSuccess({ name }) {
      showSuccess(named`${name} is saved.`);
      await back();
    },
    // After a conflict the form shows what somebody else has changed.
    onSettled: () => queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'teams') }),
  });
  return (
    <ScheduleForm
      draft={draft}
      onChange={setDraft}
      schedule={schedule}
      button="Save"
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => saving.mutate()}
      onCancel={() => void back()}
    />
  );
}

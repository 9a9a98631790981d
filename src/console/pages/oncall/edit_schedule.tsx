import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';

import { invoke } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDraftState } from '#console/components/forms/use_draft_state.ts';
import {
  draftOf,
  lengthText,
  rotationInput,
  SCHEDULE_LABELS,
  type ScheduleDraft,
  type Turn,
} from '#console/pages/oncall/schedule_draft.ts';
import { ScheduleForm } from '#console/pages/oncall/schedule_form.tsx';
import { ScheduleFrame } from '#console/pages/oncall/schedule_frame.tsx';
import type { ShownSchedule, ShownTimeline } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/oncall/schedules/$scheduleId/edit');

export function EditSchedule() {
  const { scheduleId } = route.useParams();
  const { may } = useOrganization();
  return (
    <ScheduleFrame scheduleId={scheduleId} title={(name) => `Edit ${name}`}>
      {(schedule, timeline) =>
        may('oncall:edit') ? (
          <Form key={scheduleId} schedule={schedule} nameOf={timeline.nameOf} />
        ) : (
          <p>Your role cannot change this schedule.</p>
        )
      }
    </ScheduleFrame>
  );
}

interface FormProps {
  readonly schedule: ShownSchedule;
  readonly nameOf: ShownTimeline['nameOf'];
}

function Form({ schedule, nameOf }: FormProps) {
  const { orgId } = useOrganization().org;
  const { scheduleId, updatedAt } = schedule;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const base = useMemo(() => draftOf(schedule), [schedule]);
  const [draft, setDraft, stored] = useDraftState<ScheduleDraft>({ form: `change_schedule ${scheduleId}`, base });
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
      stored.done();
      showSuccess(named`${name} is saved.`);
      await back();
    },
    // After a conflict the form shows what somebody else has changed.
    onSettled: () => queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'teams') }),
  });
  const show = (field: keyof ScheduleDraft, value: unknown): string => {
    if (field === 'turns') return (value as readonly Turn[]).map(({ userId }) => nameOf(userId)).join(', ');
    if (field === 'hours') return lengthText(Number(value));
    if (field === 'handOverTo') return value === null ? 'the next person' : `person ${Number(value) + 1}`;
    return String(value).replace('T', ' ');
  };
  return (
    <ScheduleForm
      draft={draft}
      onChange={setDraft}
      schedule={schedule}
      button="Save"
      isPending={saving.isPending}
      isBlocked={stored.conflicts.length > 0}
      error={saving.error}
      onSubmit={() => saving.mutate()}
      onCancel={() => void back()}
      notice={<DraftNotice draft={stored} labels={SCHEDULE_LABELS} show={show} />}
    />
  );
}

import { useMutation } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { named } from '#console/components/text/name.tsx';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import { momentText } from '#console/pages/oncall/span_text.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

interface Schedule {
  readonly scheduleId: string;
  readonly name: string;
}

interface NewOverride {
  readonly userId: string;
  readonly startAt: string;
  readonly endAt: string;
  /** Layer for which it counts; absent: the whole schedule. */
  readonly layerId?: string;
}

/** Puts somebody on call by an override, which can be undone for 10 s. */
export function usePutOnCall({ scheduleId, name }: Schedule, onDone: () => void, nameOf?: (userId: string) => string) {
  const { org, session } = useOrganization();
  const refresh = useRefresh();
  const removing = useRemoveOverride(name);
  return useMutation({
    mutationFn: async ({ layerId, ...override }: NewOverride) =>
      layerId === undefined
        ? await invoke(org.orgId, 'create_schedule_override', { scheduleId, ...override })
        : await invoke(org.orgId, 'create_layer_override', { scheduleId, layerId, ...override }),
    async onSuccess({ overrideId, userId, startAt, endAt, warnings }) {
      const when = `from ${momentText(Date.parse(startAt))} until ${momentText(Date.parse(endAt))}.`;
      const isMe = userId === session.user.userId || nameOf === undefined;
      const message = isMe
        ? named`You are on call in ${name} ${when}`
        : named`${nameOf(userId)} is on call in ${name} ${when}`;
      showUndoable(message, () => removing.mutate(overrideId), warnings);
      onDone();
      await refresh('teams');
    },
  });
}

/** Removes an override: the shift returns to the person in the rotation. */
export function useRemoveOverride(scheduleName: string) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (overrideId: string) => invoke(orgId, 'delete_schedule_override', { overrideId }),
    onSuccess: () => showSuccess(named`The override of ${scheduleName} is removed.`),
    onError: (error) => showError(named`The override of ${scheduleName} was not removed`, error),
    onSettled: () => refresh('teams'),
  });
}

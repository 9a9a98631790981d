import { Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';

import { SubmitButtons } from '#console/components/forms/submit_buttons.tsx';
import { invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { topicKey } from '#console/api/queries.ts';
import type { TeamMember } from '#console/api/teams.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Form } from '#console/components/forms/form.tsx';
import { faultsAtFields } from '#console/components/forms/field_faults.ts';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDraftForm } from '#console/components/forms/use_draft.ts';
import {
  CONTACT_LABELS,
  CONTACT_VALIDATION,
  ContactFields,
  type ContactValues,
  toPhone,
} from '#console/pages/oncall_teams/member_fields.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface EditMemberProps {
  readonly member: TeamMember;
  readonly onClose: () => void;
}

/** Dialog to edit how a team reaches a member: members edit their contact, people with `oncall:edit` anybody's. */
export function EditMember({ member, onClose }: EditMemberProps) {
  const { org, session, isAdmin, may } = useOrganization();
  const queryClient = useQueryClient();
  const { memberId, teamId, userId, name, phone, phoneConfirmed } = member;
  const { smsEnabled, callEnabled, pushEnabled, emailEnabled } = member;
  const isMe = userId === session.user.userId;
  const base = useMemo(
    (): ContactValues => ({ phone: phone ?? '', smsEnabled, callEnabled, pushEnabled, emailEnabled }),
    [phone, smsEnabled, callEnabled, pushEnabled, emailEnabled],
  );
  const { form, draft } = useDraftForm({ form: `update_team_member ${memberId}`, base, validate: CONTACT_VALIDATION });
  const isLocked = phoneConfirmed && !isMe && !isAdmin;
  const saving = useMutation({
    mutationFn: async ({ phone: typed, ...switches }: ContactValues) => {
      const basedOn = { phone, smsEnabled, callEnabled, pushEnabled, emailEnabled };
      const contact = { ...switches, ...(!isLocked && { phone: toPhone(typed) }), basedOn };
      if (isMe && !may('oncall:edit')) await invoke(org.orgId, 'update_own_contact', { teamId, ...contact });
      else await invoke(org.orgId, 'edit_team_member', { memberId, ...contact });
    },
    async onSuccess() {
      draft.done();
      showSuccess(isMe ? 'Your contact details are saved.' : named`The contact details of ${name} are saved.`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'me') });
    },
    onError: async (error) => {
      form.setErrors(faultsAtFields(error, form.values));
      // The form shows what the other person has saved beside the input.
      if (isApiError(error, 409)) await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
    },
  });
  return (
    <Dialog onClose={onClose} title={isMe ? 'How this team reaches you' : named`How this team reaches ${name}`}>
      <Form error={saving.error} onSubmit={form.onSubmit((values) => saving.mutate(values))}>
        <Stack>
          <DraftNotice draft={draft} labels={CONTACT_LABELS} />
          <ContactFields
            form={form}
            phoneLockedBecause={isLocked ? 'They have confirmed it: only they, or an owner or admin, change it.' : null}
          />
          {!isMe && (
            <Text size="sm" c="dimmed">
              They are told when their number changes.
            </Text>
          )}
          {saving.isError && <ErrorAlert title="Nothing was saved" error={saving.error} atFields={form.values} />}
          <SubmitButtons
            label="Save"
            isPending={saving.isPending}
            isDisabled={draft.conflicts.length > 0}
            onCancel={onClose}
          />
        </Stack>
      </Form>
    </Dialog>
  );
}

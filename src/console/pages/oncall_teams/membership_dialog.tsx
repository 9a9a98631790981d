import type { UseFormReturnType } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { invoke } from '#console/api/actions.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import {
  CONTACT_LABELS,
  CONTACT_VALIDATION,
  ContactFields,
  type ContactValues,
  NEW_CONTACT,
  toPhone,
} from '#console/pages/oncall_teams/member_fields.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

type Membership = { teamId: string; userId: string } & ContactValues;

interface MembershipDialogProps {
  readonly title: ReactNode;
  /** Side of the membership that is fixed: the team, or the person. */
  readonly chosen: { readonly teamId: string } | { readonly userId: string };
  /** Side of the membership left to choose. */
  readonly asked: { readonly name: 'teamId' | 'userId'; readonly fault: string };
  readonly field: (form: UseFormReturnType<Membership>) => ReactNode;
  readonly teamNameOf: (teamId: string) => string;
  readonly onClose: () => void;
}

/** Dialog that adds a person to a team, with a phone number. */
export function MembershipDialog({ title, chosen, asked, field, teamNameOf, onClose }: MembershipDialogProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const base: Membership = { teamId: '', userId: '', ...NEW_CONTACT, ...chosen };
  const { form, draft } = useDraftForm({
    form: `add_team_member ${base.teamId}${base.userId}`,
    base,
    validate: { ...CONTACT_VALIDATION, [asked.name]: (id: string) => (id === '' ? asked.fault : null) },
  });
  const adding = useMutation({
    mutationFn: ({ phone, ...values }: Membership) => {
      const number = toPhone(phone);
      return invoke(org.orgId, 'add_team_member', { ...values, ...(number !== null && { phone: number }) });
    },
    async onSuccess(member, { teamId }) {
      draft.done();
      showSuccess(named`${member.name} is in ${teamNameOf(teamId)}.`);
      // The page behind has its new height before somebody presses on it.
      await refresh('teams');
      onClose();
    },
    onError: (error) => form.setErrors(faultsAtFields(error, form.values)),
  });
  const { teamId: _, userId: __, ...contact } = form.values;
  const shown = { ...contact, [asked.name]: '' };
  return (
    <FormDialog
      onClose={onClose}
      title={title}
      saving={adding}
      failure="Nobody was added"
      atFields={shown}
      draft={draft}
      labels={{ teamId: 'Team', userId: 'Person', ...CONTACT_LABELS }}
      submit="Add"
      onSubmit={form.onSubmit((values) => adding.mutate(values))}
    >
      {field(form)}
      <ContactFields form={form} />
    </FormDialog>
  );
}

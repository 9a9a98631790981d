import { Alert, Button, CopyButton, Group, NativeSelect, Stack, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';

import { useState } from 'react';

import { invoke, type ResultOf } from '#console/api/actions.ts';
import type { Role } from '#console/api/session.ts';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { errorMessage } from '#console/components/error_alert.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { TeamPicker, useTeamName } from '#console/components/forms/team_picker.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name, named } from '#console/components/text/name.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { ROLE_DESCRIPTIONS } from '#console/components/text/role_note.tsx';
import classes from '#console/pages/settings/invitations.module.css';
import { IconX } from '#console/icons.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { ROLES } from '#kernel/permissions.ts';

interface Invited {
  readonly email: string;
  readonly role: Role;
  /** Roles of single addresses that differ from the one of all others. */
  readonly roles: Readonly<Record<string, Role>>;
  readonly teamIds: readonly string[];
}

const START: Invited = { email: '', role: 'responder', roles: {}, teamIds: [] };

/** Limit on the people whom one form invites, so that nobody waits long. */
const ADDRESSES_MAX = 50;

const addressesIn = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter((part) => part !== ''))];

function addressFault(text: string): string | null {
  const addresses = addressesIn(text);
  if (addresses.length === 0) return 'Enter a mail address';
  if (addresses.length > ADDRESSES_MAX) return `Invite at most ${ADDRESSES_MAX} people at once`;
  const wrong = addresses.find((address) => !/^\S+@\S+$/.test(address));
  return wrong === undefined ? null : addresses.length === 1 ? 'Enter a mail address' : `${wrong} is no mail address`;
}

interface InviteMemberProps {
  /** Pending invitation to replace; absent: a new one. */
  readonly pending?: Invited;
  /** Team that new people join, unless another is chosen. */
  readonly teamId?: string;
  readonly onClose: () => void;
}

/** Form that invites people, or replaces a pending invitation by one with another role and a new link. */
export function InviteMember({ pending, teamId, onClose }: InviteMemberProps) {
  const [round, setRound] = useState(0);
  const [earlier, setEarlier] = useState<Pick<Invited, 'role' | 'teamIds'>>({
    role: START.role,
    teamIds: teamId === undefined ? [] : [teamId],
  });
  return (
    <InvitationForm
      key={round}
      base={pending ?? { ...START, ...earlier }}
      isChange={pending !== undefined}
      onAgain={({ role, teamIds }) => {
        setEarlier({ role, teamIds });
        setRound(round + 1);
      }}
      onClose={onClose}
    />
  );
}

interface InvitationFormProps {
  readonly base: Invited;
  readonly isChange: boolean;
  /** Called with what was entered, when somebody wants to invite others. */
  readonly onAgain: (entered: Invited) => void;
  readonly onClose: () => void;
}

function InvitationForm({ base, isChange, onAgain, onClose }: InvitationFormProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { form, draft } = useDraftForm<Invited>({
    form: `create_invitation ${isChange ? base.email : base.teamIds.join(' ')}`.trim(),
    base,
    validate: { email: addressFault },
  });
  const [place, setPlace] = useState(0);
  const inviting = useMutation({
    async mutationFn({ email, role: usual, roles, teamIds }: Invited) {
      const addresses = addressesIn(email);
      const answers: Answer[] = [];
      for (const [index, address] of addresses.entries()) {
        setPlace(index);
        try {
          const role = roles[address] ?? usual;
          const wanted = { email: address, role, ...(teamIds.length > 0 && { teamIds: [...teamIds] }) };
          answers.push({ address, ...(await invoke(org.orgId, 'create_invitation', wanted)) });
        } catch (error) {
          // One address is answered at its field; of several, each has its own answer.
          if (addresses.length === 1) throw error;
          answers.push({ address, fault: errorMessage(error) });
        }
      }
      return answers;
    },
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    onSuccess() {
      draft.done();
      return refresh('settings');
    },
  });
  if (inviting.isSuccess)
    return (
      <Answers answers={inviting.data} {...(!isChange && { onAgain: () => onAgain(form.values) })} onClose={onClose} />
    );
  const { teamIds } = form.values;
  const addresses = addressesIn(form.values.email);
  const roleOptions = ROLES.filter((role) => org.role === 'owner' || role !== 'owner');
  return (
    <FormDialog
      onClose={onClose}
      title={isChange ? named`Change the invitation of ${base.email}` : named`Invite somebody to ${org.name}`}
      saving={inviting}
      failure="Nobody was invited"
      atFields={form.values}
      draft={draft}
      labels={{ email: 'Mail address', role: 'Role', roles: 'Roles of single people', teamIds: 'Teams' }}
      submit={
        inviting.isPending && addresses.length > 1
          ? `Inviting ${place + 1} of ${addresses.length}`
          : isChange
            ? 'Invite anew'
            : 'Invite'
      }
      onSubmit={form.onSubmit((values) => inviting.mutate(values))}
    >
      <div className={`${classes.fields} stack`}>
        <Textarea
          {...form.getInputProps('email')}
          label="Mail address"
          description={
            isChange
              ? 'The earlier link stops working.'
              : 'Of one person or of several, with spaces, commas or new lines between them.'
          }
          readOnly={isChange}
          rows={isChange ? 1 : 3}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey) return;
            event.preventDefault();
            if (inviting.isPending) return;
            event.currentTarget.form?.requestSubmit();
          }}
          data-autofocus={!isChange || undefined}
        />
        <NativeSelect
          {...form.getInputProps('role')}
          label={addresses.length > 1 ? 'Role of all' : 'Role'}
          description={ROLE_DESCRIPTIONS[form.values.role]}
          data={roleOptions}
        />
        <div>
          <TeamPicker
            label="Teams"
            placeholder={teamIds.length === 0 ? 'In no team yet' : 'Another team'}
            value={null}
            onChange={(teamId) => {
              if (teamId !== null) form.setFieldValue('teamIds', [...new Set([...teamIds, teamId])]);
            }}
            error={form.errors['teamIds']}
          />
          {teamIds.length > 0 && (
            <Group gap="xs" mt="xs">
              {teamIds.map((teamId) => (
                <ChosenTeam
                  key={teamId}
                  teamId={teamId}
                  onRemove={() =>
                    form.setFieldValue(
                      'teamIds',
                      teamIds.filter((chosen) => chosen !== teamId),
                    )
                  }
                />
              ))}
            </Group>
          )}
        </div>
        {addresses.length > 1 && addresses.length <= ADDRESSES_MAX && (
          <fieldset className={`${classes.roles} spaced flush`}>
            <legend>A different role for one of them</legend>
            {addresses.map((address) => (
              <div key={address} className={`${classes.role} row apart`}>
                <Name>{address}</Name>
                <NativeSelect
                  aria-label={`Role of ${address}`}
                  title={ROLE_DESCRIPTIONS[form.values.roles[address] ?? form.values.role]}
                  data={roleOptions}
                  value={form.values.roles[address] ?? form.values.role}
                  onChange={({ currentTarget: { value } }) => {
                    const role = ROLES.find((candidate) => candidate === value);
                    if (role !== undefined) form.setFieldValue('roles', { ...form.values.roles, [address]: role });
                  }}
                />
              </div>
            ))}
          </fieldset>
        )}
      </div>
    </FormDialog>
  );
}

function ChosenTeam({ teamId, onRemove }: { readonly teamId: string; readonly onRemove: () => void }) {
  const name = useTeamName(teamId) ?? 'Team';
  return (
    <Button
      size="compact-sm"
      variant="default"
      rightSection={<IconX size={14} />}
      aria-label={`Leave out ${name}`}
      onClick={onRemove}
    >
      {isolateBidi(name)}
    </Button>
  );
}

type Answer = { readonly address: string } & (ResultOf<'create_invitation'> | { readonly fault: string });

interface AnswersProps {
  readonly answers: readonly Answer[];
  /** Called when somebody wants to invite others; absent where only one invitation was changed. */
  readonly onAgain?: () => void;
  readonly onClose: () => void;
}

/** Dialog of what became of each address, with the links that are shown this once. */
function Answers({ answers, onAgain, onClose }: AnswersProps) {
  const invited = answers.flatMap((answer) => ('link' in answer ? [answer] : []));
  const refused = answers.flatMap((answer) => ('fault' in answer ? [answer] : []));
  const [first] = invited;
  const [isTaken, setIsTaken] = useState(false);
  const isAlone = answers.length === 1 && first !== undefined;
  return (
    <Dialog
      onClose={onClose}
      title={isAlone ? named`${first.email} is invited` : `${invited.length} of ${answers.length} are invited`}
      isShownOnce
    >
      <Stack>
        <div className={`${classes.answers} stack`}>
          {refused.map(({ address, fault }) => (
            <Alert key={address} color="red" title={named`${address} is not invited`}>
              {fault}
            </Alert>
          ))}
          {first !== undefined && (
            <Text size="sm">
              {first.isMailed
                ? `${isAlone ? 'A link is' : 'Links are'} on ${isAlone ? 'its' : 'their'} way by mail. You can also pass on ${isAlone ? 'this one' : 'these'} yourself.`
                : `This server sends no mail, so pass the ${isAlone ? 'link' : 'links'} on yourself.`}{' '}
              {isAlone ? 'It is' : 'Each is'} shown only once, works once, and expires after seven days. People can take
              turns and be put on call once they have accepted.
            </Text>
          )}
          {invited.map(({ email, link }) => (
            <CopyField
              key={email}
              label={isAlone ? 'Invitation link' : `Link for ${email}`}
              value={link}
              isShownOnce={!isTaken}
            />
          ))}
        </div>
        <Group justify="flex-end">
          {onAgain !== undefined && (
            <Button variant="default" onClick={onAgain}>
              Invite others
            </Button>
          )}
          {invited.length > 1 && (
            <CopyButton value={invited.map(({ email, link }) => `${email} ${link}`).join('\n')}>
              {({ copied, copy }) => (
                <Button
                  variant="default"
                  onClick={() => {
                    copy();
                    setIsTaken(true);
                  }}
                >
                  {copied ? 'Copied' : 'Copy all links'}
                </Button>
              )}
            </CopyButton>
          )}
          <Button
            onClick={() => {
              onClose();
              // On the page of members, whose list of the invited has them now.
              document.getElementById('invited')?.scrollIntoView({ block: 'nearest' });
            }}
          >
            Done
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

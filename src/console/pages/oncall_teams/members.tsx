import { ActionIcon, Button, List, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { addToTeam, type TeamDetails, type TeamMember } from '#console/api/teams.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { named, Sentence } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { showError, showSuccess } from '#console/components/notice.tsx';
import { IconArrowDown, IconArrowUp, IconDotsVertical, IconPencil, IconUserMinus } from '#console/icons.ts';
import { InvitedIntoTeam } from '#console/pages/oncall/join_team.tsx';
import {
  CONTACT_LABELS,
  CONTACT_VALIDATION,
  ContactFields,
  type ContactValues,
  toPhone,
} from '#console/pages/oncall_teams/member_fields.tsx';
import { ReadinessDetails, ReadinessStatus } from '#console/pages/oncall_teams/readiness.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

/** List of the members in their order, each with how they are reached and whether a page would wake them. */
export function Members({ team }: { readonly team: TeamDetails }) {
  const { org, session } = useOrganization();
  const refresh = useRefresh();
  const { teamId, members, memberCount } = team;
  const [edited, setEdited] = useState<TeamMember | null>(null);
  const [removed, setRemoved] = useState<TeamMember | null>(null);
  const moving = useMutation({
    mutationFn: (move: { readonly memberId: string; readonly to: 'up' | 'down' }) =>
      invoke(org.orgId, 'move_team_member', { teamId, ...move }),
    onError: (error) => showError('The order was not saved', error),
    onSettled: () => refresh('teams'),
  });
  const me = members.find(({ userId }) => userId === session.user.userId);
  return (
    <Card
      title="Members"
      about={
        memberCount > members.length
          ? `${memberCount} in all; the first ${members.length} are shown.`
          : 'A page at night wakes by SMS, call or push. A test or a page that arrived in the last 90 days proves it.'
      }
      rows={
        members.length === 0
          ? undefined
          : members.map((member, index) => (
              <Row
                key={member.memberId}
                title={
                  <>
                    <Person userId={member.userId} color={member.color}>
                      {member.name}
                    </Person>{' '}
                    <span className="dimmed numbers">{member.phone ?? ''}</span>{' '}
                    <ReadinessStatus readiness={member.readiness} />
                  </>
                }
                sub={
                  <>
                    <ReadinessDetails readiness={member.readiness} />
                    {member === me && member.readiness.answer !== 'yes' && (
                      <Link to="/me">Send yourself a test, or add a device</Link>
                    )}
                  </>
                }
              >
                <MemberMenu
                  member={member}
                  isFirst={index === 0}
                  isLast={index === members.length - 1}
                  onEdit={() => setEdited(member)}
                  onMove={(to) => moving.mutate({ memberId: member.memberId, to })}
                  onRemove={() => setRemoved(member)}
                />
              </Row>
            ))
      }
    >
      {members.length === 0 && <NoMembers team={team} />}
      <InvitedIntoTeam teamId={teamId} />
      {edited !== null && <EditMember member={edited} onClose={() => setEdited(null)} />}
      {removed !== null && <RemoveMember team={team} member={removed} onClose={() => setRemoved(null)} />}
    </Card>
  );
}

/** Says that a team has no members, and offers to make those members who take turns in its schedules. */
function NoMembers({ team: { teamId, schedules } }: { readonly team: TeamDetails }) {
  const { org, may } = useOrganization();
  const refresh = useRefresh();
  const people = [...new Set(schedules.flatMap(({ userIds }) => userIds))];
  const adding = useMutation({
    mutationFn: () => addToTeam(org.orgId, teamId, people),
    onError: (error) => showError('Not everybody was added', error),
    onSettled: () => refresh('teams'),
  });
  if (people.length === 0) return <p className="dimmed small flush">No members yet. Add who is on call together.</p>;
  const taking = people.length === 1 ? 'One person takes' : `${people.length} people take`;
  return (
    <>
      <p className="dimmed small flush">
        No members yet. {taking} turns in the schedules and are paged by them, but nobody is paged with the whole team.
      </p>
      {may('oncall:edit') && (
        <Button mt="sm" variant="default" loading={adding.isPending} onClick={() => adding.mutate()}>
          {people.length === 1 ? 'Make this person a member' : `Make these ${people.length} people members`}
        </Button>
      )}
    </>
  );
}

interface MemberMenuProps {
  readonly member: TeamMember;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onEdit: () => void;
  readonly onMove: (to: 'up' | 'down') => void;
  readonly onRemove: () => void;
}

/** Menu of a member; nothing for somebody who may change neither the team nor this member. */
function MemberMenu({ member: { name, userId }, isFirst, isLast, onEdit, onMove, onRemove }: MemberMenuProps) {
  const { session, may } = useOrganization();
  const mayEdit = may('oncall:edit');
  if (!mayEdit && userId !== session.user.userId) return null;
  return (
    <ActionMenu
      button={(props) => (
        <ActionIcon variant="subtle" color="gray" size={44} aria-label={`Change ${name}`} {...props}>
          <IconDotsVertical size={18} />
        </ActionIcon>
      )}
      entries={[
        { text: 'Edit contact', icon: <IconPencil size={16} />, onClick: onEdit },
        ...(mayEdit
          ? [
              { text: 'Move up', icon: <IconArrowUp size={16} />, isDisabled: isFirst, onClick: () => onMove('up') },
              {
                text: 'Move down',
                icon: <IconArrowDown size={16} />,
                isDisabled: isLast,
                onClick: () => onMove('down'),
              },
              { text: 'Remove from the team', icon: <IconUserMinus size={16} />, isDangerous: true, onClick: onRemove },
            ]
          : []),
      ]}
    />
  );
}

/** Most policies listed in the question before a removal. */
const NAMED_MAX = 5;

interface RemoveMemberProps {
  readonly team: TeamDetails;
  readonly member: TeamMember;
  readonly onClose: () => void;
}

function RemoveMember({ team, member: { memberId, userId, name }, onClose }: RemoveMemberProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const removing = useMutation({
    mutationFn: () => invoke(org.orgId, 'remove_team_member', { memberId }),
    async onSuccess() {
      showSuccess(named`${name} is no longer in ${team.name}.`);
      onClose();
      await refresh('teams');
    },
  });
  const naming = team.policies.filter(({ steps }) => steps.some(({ targetUserIds }) => targetUserIds.includes(userId)));
  return (
    <Confirm
      title={named`Remove ${name} from ${team.name}?`}
      button="Remove"
      saving={removing}
      onConfirm={() => removing.mutate()}
      onClose={onClose}
    >
      The team forgets their phone number. Schedules and policies that name them stay as they are, and then reach them
      by mail and push only.
      {naming.length > 0 && (
        <>
          {' '}
          Policies that name them:
          <List size="sm" mt="xs">
            {naming.slice(0, NAMED_MAX).map(({ policyId, name: policyName }) => (
              <List.Item key={policyId}>
                <Sentence>{policyName}</Sentence>
              </List.Item>
            ))}
            {naming.length > NAMED_MAX && <List.Item>and {naming.length - NAMED_MAX} more</List.Item>}
          </List>
        </>
      )}
    </Confirm>
  );
}

/** Dialog to edit how a team reaches a member: members edit their contact, people with `oncall:edit` anybody's. */
function EditMember({ member, onClose }: { readonly member: TeamMember; readonly onClose: () => void }) {
  const { org, session, isAdmin, may } = useOrganization();
  const refresh = useRefresh();
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
      await refresh('teams');
      await refresh('me');
    },
    onError: async (error) => {
      form.setErrors(faultsAtFields(error, form.values));
      // The form shows what the other person has saved beside the input.
      if (isApiError(error, 409)) await refresh('teams');
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={isMe ? 'How this team reaches you' : named`How this team reaches ${name}`}
      saving={saving}
      failure="Nothing was saved"
      atFields={form.values}
      draft={draft}
      labels={CONTACT_LABELS}
      submit="Save"
      onSubmit={form.onSubmit((values) => saving.mutate(values))}
    >
      <ContactFields
        form={form}
        phoneLockedBecause={isLocked ? 'They have confirmed it: only they, or an owner or admin, change it.' : null}
      />
      {!isMe && (
        <Text size="sm" c="dimmed">
          They are told when their number changes.
        </Text>
      )}
    </FormDialog>
  );
}

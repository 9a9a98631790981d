import { Button, Checkbox, NativeSelect, Skeleton, Stack, Switch, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { createdKeysQuery, type Member, memberSearchQuery } from '#console/api/organization.ts';
import { type Role, sessionQuery } from '#console/api/session.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyId } from '#console/components/forms/copy_field.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import type { Column } from '#console/components/lists/data_table.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Page, useOpenedByAddress } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name, named } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { isUnreached } from '#console/components/text/role.ts';
import { EVERY_ROLE_SEES_KEYS, ROLE_DESCRIPTIONS } from '#console/components/text/role_note.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { IconUserPlus } from '#console/icons.ts';
import { Invitations } from '#console/pages/settings/invitations.tsx';
import { readMemberSearch } from '#console/pages/settings/member_search.ts';
import { SearchedList } from '#console/pages/settings/searched_list.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { ROLES } from '#kernel/permissions.ts';
import classes from '#console/pages/settings/invitations.module.css';

const InviteMember = lazyDialog(() => import('#console/pages/settings/invite_member.tsx').then((m) => m.InviteMember));

const RoleTable = lazyDialog(() => import('#console/pages/settings/role_table.tsx').then((m) => m.RoleTable));

const route = getRouteApi('/inside/settings/members');

export function Members() {
  const { org, isAdmin } = useOrganization();
  const { q, role } = route.useSearch();
  const navigate = route.useNavigate();
  const text = useDebounced(q?.trim() ?? '');
  const query = useInfiniteQuery(
    memberSearchQuery(org.orgId, { ...(text !== '' && { text }), ...(role !== undefined && { role }) }),
  );
  const [isInviting, setIsInviting] = useState(false);
  useOpenedByAddress('invite', () => setIsInviting(isAdmin));
  const [areRolesShown, setAreRolesShown] = useState(false);
  const [removed, setRemoved] = useState<Member | null>(null);
  const columns = useColumns(setRemoved);
  const show = (change: { readonly q?: string | undefined; readonly role?: Role | undefined }): void =>
    void navigate({ search: (before) => readMemberSearch({ ...before, ...change }), replace: true });
  return (
    <Page
      title="Members"
      lead={
        <>
          {named`Who belongs to ${org.name}, and what they may do.`} {EVERY_ROLE_SEES_KEYS}
        </>
      }
      actions={
        <>
          <Button variant="default" onClick={() => setAreRolesShown(true)}>
            What roles may do
          </Button>
          {isAdmin && (
            <Button leftSection={<IconUserPlus size={18} />} onClick={() => setIsInviting(true)}>
              Invite somebody
            </Button>
          )}
        </>
      }
    >
      <SearchedList
        label="members"
        what="member"
        columns={columns}
        query={query}
        itemsOf={({ members }) => members}
        keyOf={({ userId }) => userId}
        text={q}
        onSearch={(wanted) => show({ q: wanted })}
        isFiltered={q !== undefined || role !== undefined}
        onClear={() => show({ q: undefined, role: undefined })}
        filter={
          <NativeSelect
            aria-label="Role"
            value={role ?? ''}
            onChange={({ currentTarget: { value } }) => show({ role: ROLES.find((role) => role === value) })}
            data={[{ value: '', label: 'All roles' }, ...ROLES]}
          />
        }
        skeleton={<Skeleton height={200} radius="lg" />}
      />
      {/* Shown only after the list above, which would push it down. */}
      {isAdmin && !query.isPending && (
        <>
          <Invitations />
          <div className={classes.section}>
            <SecondFactorPolicy />
          </div>
        </>
      )}
      {areRolesShown && <RoleTable onClose={() => setAreRolesShown(false)} />}
      {isInviting && <InviteMember onClose={() => setIsInviting(false)} />}
      {removed !== null && <RemoveMember member={removed} onClose={() => setRemoved(null)} />}
    </Page>
  );
}

function useColumns(onRemove: (member: Member) => void): Column<Member>[] {
  const { session, isAdmin } = useOrganization();
  const secondFactor: Column<Member> = {
    id: 'factor',
    title: 'Second factor',
    sortBy: ({ hasSecondFactor }) => (hasSecondFactor === true ? 0 : 1),
    cell: ({ hasSecondFactor }) =>
      hasSecondFactor === true ? <Status tone="green">yes</Status> : <Status tone="amber">none</Status>,
  };
  const isMe = ({ userId }: Member) => userId === session.user.userId;
  return [
    {
      id: 'name',
      title: 'Name',
      isMain: true,
      widthPercent: 34,
      sortBy: ({ name }) => name.toLowerCase(),
      cell: (member) => (
        <>
          <Text size="sm" fw={560} span>
            <Person userId={member.userId} color={member.color}>
              {member.name}
            </Person>
          </Text>{' '}
          {isMe(member) && <Status tone="blue">you</Status>}
          <Text size="sm" c="dimmed">
            <Name>{member.email}</Name>
          </Text>
          <CopyId of={member.name} value={member.userId} />
        </>
      ),
    },
    {
      id: 'role',
      title: 'Role',
      sortBy: ({ role }) => ROLES.indexOf(role),
      cell: (member) => <RoleChoice member={member} />,
    },
    {
      id: 'teams',
      title: 'Teams',
      widthPercent: 22,
      cell: ({ teams }) => <Name>{teams.map(({ name }) => isolateBidi(name)).join(', ')}</Name>,
    },
    {
      id: 'reach',
      title: 'Ways to reach',
      cell: (member) => {
        const { teams, warnings } = member;
        if (teams.length === 0) return <span className="dimmed">not in a team</span>;
        return warnings.length === 0 ? (
          <span title="Whether a message has reached them shows on the page of their team.">
            <Status tone="gray">set up</Status>
          </span>
        ) : (
          <span title={warnings.join(' ')}>
            <Status tone="red">
              {isUnreached(member) ? 'none' : `none in ${warnings.length} of ${teams.length} teams`}
            </Status>
          </span>
        );
      },
    },
    ...(isAdmin ? [secondFactor] : []),
    {
      id: 'joined',
      title: 'Joined',
      sortBy: ({ joinedAt }) => joinedAt,
      cell: ({ joinedAt }) => <Timestamp at={joinedAt} format="date" />,
    },
    {
      id: 'remove',
      title: 'Remove',
      isTitleHidden: true,
      isRightAligned: true,
      cell: (member) =>
        (isAdmin || isMe(member)) && (
          <Button
            size="xs"
            variant="subtle"
            color="red"
            onClick={() => onRemove(member)}
            aria-label={isMe(member) ? 'Leave the organization' : `Remove ${member.name}`}
          >
            {isMe(member) ? 'Leave' : 'Remove'}
          </Button>
        ),
    },
  ];
}

/** Select of a member's role. Only owners may add or remove owners. Changes are confirmed: arrow keys make them. */
function RoleChoice({ member }: { readonly member: Member }) {
  const { org, isAdmin } = useOrganization();
  const [next, setNext] = useState<Role | null>(null);
  const { name, role } = member;
  const isOwner = org.role === 'owner';
  if (!isAdmin || (role === 'owner' && !isOwner)) return <span title={ROLE_DESCRIPTIONS[role]}>{role}</span>;
  return (
    <>
      <NativeSelect
        size="xs"
        w={130}
        aria-label={`Role of ${name}`}
        title={ROLE_DESCRIPTIONS[role]}
        value={role}
        onChange={(event) => setNext(event.currentTarget.value as Role)}
        data={ROLES.filter((candidate) => isOwner || candidate !== 'owner')}
      />
      {next !== null && <ChangeRole member={member} next={next} onClose={() => setNext(null)} />}
    </>
  );
}

interface ChangeRoleProps {
  readonly member: Member;
  readonly next: Role;
  readonly onClose: () => void;
}

function ChangeRole({ member: { userId, name, role }, next, onClose }: ChangeRoleProps) {
  const { org, session } = useOrganization();
  const queryClient = useQueryClient();
  const isMe = userId === session.user.userId;
  const [roleAtFirst] = useState(role);
  const [isConflictTold, setIsConflictTold] = useState(false);
  // Somebody else's change that comes while the dialog is open is said before it is overwritten.
  const basedOn = isConflictTold ? role : roleAtFirst;
  const changing = useMutation({
    mutationFn: () => invoke(org.orgId, 'change_role', { userId, role: next, basedOn }),
    // The dialog shows the present role beside the chosen one.
    onError: async (error) => {
      if (!isApiError(error, 409)) return;
      setIsConflictTold(true);
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
    },
    async onSuccess({ warnings }) {
      const [warning] = warnings;
      if (warning === undefined) showSuccess(named`${name} is now ${next}.`);
      else showSuccess(warning);
      onClose();
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <Confirm
      title={named`Change the role of ${name}?`}
      button={`Make ${isMe ? 'yourself ' : ''}${next}`}
      isHarmless={!isMe}
      saving={changing}
      onConfirm={() => changing.mutate()}
      onClose={onClose}
    >
      {isMe ? 'You are' : named`${name} is`} now {role}: {sentence(ROLE_DESCRIPTIONS[role])} As {next}:{' '}
      {sentence(ROLE_DESCRIPTIONS[next])}
      {isMe && ' You may not be able to change this back yourself.'}
    </Confirm>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}.`;
}

function RemoveMember({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const { org, session, isAdmin } = useOrganization();
  const queryClient = useQueryClient();
  const { userId, name } = member;
  const isMe = userId === session.user.userId;
  const [revokeApiKeyIds, setRevoked] = useState<string[]>([]);
  const { data: keys } = useQuery({ ...createdKeysQuery(org.orgId, userId), enabled: isAdmin });
  const createdKeys = keys?.apiKeys ?? [];
  const keysLeft = (keys?.total ?? 0) - createdKeys.length;
  const removing = useMutation({
    mutationFn: () => invoke(org.orgId, 'remove_member', { userId, revokeApiKeyIds }),
    async onSuccess() {
      showSuccess(isMe ? named`You have left ${org.name}.` : named`${name} is removed.`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: isMe ? sessionQuery.queryKey : topicKey(org.orgId, 'settings') });
    },
  });
  return (
    <Confirm
      title={isMe ? named`Leave ${org.name}?` : named`Remove ${name} from ${org.name}?`}
      button={isMe ? 'Leave' : 'Remove'}
      saving={removing}
      onConfirm={() => removing.mutate()}
      onClose={onClose}
    >
      {isMe ? 'You lose access immediately' : named`${name} loses access immediately`}: sessions, personal API keys and
      connected apps in this organization stop working, and schedules skip the shifts.
      {createdKeys.length > 0 && (
        <Checkbox.Group
          mt="md"
          label={named`Organization keys that ${isMe ? 'you' : name} created`}
          description={
            keysLeft > 0
              ? `They keep working. Select the ones to revoke now; ${keysLeft} older ones are on the page "API keys".`
              : 'They keep working. Select the ones to revoke now.'
          }
          value={revokeApiKeyIds}
          onChange={setRevoked}
        >
          <Stack gap="xs" mt="xs">
            {createdKeys.map(({ apiKeyId, name: keyName, hint }) => (
              <Checkbox key={apiKeyId} value={apiKeyId} label={named`${keyName} (${hint})`} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
    </Confirm>
  );
}

/** Card on whether owners and admins must have a second factor. */
function SecondFactorPolicy() {
  const { org, session } = useOrganization();
  const queryClient = useQueryClient();
  const setting = useMutation({
    mutationFn: (required: boolean) => invoke(org.orgId, 'set_second_factor_policy', { required }),
    async onSuccess({ required }) {
      showSuccess(required ? 'Owners and admins need a second factor now.' : 'A second factor is optional again.');
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  const isBlocked = !session.user.hasSecondFactor && !org.secondFactorRequired;
  return (
    <Card title="Second factor">
      <Switch
        label="Owners and admins must have a second factor"
        description="Those without one must set it up before they can continue."
        checked={org.secondFactorRequired}
        disabled={isBlocked || setting.isPending}
        onChange={(event) => setting.mutate(event.currentTarget.checked)}
      />
      {isBlocked && (
        <Text size="sm" c="dimmed" mt="xs">
          Set up{' '}
          <Link to="/me" hash="second-factor">
            your own second factor
          </Link>{' '}
          first. Otherwise you would lock yourself out.
        </Text>
      )}
      {setting.isError && <ErrorAlert title="Nothing was changed" error={setting.error} />}
    </Card>
  );
}

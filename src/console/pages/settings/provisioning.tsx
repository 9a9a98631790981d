import { Anchor, Box, Button, Group, NativeSelect, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, invoke, type ResultOf } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Page } from '#console/components/page.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { AdminsOnly } from '#console/pages/settings/admins_only.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { PROVISIONED_ROLES, type ProvisionedRole } from '#modules/provisioning/decide/provisioned_role.ts';

type State = ResultOf<'get_provisioning'>;
type ProvisionedGroup = State['groups'][number];

const NONE = '';

/** Page of the identity provider that brings people and groups in. */
export function Provisioning() {
  const { org, isAdmin } = useOrganization();
  const { data, error, refetch } = useQuery({
    ...actionQuery(org.orgId, 'settings', 'get_provisioning', {}),
    enabled: isAdmin,
  });
  return (
    <Page
      title="Provisioning"
      lead={
        <>
          Your identity provider makes, changes and deactivates members by SCIM 2.0.{' '}
          <a href={addressOf('docs/scim')}>What to type in Okta, Entra ID and JumpCloud</a>
        </>
      }
    >
      {!isAdmin && <AdminsOnly what="Provisioning" />}
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {isAdmin && data === undefined && error === null && <Skeleton height={240} radius="lg" />}
      {data !== undefined && (
        <>
          <Token state={data} />
          <DefaultRole key={data.defaultRole} role={data.defaultRole} />
          <Groups groups={data.groups} />
          {data.stillNamed.length > 0 && <StillNamed people={data.stillNamed} />}
        </>
      )}
    </Page>
  );
}

function Token({ state: { baseUrl, token } }: { readonly state: State }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const [asking, setAsking] = useState<'replace' | 'revoke' | null>(null);
  const creating = useMutation({
    mutationFn: () => invoke(org.orgId, 'create_provisioning_token', {}),
    async onSuccess() {
      setAsking(null);
      await refresh('settings');
    },
  });
  const revoking = useMutation({
    mutationFn: () => invoke(org.orgId, 'revoke_provisioning_token', {}),
    async onSuccess() {
      setAsking(null);
      creating.reset();
      showSuccess('The token is revoked.');
      await refresh('settings');
    },
  });
  const mayChange = org.role === 'owner';
  return (
    <Card title="Identity provider" about="Give it this address and the token. The token opens nothing else.">
      <Stack gap="sm">
        <CopyField label="Base URL" value={baseUrl} />
        {creating.data !== undefined && (
          <div>
            <CopyField label="Token, shown this once" value={creating.data.token} isShownOnce />
          </div>
        )}
        {token === null ? (
          <Text size="sm" c="dimmed">
            There is no token, so nothing is provisioned.
          </Text>
        ) : (
          <Text size="sm">
            <code>{token.hint}</code>, made <Timestamp at={token.createdAt} />
            {token.createdBy !== null && (
              <>
                {' '}
                by <Name>{token.createdBy}</Name>
              </>
            )}
            ,{' '}
            {token.lastUsedAt === null ? (
              'never used'
            ) : (
              <>
                last used <Timestamp at={token.lastUsedAt} />
              </>
            )}
            .
          </Text>
        )}
        {mayChange ? (
          <Group>
            <Button
              variant={token === null ? 'filled' : 'default'}
              loading={creating.isPending}
              onClick={() => (token === null ? creating.mutate() : setAsking('replace'))}
            >
              {token === null ? 'Create a token' : 'Replace the token'}
            </Button>
            {token !== null && (
              <Button variant="default" onClick={() => setAsking('revoke')}>
                Revoke the token
              </Button>
            )}
          </Group>
        ) : (
          <p className="dimmed">Only an owner can change this.</p>
        )}
        {creating.isError && asking === null && <ErrorAlert title="No token was created" error={creating.error} />}
      </Stack>
      {asking === 'replace' && (
        <Confirm
          title="Replace the token?"
          button="Replace the token"
          saving={creating}
          onConfirm={() => creating.mutate()}
          onClose={() => setAsking(null)}
        >
          The present token stops at once. Until the identity provider has the new one, its changes are refused and it
          repeats them.
        </Confirm>
      )}
      {asking === 'revoke' && (
        <Confirm
          title="Revoke the token?"
          button="Revoke the token"
          saving={revoking}
          onConfirm={() => revoking.mutate()}
          onClose={() => setAsking(null)}
        >
          The identity provider can change nothing from its next request on. Members, teams and roles stay.
        </Confirm>
      )}
    </Card>
  );
}

function DefaultRole({ role }: { readonly role: ProvisionedRole }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const [chosen, setChosen] = useState(role);
  const setting = useMutation({
    mutationFn: () => invoke(org.orgId, 'set_provisioned_role', { role: chosen }),
    async onSuccess({ role: next }) {
      showSuccess(`New people come in as ${next}.`);
      await refresh('settings');
    },
  });
  return (
    <Card title="Role of new people" about="It counts where no mapped group gives another role.">
      <Group>
        <NativeSelect
          aria-label="Role of new people"
          data={[...PROVISIONED_ROLES]}
          value={chosen}
          maw={240}
          disabled={org.role !== 'owner'}
          onChange={(event) => setChosen(event.currentTarget.value as ProvisionedRole)}
        />
        {chosen !== role && (
          <Button loading={setting.isPending} onClick={() => setting.mutate()}>
            Save the role
          </Button>
        )}
      </Group>
      {setting.isError && <ErrorAlert title="Nothing was changed" error={setting.error} />}
    </Card>
  );
}

function Groups({ groups }: { readonly groups: readonly ProvisionedGroup[] }) {
  return (
    <Card
      title="Groups"
      about="A group changes nothing until you map it. Of several roles the highest counts, owners keep theirs, and schedules stay as they are."
    >
      {groups.length === 0 ? (
        <Text size="sm" c="dimmed">
          The identity provider has sent no group yet.
        </Text>
      ) : (
        <Stack gap="md">
          {groups.map((group) => (
            <GroupMapping
              // What others map meanwhile counts, and not what was chosen here before it.
              key={`${group.groupId} ${group.teamId} ${group.role}`}
              group={group}
            />
          ))}
        </Stack>
      )}
    </Card>
  );
}

interface Mapping {
  readonly teamId: string | null;
  readonly role: ProvisionedRole | null;
}

function GroupMapping({ group }: { readonly group: ProvisionedGroup }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { groupId, displayName, members, teamId, role } = group;
  // Keys of a select pass other roles, which nobody in the group may have for a moment.
  const [chosen, setChosen] = useState<Mapping>({ teamId, role });
  const mapping = useMutation({
    mutationFn: () => invoke(org.orgId, 'map_provisioned_group', { groupId, ...chosen }),
    async onSuccess() {
      showSuccess('The group is mapped.');
      await refresh('settings');
    },
  });
  const isLocked = org.role !== 'owner';
  return (
    <div>
      <Text fw={500}>
        <Name>{displayName}</Name>{' '}
        <Text span size="sm" c="dimmed">
          {members.toLocaleString('en')} {members === 1 ? 'person' : 'people'}
        </Text>
      </Text>
      <Group mt={4} align="end">
        <Box flex={1}>
          <TeamPicker
            label={`Team of ${displayName}`}
            placeholder="No team"
            value={chosen.teamId}
            isDisabled={isLocked}
            onChange={(teamId) => setChosen({ ...chosen, teamId })}
          />
        </Box>
        <NativeSelect
          flex={1}
          label="Role"
          aria-label={`Role of ${displayName}`}
          value={chosen.role ?? NONE}
          disabled={isLocked}
          onChange={({ currentTarget: { value } }) =>
            setChosen({ ...chosen, role: value === NONE ? null : (value as ProvisionedRole) })
          }
        >
          <option value={NONE}>No role</option>
          {PROVISIONED_ROLES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </NativeSelect>
        {(chosen.teamId !== teamId || chosen.role !== role) && (
          <Button loading={mapping.isPending} aria-label={`Map ${displayName}`} onClick={() => mapping.mutate()}>
            Map
          </Button>
        )}
      </Group>
      {mapping.isError && <ErrorAlert title="The group was not mapped" error={mapping.error} />}
    </div>
  );
}

function StillNamed({ people }: { readonly people: State['stillNamed'] }) {
  return (
    <Card
      title="Deactivated, and still in schedules"
      about="They are not paged. Others of the schedule take their shifts; where nobody is left, the team shows a gap."
    >
      <Stack gap={4}>
        {people.map(({ userId, name, scheduleId, scheduleName }) => (
          <Text key={`${userId} ${scheduleId}`} size="sm">
            <Name>{name}</Name> in{' '}
            <Anchor href={addressOf(`oncall/schedules/${scheduleId}`)} underline="always">
              {scheduleName}
            </Anchor>
          </Text>
        ))}
      </Stack>
    </Card>
  );
}

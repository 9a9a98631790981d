import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, type InputOf, invoke, topicKey } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { serviceSearchQuery } from '#console/api/services.ts';
import { teamNamesQuery } from '#console/api/teams.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Page } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name, named } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconMessages, IconPlus } from '#console/icons.ts';
import { type Place, routeText } from '#console/pages/places/place_texts.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { PLACE_KINDS, placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';
import { CHAT_PLACES } from '#modules/places/decide/chat_places.ts';

/** Incidents that a place is told of, one line for each route. */
function PlaceRoutes({ routes }: { readonly routes: Place['routes'] }) {
  const { orgId } = useOrganization().org;
  const serviceIds = [...new Set(routes.flatMap(({ serviceId }) => serviceId ?? []))];
  const teamIds = [...new Set(routes.flatMap(({ teamId }) => teamId ?? []))];
  const services = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { serviceIds, limit: Math.max(1, serviceIds.length) }),
    enabled: serviceIds.length > 0,
  }).data?.pages.flatMap((page) => page.services);
  const teams = useQuery({ ...teamNamesQuery(orgId, { teamIds }), enabled: teamIds.length > 0 }).data?.teams;
  const names = new Map<string, string>([
    ...(services ?? []).map(({ serviceId, name }) => [serviceId, name] as const),
    ...(teams ?? []).map(({ teamId, name }) => [teamId, name] as const),
  ]);
  return routes.map((route, index) => (
    <Text size="sm" key={index}>
      {routeText(route, (id) => isolateBidi(names.get(id) ?? '…'))}
    </Text>
  ));
}

const PlaceForm = lazyDialog(() => import('#console/pages/places/place_form.tsx').then((m) => m.PlaceForm));
const Deliveries = lazyDialog(() => import('#console/pages/places/deliveries.tsx').then((m) => m.Deliveries));

/** Page of the places where incidents are announced, and of the person's chat accounts. */
export function Places() {
  const { org, isAdmin } = useOrganization();
  const { data, error, refetch } = useQuery(actionQuery(org.orgId, 'settings', 'list_places', {}));
  const [edited, setEdited] = useState<Place | 'new' | null>(null);
  const [listed, setListed] = useState<Place | null>(null);
  const add = isAdmin && (
    <Button leftSection={<IconPlus size={18} />} onClick={() => setEdited('new')}>
      Add a place
    </Button>
  );
  const places = data?.places;
  return (
    <Page
      title="Chat and webhooks"
      lead={
        <>
          Places that are told of incidents, beside the people who are paged.{' '}
          <a href={addressOf('docs/places')}>How places work</a>
        </>
      }
      actions={places?.length === 0 ? undefined : add}
      isNarrow
    >
      {error !== null && places === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {places === undefined && error === null && <Skeleton height={240} radius="lg" />}
      {places?.length === 0 && (
        <EmptyState icon={<IconMessages size={24} />} title="No place yet" actions={add}>
          {`Add one of ${PLACE_KINDS.map((kind) => placeDeclarationOf(kind).title).join(', ')}. A place never delays a page.`}
        </EmptyState>
      )}
      {places?.map((place) => (
        <PlaceCard
          key={place.placeId}
          place={place}
          onEdit={() => setEdited(place)}
          onDeliveries={() => setListed(place)}
        />
      ))}
      {places !== undefined && <ChatAccounts />}
      {edited !== null && (
        <PlaceForm
          // As it is now: somebody else may change it meanwhile.
          place={edited === 'new' ? null : (places?.find(({ placeId }) => placeId === edited.placeId) ?? edited)}
          onClose={() => setEdited(null)}
        />
      )}
      {listed !== null && <Deliveries place={listed} onClose={() => setListed(null)} />}
    </Page>
  );
}

function PlaceCard({ place, onEdit, onDeliveries }: { readonly place: Place; onEdit(): void; onDeliveries(): void }) {
  const { org, isAdmin } = useOrganization();
  const queryClient = useQueryClient();
  const [isDeleting, setIsDeleting] = useState(false);
  const { placeId, name, title, isOn, answersAddress, lastSuccessAt, waiting } = place;
  const refresh = () => queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
  const testing = useMutation({
    mutationFn: () => invoke(org.orgId, 'test_place', { placeId }),
    async onSuccess() {
      showSuccess('A test is on its way; the deliveries say what came of it.');
      await refresh();
    },
  });
  const switching = useMutation({
    mutationFn: () => invoke(org.orgId, 'update_place', { placeId, isOn: !isOn }),
    onSuccess: refresh,
  });
  const deleting = useMutation({
    mutationFn: () => invoke(org.orgId, 'delete_place', { placeId }),
    async onSuccess() {
      showSuccess(named`${name} is deleted.`);
      setIsDeleting(false);
      await refresh();
    },
  });
  const failed = testing.error ?? switching.error;
  return (
    <Card title={<Name>{name}</Name>} about={title} action={<PlaceStatus place={place} />}>
      <Stack gap="sm">
        <PlaceRoutes routes={place.routes} />
        <Text size="sm" c="dimmed">
          {lastSuccessAt === null ? (
            'Nothing was sent yet'
          ) : (
            <>
              Last message <Timestamp at={lastSuccessAt} />
            </>
          )}
          {waiting > 0 && ` · ${waiting} waiting`}
        </Text>
        {place.lastFailure !== null && <Text size="sm">{place.lastFailure}</Text>}
        {place.switchedOffAt !== null && (
          <Text size="sm">
            It was switched off after a day of failures, <Timestamp at={place.switchedOffAt} />. Mend it, and switch it
            on.
          </Text>
        )}
        {isAdmin && answersAddress !== null && (
          <CopyField label="Address for buttons and commands" value={answersAddress} />
        )}
        {failed !== null && <ErrorAlert title="Nothing was changed" error={failed} />}
        {isAdmin && (
          <Group gap="xs">
            <Button variant="default" onClick={() => testing.mutate()} loading={testing.isPending} disabled={!isOn}>
              Send a test
            </Button>
            <Button variant="default" onClick={onDeliveries}>
              Deliveries
            </Button>
            <Button variant="default" onClick={onEdit}>
              Change
            </Button>
            <Button variant="default" onClick={() => switching.mutate()} loading={switching.isPending}>
              {isOn ? 'Switch off' : 'Switch on'}
            </Button>
            <Button variant="subtle" color="red" onClick={() => setIsDeleting(true)}>
              Delete
            </Button>
          </Group>
        )}
      </Stack>
      {isDeleting && (
        <Confirm
          title={named`Delete ${name}?`}
          button="Delete"
          saving={deleting}
          onConfirm={() => deleting.mutate()}
          onClose={() => setIsDeleting(false)}
        >
          Its deliveries are deleted, too. Messages that were sent stay where they are. This cannot be undone.
        </Confirm>
      )}
    </Card>
  );
}

function PlaceStatus({ place: { isOn, failingSince } }: { readonly place: Place }) {
  if (!isOn) return <Status tone="gray">Off</Status>;
  if (failingSince === null) return <Status tone="green">On</Status>;
  return (
    <Status tone="amber">
      Failing since <Timestamp at={failingSince} />
    </Status>
  );
}

type Kind = InputOf<'begin_chat_link'>['kind'];

/** Card of the chat accounts whose buttons act for the person. */
function ChatAccounts() {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { data } = useQuery(actionQuery(org.orgId, 'settings', 'list_chat_accounts', {}));
  const beginning = useMutation({ mutationFn: (kind: Kind) => invoke(org.orgId, 'begin_chat_link', { kind }) });
  const [unlinked, setUnlinked] = useState<{ readonly chatAccountId: string; readonly title: string } | null>(null);
  const unlinking = useMutation({
    mutationFn: (chatAccountId: string) => invoke(org.orgId, 'unlink_chat_account', { chatAccountId }),
    async onSuccess() {
      setUnlinked(null);
      await refresh('settings');
    },
  });
  return (
    <Card
      title="Your chat accounts"
      about="Buttons in a chat act for you, with your role, once your account is linked."
    >
      <Stack gap="sm">
        {data?.accounts.map(({ chatAccountId, title, name, linkedAt }) => (
          <Group key={chatAccountId} justify="space-between">
            <Text size="sm">
              {title}: <Name>{name}</Name>, linked <Timestamp at={linkedAt} />
            </Text>
            <Button
              size="xs"
              variant="subtle"
              color="red"
              aria-label={`Unlink ${title}`}
              onClick={() => {
                unlinking.reset();
                setUnlinked({ chatAccountId, title });
              }}
            >
              Unlink
            </Button>
          </Group>
        ))}
        <Group gap="xs">
          {CHAT_PLACES.map((kind) => (
            <Button key={kind} variant="default" onClick={() => beginning.mutate(kind)}>
              Link {placeDeclarationOf(kind).title}
            </Button>
          ))}
        </Group>
        {beginning.data !== undefined && (
          <CopyField label="Type this in the chat within ten minutes" value={beginning.data.command} />
        )}
        {beginning.error !== null && <ErrorAlert title="Nothing was changed" error={beginning.error} />}
      </Stack>
      {unlinked !== null && (
        <Confirm
          title={`Unlink ${unlinked.title}?`}
          button="Unlink"
          saving={unlinking}
          onClose={() => setUnlinked(null)}
          onConfirm={() => unlinking.mutate(unlinked.chatAccountId)}
        >
          Buttons in that chat no longer act for you until you link your account again.
        </Confirm>
      )}
    </Card>
  );
}

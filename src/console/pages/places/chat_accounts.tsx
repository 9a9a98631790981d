import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { invoke, type InputOf } from '#console/api/actions.ts';
import { actionQuery, topicKey } from '#console/api/queries.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { CHAT_PLACES, placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';

type Kind = InputOf<'begin_chat_link'>['kind'];

/** Card of the chat accounts whose buttons act for the person. */
export function ChatAccounts() {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const { data } = useQuery(actionQuery(org.orgId, 'settings', 'list_chat_accounts', {}));
  const beginning = useMutation({ mutationFn: (kind: Kind) => invoke(org.orgId, 'begin_chat_link', { kind }) });
  const unlinking = useMutation({
    mutationFn: (chatAccountId: string) => invoke(org.orgId, 'unlink_chat_account', { chatAccountId }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') }),
  });
  const error = beginning.error ?? unlinking.error;
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
              onClick={() => unlinking.mutate(chatAccountId)}
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
        {error !== null && <ErrorAlert title="Nothing was changed" error={error} />}
      </Stack>
    </Card>
  );
}

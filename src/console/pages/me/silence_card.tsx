import { Button, List } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';

import { addressOf } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';

/** Card on how pages are heard although phones are silent at night. */
export function SilenceCard() {
  const { orgId } = useOrganization().org;
  return (
    <Card
      title="While your phone is silent"
      about="Do Not Disturb keeps pages from waking you, unless your phone knows who sends them."
    >
      <List size="sm" mb="md">
        <List.Item>Add the contact card to the address book of your phone.</List.Item>
        <List.Item>
          iPhone: edit the contact, and turn on Emergency Bypass for its ringtone and its text tone.
        </List.Item>
        <List.Item>Android: make it a starred contact, and let starred contacts interrupt Do Not Disturb.</List.Item>
      </List>
      <Button
        component="a"
        variant="default"
        leftSection={<IconDownload size={16} />}
        href={addressOf(`${API_PATHS.console}/organizations/${orgId}/actions/get_contact_card`)}
        download
      >
        Download the contact card
      </Button>
    </Card>
  );
}

import { Button } from '@mantine/core';
import { IconAddressBook } from '@tabler/icons-react';

import { addressOf } from '#console/api/http.ts';
import { Card, Row } from '#console/components/card.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';

/** Phones are silent at night. This is how pages are heard all the same. */
export function SilenceCard() {
  const { orgId } = useOrganization().org;
  return (
    <Card
      title="While your phone is silent"
      about="Do Not Disturb keeps pages from waking you, unless your phone knows who sends them."
      rows={
        <Row
          icon={<IconAddressBook size={20} stroke={1.75} aria-hidden />}
          title="Contact card"
          sub="Add it to the address book of your phone. Then let this contact through: on an iPhone, switch on Emergency Bypass for its calls and texts; on Android, make it a starred contact and let starred contacts interrupt."
        >
          <Button
            component="a"
            variant="default"
            href={addressOf(`${API_PATHS.console}/organizations/${orgId}/actions/get_contact_card`)}
            download
          >
            Download
          </Button>
        </Row>
      }
    />
  );
}

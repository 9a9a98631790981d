import { Button } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

import { Blank } from '#console/parts/blank.tsx';
import { Page } from '#console/parts/page.tsx';

/** Where nothing surrounds it. */
export function NowhereAlone() {
  return (
    <main>
      <Nowhere />
    </main>
  );
}

export function Nowhere() {
  return (
    <Page title="Nothing is here">
      <Blank
        icon={<IconMapOff size={24} />}
        title="This address leads nowhere"
        actions={
          <Button component={Link} to="/">
            Home
          </Button>
        }
      >
        It may be misspelt, or what it named was deleted.
      </Blank>
    </Page>
  );
}

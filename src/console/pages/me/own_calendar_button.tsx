import { Button } from '@mantine/core';
import { useState } from 'react';

import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { IconCalendar } from '#console/icons.ts';

const OwnCalendar = lazyDialog(() => import('#console/pages/me/own_calendar.tsx').then((m) => m.OwnCalendar));

/** Button that shows the secret address under which a calendar program reads all shifts of the person. */
export function OwnCalendarButton() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button variant="default" leftSection={<IconCalendar size={16} />} onClick={() => setIsOpen(true)}>
        Your calendar
      </Button>
      {isOpen && <OwnCalendar onClose={() => setIsOpen(false)} />}
    </>
  );
}

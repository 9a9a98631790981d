import { Button } from '@mantine/core';
import { useState } from 'react';

import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconTool } from '#console/icons.ts';
import classes from '#console/pages/rules/active_maintenance.module.css';

const Maintenance = lazyDialog(() => import('#console/pages/rules/maintenance.tsx').then((m) => m.Maintenance));

interface ActiveMaintenanceProps {
  readonly windows: readonly {
    readonly maintenanceId: string;
    readonly name: string;
    readonly endsAt: string | null;
    readonly next?: { readonly endsAt: string } | null;
    readonly text: string;
  }[];
}

/** Notices of active maintenance, with the effect of each here; nothing if none is active. */
export function ActiveMaintenance({ windows }: ActiveMaintenanceProps) {
  const [isOpen, setIsOpen] = useState(false);
  if (windows.length === 0) return null;
  return (
    <section className={classes.notice} aria-label="In maintenance">
      <IconTool size={18} stroke={1.75} aria-hidden />
      <div className={classes.text}>
        {windows.map(({ maintenanceId, name, endsAt, next, text }) => (
          <p key={maintenanceId}>
            <b>In maintenance</b> until <Timestamp at={next?.endsAt ?? endsAt ?? ''} format="date_time" /> (
            <Name>{name}</Name>): {text}
          </p>
        ))}
      </div>
      <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
        Maintenance
      </Button>
      {isOpen && <Maintenance onClose={() => setIsOpen(false)} />}
    </section>
  );
}

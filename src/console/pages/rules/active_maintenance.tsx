import { Button } from '@mantine/core';
import { IconTool } from '@tabler/icons-react';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';

import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/rules/active_maintenance.module.css';
import { maintenanceQuery } from '#console/api/rules.ts';
import type { MaintenanceWindow } from '#console/pages/rules/maintenance_values.ts';
import { useOrganization } from '#console/shell/organization.tsx';

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

type Of = { readonly serviceId: string } | { readonly ruleId: string };

/** Notice on the page of a service or a rule that a maintenance is active; nothing if none is. */
export function MaintenanceNotice({ of }: { readonly of: Of }) {
  const { orgId } = useOrganization().org;
  const { data } = useQuery({ ...maintenanceQuery(orgId, of), refetchInterval: 60_000 });
  const active = data?.windows.filter(({ isActive }) => isActive) ?? [];
  return <ActiveMaintenance windows={active.map((window) => ({ ...window, text: textOf(window, of) }))} />;
}

function textOf({ serviceId, ruleId, label, targetName }: MaintenanceWindow, of: Of): string {
  if (serviceId !== null || 'ruleId' in of) return 'what opens meanwhile pages nobody before then.';
  const what =
    ruleId === null ? `rules with ${label?.name ?? ''}="${label?.value ?? ''}"` : `the rule ${targetName ?? ''}`;
  return `what ${what} opens meanwhile pages nobody before then.`;
}

import { useQuery } from '@tanstack/react-query';

import { maintenanceQuery } from '#console/api/rules.ts';
import { ActiveMaintenance } from '#console/pages/rules/active_maintenance.tsx';
import type { MaintenanceWindow } from '#console/pages/rules/maintenance_values.ts';
import { useOrganization } from '#console/shell/organization.tsx';

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

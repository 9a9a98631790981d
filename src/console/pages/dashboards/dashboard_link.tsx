import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import type { DashboardPageSearch } from '#console/pages/dashboards/dashboard_search.ts';
import type { VariableValues } from '#modules/dashboards/decide/widget.ts';
import { VARIABLES_MAX } from '#modules/metrics/decide/limits.ts';

const route = getRouteApi('/inside/dashboards/$dashboardId');

interface DashboardLinkProps {
  readonly dashboardId: string;
  /** Service of the dashboard that the link stands on. */
  readonly serviceId: string | null;
  /** Values of variables beside those of that dashboard. */
  readonly values?: VariableValues;
  readonly children: ReactNode;
}

/** Link to another dashboard, which shows the same period, service and values of variables. */
export function DashboardLink({ dashboardId, serviceId, values, children }: DashboardLinkProps) {
  const search = route.useSearch();
  return (
    <Link
      to="/dashboards/$dashboardId"
      params={{ dashboardId }}
      search={carriedSearch(search, serviceId, values)}
      title="Opens another dashboard, with the same period, service and variables"
    >
      {children}
    </Link>
  );
}

/** Returns what a link to another dashboard carries: the period, the service and the values of variables. */
function carriedSearch(
  search: DashboardPageSearch,
  serviceId: string | null,
  values: VariableValues = {},
): DashboardPageSearch {
  const vars = Object.fromEntries(Object.entries({ ...search.vars, ...values }).slice(-VARIABLES_MAX));
  return {
    ...search,
    ...(serviceId !== null && { service: serviceId }),
    ...(Object.keys(vars).length > 0 && { vars }),
  };
}

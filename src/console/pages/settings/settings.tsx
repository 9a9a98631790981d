import { Outlet } from '@tanstack/react-router';

import { PageTabs } from '#console/components/page.tsx';
import { useNavigation } from '#console/shell/navigation.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Page of the settings of the organization. */
export function Settings() {
  const { isAdmin } = useOrganization();
  const { settings } = useNavigation();
  return (
    <>
      <PageTabs label="Settings" tabs={settings.filter(({ isForAdmins }) => isAdmin || !isForAdmins)} />
      <Outlet />
    </>
  );
}

/** Service whose keys are shown, in an address; without it, the first service. */
interface IntegrationSearch {
  readonly service?: string;
}

export function readIntegrationSearch({ service }: Record<string, unknown>): IntegrationSearch {
  return typeof service === 'string' && service !== '' ? { service } : {};
}

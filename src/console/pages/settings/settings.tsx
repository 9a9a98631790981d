import { Outlet } from '@tanstack/react-router';

import { PageTabs } from '#console/components/page_tabs.tsx';
import { useNavigation } from '#console/shell/navigation.ts';
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

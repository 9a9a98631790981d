import { lazy, Suspense, useState } from 'react';

import { OrganizationButton, OrganizationName } from '#console/shell/organization_button.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/shell/organization_menu.module.css';

const loadPanel = () => import('#console/shell/organization_menu_panel.tsx');
const OrganizationMenuPanel = lazy(() => loadPanel().then((m) => ({ default: m.OrganizationMenuPanel })));

/** Shows the organization, with a menu to switch where there are several. */
export function OrganizationMenu() {
  const { session } = useOrganization();
  const [isWanted, setIsWanted] = useState(false);
  if (session.organizations.length === 1) {
    return (
      <div className={classes.org}>
        <OrganizationName />
      </div>
    );
  }
  const button = (
    <OrganizationButton
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={() => void loadPanel()}
      onFocus={() => void loadPanel()}
      onClick={() => setIsWanted(true)}
    />
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <OrganizationMenuPanel />
    </Suspense>
  );
}

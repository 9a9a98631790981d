import { Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';

import { Name } from '#console/components/text/name.tsx';
import { IconCheck } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { OrganizationButton, useOpenedMenu } from '#console/shell/organization_button.tsx';

/** Menu with its button, loaded once the button is pressed. */
export function OrganizationMenuPanel() {
  const { org, session, switchTo } = useOrganization();
  const navigate = useNavigate();
  const { isOpen, setIsOpen, button } = useOpenedMenu();
  return (
    <Menu opened={isOpen} onChange={setIsOpen} position="bottom-start" width={240}>
      <Menu.Target>
        <OrganizationButton ref={button} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Organizations</Menu.Label>
        {session.organizations.map(({ orgId, name }) => (
          <Menu.Item
            key={orgId}
            rightSection={orgId === org.orgId ? <IconCheck size={16} aria-label="current" /> : null}
            onClick={() => {
              switchTo(orgId);
              void navigate({ to: '/' });
            }}
          >
            <Name>{name}</Name>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

import { useNavigation } from '#console/shell/navigation.ts';
import { NavigationLink } from '#console/shell/navigation_link.tsx';
import classes from '#console/shell/shell.module.css';

const GROUPS = ['respond', 'watch', 'own'] as const;

/** Links to all main pages, at the side of a desktop. */
export function SideNavigation() {
  const { main } = useNavigation();
  return (
    <nav aria-label="Main navigation">
      {GROUPS.map((group) => (
        <div key={group} className={classes.group}>
          {main
            .filter((entry) => entry.group === group)
            .map((entry) => (
              <NavigationLink key={entry.to} entry={entry} />
            ))}
        </div>
      ))}
    </nav>
  );
}
